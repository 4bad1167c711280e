package org.rdma4j.mlx5.device.internal;

import static org.rdma4j.mlx5.device.internal.Limits.FREQUENCY_KHZ;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_BLUE_FLAME;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_CQ;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_CQ_SIZE;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_EQ;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_EQ_SIZE;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_MESSAGE;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_MKEY;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_PD;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_QP;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_QP_SIZE;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_READS;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_SRQ;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_SRQ_SIZE;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_TRANSPORT_DOMAIN;
import static org.rdma4j.mlx5.device.internal.Limits.LOG_MAX_XRCD;
import static org.rdma4j.mlx5.device.internal.Limits.MAX_WQE_BYTES;
import static org.rdma4j.mlx5.device.internal.Limits.ROCE_ADDRESSES;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layout;
import org.rdma4j.mlx5.ifc.Layouts;

/**
 * The pages of capabilities, each with its maximum and its present values. What is not modelled is not there. The
 * driver may lower what it wants before INIT_HCA, never raise it. Engine thread.
 */
final class Capabilities {
  static final int GENERAL = 0;
  static final int ATOMIC = 3;
  static final int ROCE = 4;
  static final int GENERAL_2 = 0x20;
  static final int PAGE = 4096;

  private static final Field CHECKSUM = Layouts.HCA_CAP.field("cmdif_checksum");
  private static final Field REPLY_MODE = Layouts.ATOMIC_CAP.field("atomic_req_8B_endianness_mode");
  private static final int HOST_ENDIAN = 1;
  private static final int LOG_MAX_LIST = 16;
  private static final int ROCE_PORT = 4791;
  private static final int FIRST_SOURCE_PORT = 0xc000;
  private static final int LAST_SOURCE_PORT = 0xffff;
  private static final int ETHERNET = 1;
  private static final int IPV4_AND_IPV6 = 0x6;
  private static final int VERSION_2 = 0x4;
  private static final int COMPARE_SWAP_AND_FETCH_ADD = 0x3;

  private record Page(Layout layout, MemorySegment maximum, MemorySegment current) {}

  private final Map<Integer, Page> pages = new TreeMap<>();

  Capabilities() {
    reset();
  }

  /** As after power-on. */
  void reset() {
    page(GENERAL, Layouts.HCA_CAP, Capabilities::general);
    page(GENERAL_2, Layouts.HCA_CAP_2, (layout, page) -> {});
    page(ATOMIC, Layouts.ATOMIC_CAP, Capabilities::atomic);
    page(ROCE, Layouts.ROCE_CAP, Capabilities::roce);
    CHECKSUM.set(pages.get(GENERAL).current(), 0, 0); // Off until the driver wants it.
    REPLY_MODE.set(pages.get(ATOMIC).current(), 0, 0);
  }

  private interface Writer {
    void write(Layout layout, MemorySegment page);
  }

  private void page(int type, Layout layout, Writer writer) {
    MemorySegment maximum = Arena.ofAuto().allocate(PAGE, Long.BYTES);
    writer.write(layout, maximum);
    MemorySegment current = Arena.ofAuto().allocate(PAGE, Long.BYTES).copyFrom(maximum);
    pages.put(type, new Page(layout, maximum, current));
  }

