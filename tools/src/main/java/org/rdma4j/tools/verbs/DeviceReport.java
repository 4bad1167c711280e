package org.rdma4j.tools.verbs;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.DeviceCapability;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.GidType;
import org.rdma4j.ib.core.verbs.LinkLayer;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PortPhysState;
import org.rdma4j.ib.core.verbs.RdmaDevice;

/** A device as {@code ibv_devinfo} shows it; what this project has no attribute for is shown as not supported. */
final class DeviceReport {
  /** What software providers of rdma-core show, which have no firmware. */
  private static final String NO_FIRMWARE = "0.0.0";

  /** Capabilities that the extended flags show. */
  private static final Set<DeviceCapability> EXTENDED =
      EnumSet.of(
          DeviceCapability.RAW_SCATTER_FCS,
          DeviceCapability.PCI_WRITE_END_PADDING,
          DeviceCapability.FLUSH_GLOBAL,
          DeviceCapability.FLUSH_PERSISTENT,
          DeviceCapability.ATOMIC_WRITE);

  private static final String[] TRANSPORTS = {"InfiniBand", "iWARP", "usNIC", "usNIC UDP"};
  private static final String[] VIRTUAL_LANES = {"invalid value", "1", "2", "4", "8", "15"};

  private final PrintStream out;
  private final boolean verbose;

  DeviceReport(PrintStream out, boolean verbose) {
    this.out = out;
    this.verbose = verbose;
  }

  /** Prints a device and one of its ports, or all of them where {@code onlyPort} is 0. */
  void print(RdmaDevice device, int onlyPort) {
    DeviceAttributes attributes = device.attributes();
    out.printf("hca_id:\t%s%n", device.name());
    identity(attributes);
    if (verbose) {
      abilities(attributes);
      limits(attributes);
      extensions(attributes);
    }
    for (int port = 1; port <= attributes.portCount(); port++) {
      if (onlyPort == 0 || onlyPort == port) {
        port(device, port);
      }
    }
  }

  private void identity(DeviceAttributes attributes) {
    String firmware = attributes.firmwareVersion();
    int transport = Math.max(0, Arrays.asList(TRANSPORTS).indexOf(attributes.transport()));
    field("transport:\t\t\t%s (%d)", attributes.transport(), transport);
    field("fw_ver:\t\t\t\t%s", firmware.isEmpty() ? NO_FIRMWARE : firmware);
    field("node_guid:\t\t\t%s", attributes.nodeGuid());
    field("sys_image_guid:\t\t\t%s", attributes.systemImageGuid());
    field("vendor_id:\t\t\t0x%04x", attributes.vendorId());
    field("vendor_part_id:\t\t\t%d", attributes.vendorPartId());
    field("hw_ver:\t\t\t\t0x%X", attributes.hardwareVersion());
    field("phys_port_cnt:\t\t\t%d", attributes.portCount());
  }

  private void abilities(DeviceAttributes attributes) {
    field("max_mr_size:\t\t\t0x%x", attributes.maxMrSize());
    field("page_size_cap:\t\t\t0x%x", attributes.pageSizeCapabilities());
    limit(attributes, DeviceLimit.MAX_QP);
    limit(attributes, DeviceLimit.MAX_QP_WR);
    field("device_cap_flags:\t\t0x%08x", (int) DeviceCapability.bits(attributes.capabilities()));
    for (DeviceCapability each : DeviceCapability.values()) {
      if (attributes.has(each) && !EXTENDED.contains(each)) {
        item(each.name());
      }
    }
    long sge = Math.min(attributes.limit(DeviceLimit.MAX_SEND_SGE), attributes.limit(DeviceLimit.MAX_RECV_SGE));
    field("max_sge:\t\t\t%d", sge);
  }

  private void limits(DeviceAttributes attributes) {
    limit(attributes, DeviceLimit.MAX_SGE_RD);
    limit(attributes, DeviceLimit.MAX_CQ);
    limit(attributes, DeviceLimit.MAX_CQE);
    limit(attributes, DeviceLimit.MAX_MR);
    limit(attributes, DeviceLimit.MAX_PD);
    limit(attributes, DeviceLimit.MAX_QP_RD_ATOM);
    limit(attributes, DeviceLimit.MAX_EE_RD_ATOM);
    limit(attributes, DeviceLimit.MAX_RES_RD_ATOM);
    limit(attributes, DeviceLimit.MAX_QP_INIT_RD_ATOM);
    limit(attributes, DeviceLimit.MAX_EE_INIT_RD_ATOM);
    field("atomic_cap:\t\t\t%s (%d)", attributes.atomicCapability().text(), attributes.atomicCapability().number());
    limit(attributes, DeviceLimit.MAX_EE);
    limit(attributes, DeviceLimit.MAX_RDD);
    limit(attributes, DeviceLimit.MAX_MW);
    limit(attributes, DeviceLimit.MAX_RAW_IPV6_QP);
    limit(attributes, DeviceLimit.MAX_RAW_ETHY_QP);
    limit(attributes, DeviceLimit.MAX_MCAST_GRP);
    limit(attributes, DeviceLimit.MAX_MCAST_QP_ATTACH);
    limit(attributes, DeviceLimit.MAX_TOTAL_MCAST_QP_ATTACH);
    limit(attributes, DeviceLimit.MAX_AH);
    field("max_fmr:\t\t\t0");
    limit(attributes, DeviceLimit.MAX_SRQ);
    if (attributes.limit(DeviceLimit.MAX_SRQ) != 0) {
      limit(attributes, DeviceLimit.MAX_SRQ_WR);
      limit(attributes, DeviceLimit.MAX_SRQ_SGE);
    }
    limit(attributes, DeviceLimit.MAX_PKEYS);
    field("local_ca_ack_delay:\t\t%d", attributes.localCaAckDelay());
  }