  private static void general(Layout layout, MemorySegment page) {
    set(layout, page, "log_max_srq_sz", LOG_MAX_SRQ_SIZE);
    set(layout, page, "log_max_qp_sz", LOG_MAX_QP_SIZE);
    set(layout, page, "log_max_qp", LOG_MAX_QP);
    set(layout, page, "log_max_srq", LOG_MAX_SRQ);
    set(layout, page, "log_max_cq_sz", LOG_MAX_CQ_SIZE);
    set(layout, page, "log_max_cq", LOG_MAX_CQ);
    set(layout, page, "log_max_eq_sz", LOG_MAX_EQ_SIZE);
    set(layout, page, "log_max_mkey", LOG_MAX_MKEY);
    set(layout, page, "log_max_eq", LOG_MAX_EQ);
    set(layout, page, "fast_teardown", 1);
    set(layout, page, "force_teardown", 1);
    set(layout, page, "log_max_klm_list_size", LOG_MAX_LIST);
    set(layout, page, "umr_extended_translation_offset", 1);
    set(layout, page, "hca_cap_2", 1);
    set(layout, page, "dtor", 1);
    set(layout, page, "log_max_ra_req_qp", LOG_MAX_READS);
    set(layout, page, "log_max_ra_res_qp", LOG_MAX_READS);
    set(layout, page, "max_qp_cnt", Limits.COUNTER_SETS - 1);
    set(layout, page, "enhanced_error_q_counters", 1);
    set(layout, page, "pkey_table_size", 0);
    set(layout, page, "local_ca_ack_delay", 16);
    set(layout, page, "port_type", ETHERNET);
    set(layout, page, "num_ports", 1);
    set(layout, page, "log_max_msg", LOG_MAX_MESSAGE);
    set(layout, page, "roce", 1);
    set(layout, page, "atomic", 1);
    set(layout, page, "cmdif_checksum", 3);
    set(layout, page, "cq_resize", 1);
    set(layout, page, "cq_oi", 1);
    set(layout, page, "imaicl", 1);
    set(layout, page, "qkv", 1);
    set(layout, page, "xrc", 1);
    set(layout, page, "ud", 1);
    set(layout, page, "uc", 1);
    set(layout, page, "rc", 1);
    set(layout, page, "uar_4k", 1);
    set(layout, page, "uar_sz", Limits.LOG_UAR_BYTES - 20);
    set(layout, page, "log_pg_sz", 12);
    set(layout, page, "bf", 1);
    set(layout, page, "driver_version", 1);
    set(layout, page, "log_bf_reg_size", LOG_BLUE_FLAME);
    set(layout, page, "max_wqe_sz_sq", MAX_WQE_BYTES);
    set(layout, page, "max_wqe_sz_rq", MAX_WQE_BYTES / 2);
    set(layout, page, "max_qp_mcg", Limits.MAX_GROUP_MEMBERS);
    set(layout, page, "log_max_mcg", Limits.LOG_MAX_GROUPS);
    set(layout, page, "log_max_transport_domain", LOG_MAX_TRANSPORT_DOMAIN);
    set(layout, page, "log_max_pd", LOG_MAX_PD);
    set(layout, page, "log_max_xrcd", LOG_MAX_XRCD);
    set(layout, page, "device_frequency_khz", FREQUENCY_KHZ);
  }

  private static void atomic(Layout layout, MemorySegment page) {
    set(layout, page, "supported_atomic_req_8B_endianness_mode_1", 1);
    set(layout, page, "atomic_req_8B_endianness_mode", HOST_ENDIAN);
    set(layout, page, "atomic_operations", COMPARE_SWAP_AND_FETCH_ADD);
    set(layout, page, "atomic_size_qp", Long.BYTES);
  }

  private static void roce(Layout layout, MemorySegment page) {
    set(layout, page, "l3_type", IPV4_AND_IPV6);
    set(layout, page, "roce_version", VERSION_2);
    set(layout, page, "r_roce_dest_udp_port", ROCE_PORT);
    set(layout, page, "r_roce_min_src_udp_port", FIRST_SOURCE_PORT);
    set(layout, page, "r_roce_max_src_udp_port", LAST_SOURCE_PORT);
    set(layout, page, "roce_address_table_size", ROCE_ADDRESSES);
  }

  private static void set(Layout layout, MemorySegment page, String field, int value) {
    layout.field(field).set(page, 0, value);
  }

  /** Whether command signatures are checked: the driver has left that on. */
  boolean signs() {
    return CHECKSUM.get(pages.get(GENERAL).current(), 0) != 0;
  }

  /** Whether replies of atomics are left in the requester's memory as they lie on the wire. */
  boolean repliesBigEndian() {
    return REPLY_MODE.get(pages.get(ATOMIC).current(), 0) != HOST_ENDIAN;
  }

  MemorySegment page(int type, boolean current) throws CommandFailure {
    Page page = pages.get(type);
    if (page == null) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.UNKNOWN_CAP);
    }
    return current ? page.current() : page.maximum();
  }

  /** Takes a page over as the driver wants it; of the atomic and the RoCE page only what is a setting. */
  void set(int type, MemorySegment wanted, long at) throws CommandFailure {
    MemorySegment maximum = page(type, false);
    if (type == ROCE) {
      return; // It has no settings.
    }
    Page page = pages.get(type);
    if (type == ATOMIC) {
      check(REPLY_MODE, wanted, at, maximum);
      REPLY_MODE.set(page.current(), 0, REPLY_MODE.get(wanted, at));
      return;
    }
    for (Field field : page.layout().fields()) {
      if (field.bits() > 0 && !isWritable(field)) {
        check(field, wanted, at, maximum);
      }
    }
    MemorySegment.copy(wanted, at, page.current(), 0, PAGE);
  }

  private static void check(Field field, MemorySegment wanted, long at, MemorySegment maximum) throws CommandFailure {
    if (Integer.compareUnsigned(field.get(wanted, at), field.get(maximum, 0)) > 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.CAP_BEYOND_MAX);
    }
  }

  /** Fields that are settings of the driver and no limits. */
  private static boolean isWritable(Field field) {
    return switch (field.name()) {
      case "log_uar_page_sz", "pkey_table_size" -> true;
      default -> false;
    };
  }
}