  private void extensions(DeviceAttributes attributes) {
    field("general_odp_caps:");
    for (String transport : new String[] {"rc", "uc", "ud", "xrc"}) {
      field(transport + "_odp_caps:");
      item("NO SUPPORT");
    }
    field("completion_timestamp_mask not supported");
    field("core clock not supported");
    field("device_cap_flags_ex:\t\t0x%X", DeviceCapability.bits(attributes.capabilities()));
    EXTENDED.stream().filter(attributes::has).forEach(each -> item(each.name()));
    field("tso_caps:");
    field("\tmax_tso:\t\t\t0");
    field("rss_caps:");
    field("\tmax_rwq_indirection_tables:\t\t\t0");
    field("\tmax_rwq_indirection_table_size:\t\t\t0");
    field("\trx_hash_function:\t\t\t\t0x0");
    field("\trx_hash_fields_mask:\t\t\t\t0x0");
    field("max_wq_type_rq:\t\t\t0");
    field("packet_pacing_caps:");
    field("\tqp_rate_limit_min:\t0kbps");
    field("\tqp_rate_limit_max:\t0kbps");
    field("tag matching not supported");
    field("num_comp_vectors:\t\t%d", attributes.completionVectors());
  }

  private void port(RdmaDevice device, int number) {
    PortAttributes port = device.port(number);
    field("\tport:\t%d", number);
    portField("state:\t\t\t%s (%d)", port.state().text(), port.state().number());
    portField("max_mtu:\t\t%d (%d)", port.maxMtu().bytes(), port.maxMtu().code());
    portField("active_mtu:\t\t%d (%d)", port.activeMtu().bytes(), port.activeMtu().code());
    portField("sm_lid:\t\t\t%d", port.smLid());
    portField("port_lid:\t\t%d", port.lid());
    portField("port_lmc:\t\t0x%02x", port.lmc());
    portField("link_layer:\t\t%s", linkLayer(port.linkLayer()));
    if (verbose) {
      portDetails(device.attributes(), port);
      device.gidTable(number).entries().forEach(entry -> gid(entry, port.linkLayer()));
    }
    out.println();
  }

  private void portDetails(DeviceAttributes attributes, PortAttributes port) {
    int lanes = port.maxVlNumber();
    portField("max_msg_sz:\t\t0x%x", port.maxMessageSize());
    portField("port_cap_flags:\t\t0x%08x", port.capabilityFlags());
    portField("port_cap_flags2:\t0x%04x", port.capabilityFlags2());
    portField("max_vl_num:\t\t%s (%d)", VIRTUAL_LANES[lanes < VIRTUAL_LANES.length ? lanes : 0], lanes);
    portField("bad_pkey_cntr:\t\t0x%x", port.badPkeyCounter());
    portField("qkey_viol_cntr:\t\t0x%x", port.qkeyViolationCounter());
    portField("sm_sl:\t\t\t%d", port.smSl());
    portField("pkey_tbl_len:\t\t%d", port.pkeyTableLength());
    portField("gid_tbl_len:\t\t%d", port.gidTableLength());
    portField("subnet_timeout:\t\t%d", port.subnetTimeout());
    portField("init_type_reply:\t%d", port.initTypeReply());
    portField("active_width:\t\t%dX (%d)", port.activeWidth().lanes(), port.activeWidth().number());
    portField("active_speed:\t\t%s Gbps (%d)", port.activeSpeed().gigabits(), port.activeSpeed().number());
    if (attributes.transport().equals(TRANSPORTS[0])) {
      portField("phys_state:\t\t%s (%d)", physicalState(port.physicalState()), port.physicalState().number());
    }
  }

  private void gid(GidEntry entry, LinkLayer layer) {
    if (entry.gid().lo() == 0) {
      return;
    }
    String type = "";
    if (layer == LinkLayer.ETHERNET) {
      type = entry.type() == GidType.ROCE_V2 ? ", RoCE v2" : ", RoCE v1";
    }
    String gid = entry.type() == GidType.ROCE_V2 ? entry.gid().toString() : entry.gid().toFullString();
    portField("GID[%3d]:\t\t%s%s", entry.index(), gid, type);
  }

  private static String linkLayer(LinkLayer layer) {
    return layer == LinkLayer.ETHERNET ? layer.text() : LinkLayer.INFINIBAND.text();
  }

  /** The texts of the real program, which are neither the kernel's nor spelt right. */
  private static String physicalState(PortPhysState state) {
    return switch (state) {
      case SLEEP, POLLING, DISABLED, LINK_UP, LINK_ERROR_RECOVERY -> state.name();
      case PORT_CONFIGURATION_TRAINING -> "PORT_CONFIGURATION TRAINNING";
      case PHY_TEST -> "PHY TEST";
      case NOP -> "invalid physical state";
    };
  }

  /** A limit under its name, the value in the column of all values. */
  private void limit(DeviceAttributes attributes, DeviceLimit limit) {
    String label = limit.attributeName() + ":";
    field("%s%s%d", label, "\t".repeat(Math.max(1, 4 - label.length() / 8)), attributes.limit(limit));
  }

  private void field(String format, Object... values) {
    out.printf("\t" + format + "%n", values);
  }

  private void item(String name) {
    out.printf("\t\t\t\t\t%s%n", name);
  }

  private void portField(String format, Object... values) {
    out.printf("\t\t\t" + format + "%n", values);
  }
}
