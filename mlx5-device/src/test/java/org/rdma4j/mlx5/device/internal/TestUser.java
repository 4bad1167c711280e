package org.rdma4j.mlx5.device.internal;

import static org.rdma4j.mlx5.device.internal.TestDriver.input;
import static org.rdma4j.mlx5.device.internal.TestDriver.listed;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layout;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.roce.address.Gid;

/** Objects of a card, made by commands as a driver makes them, and used through host memory and doorbell pages. */
final class TestUser {
  static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final VarHandle RECORD = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN).varHandle();
  static final int BLOCK = 64;
  static final int STRIDE = 64;
  static final int RC = 0;
  static final int UC = 1;
  static final int UD = 2;
  static final int XRC = 3;
  static final int REG_UMR = 0xc;
  private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final int PAGE = 4096;

  final TestDriver driver;
  final int uar;
  final int eqn;
  final int pd;
  final DmaMapping eqBuffer;

  /** A card that is up, with one event queue for everything, which is never armed. */
  TestUser(TestDriver driver) {
    this(driver, true);
  }

  private TestUser(TestDriver driver, boolean bringUp) {
    this.driver = driver;
    if (bringUp) {
      driver.bringUp();
    }
    MemorySegment roce = input(Opcode.MODIFY_NIC_VPORT_CONTEXT, 0, 0);
    roce.set(DWORD, 12, 1 << 1);
    set(Layouts.NIC_VPORT_CONTEXT, roce, 0x100, "roce_en", 1);
    driver.succeed(roce, 0);
    uar = driver.allocateUar();
    eqBuffer = allocate(PAGE);
    for (int i = 0; i < PAGE / 64; i++) {
      Layouts.EQE.field("owner").set(eqBuffer.segment(), i * 64L, 1);
    }
    MemorySegment create = input(Opcode.CREATE_EQ, 0, 8);
    long at = Command.in(Opcode.CREATE_EQ, "eq_context_entry").offset();
    set(Layouts.EQC, create, at, "log_eq_size", 6);
    set(Layouts.EQC, create, at, "uar_page", uar);
    set(Layouts.EQC, create, at, "oi", 1);
    create.set(QWORD, Command.in(Opcode.CREATE_EQ, "event_bitmask").offset(), ~0L & ~(1L << 0x0a | 1L << 0x0b));
    listed(create, Command.in(Opcode.CREATE_EQ, "pas"), 0, eqBuffer.address());
    eqn = out(Opcode.CREATE_EQ, "eq_number", driver.succeed(create, 0));
    pd = out(Opcode.ALLOC_PD, "pd", driver.succeed(input(Opcode.ALLOC_PD, 0, 0), 0));
  }

  /** On a card that is up already. */
  static TestUser ofRunning(TestDriver driver) {
    return new TestUser(driver, false);
  }

  DmaMapping allocate(long bytes) {
    DmaMapping mapping = driver.device.allocate(bytes);
    driver.mappings.add(mapping);
    return mapping;
  }

  static void set(Layout layout, MemorySegment memory, long at, String field, int value) {
    layout.field(field).set(memory, at, value);
  }

  static int out(Opcode opcode, String field, MemorySegment output) {
    return Command.out(opcode, field).get(output, 0);
  }

  /** Events of a type that have come since the beginning, by number of their object. */
  List<Integer> events(int type) {
    List<Integer> found = new ArrayList<>();
    for (int i = 0; i < PAGE / 64; i++) {
      MemorySegment entry = eqBuffer.segment().asSlice(i * 64L, 64);
      if (!Layouts.EQE.field("owner").isSet(entry, 0) && Layouts.EQE.field("event_type").get(entry, 0) == type) {
        found.add(Layouts.EQE.field(type == 4 ? "cq_error_cqn" : "qp_number").get(entry, 0));
      }
    }
    return found;
  }

  void awaitEvent(int type, int number) {
    long deadline = System.nanoTime() + WAIT_NANOS;
    while (!events(type).contains(number)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("no event " + type + " of " + number);
      }
      Thread.onSpinWait();
    }
  }

  /** The object of the first event of a type. */
  int awaitEvent(int type) {
    long deadline = System.nanoTime() + WAIT_NANOS;
    while (events(type).isEmpty()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("no event " + type);
      }
      Thread.onSpinWait();
    }
    return events(type).getFirst();
  }

  void roceAddress(int index, Gid gid) {
    MemorySegment command = input(Opcode.SET_ROCE_ADDRESS, 0, 0);
    Command.in(Opcode.SET_ROCE_ADDRESS, "roce_address_index").set(command, 0, index);
    long at = Command.in(Opcode.SET_ROCE_ADDRESS, "roce_address").offset();
    gid.writeTo(command, at);
    set(Layouts.ROCE_ADDR, command, at, "roce_version", 2);
    set(Layouts.ROCE_ADDR, command, at, "roce_l3_type", gid.isIpv4Mapped() ? 0 : 1);
    driver.succeed(command, 0);
  }

  /** A key with all rights on physical addresses. */
  int physicalKey() {
    MemorySegment create = input(Opcode.CREATE_MKEY, 0, 0);
    long at = Command.in(Opcode.CREATE_MKEY, "memory_key_mkey_entry").offset();
    rights(create, at, 0);
    set(Layouts.MKC, create, at, "length64", 1);
    set(Layouts.MKC, create, at, "mkey_7_0", 0x11);
    return out(Opcode.CREATE_MKEY, "mkey_index", driver.succeed(create, 0)) << 8 | 0x11;
  }

  void rights(MemorySegment command, long at, int mode) {
    for (String right : List.of("a", "rw", "rr", "lw", "lr")) {
      set(Layouts.MKC, command, at, right, 1);
    }
    set(Layouts.MKC, command, at, "access_mode_1_0", mode);
    set(Layouts.MKC, command, at, "qpn", 0xff_ffff);
    set(Layouts.MKC, command, at, "pd", pd);
  }

  /** A key on pages, at an address of its own. */
  int pagedKey(DmaMapping memory, long start, long length, boolean free) {
    int pages = (int) (memory.length() / PAGE);
    int octowords = (pages + 1) / 2;
    MemorySegment create = input(Opcode.CREATE_MKEY, 0, octowords * 16L);
    long at = Command.in(Opcode.CREATE_MKEY, "memory_key_mkey_entry").offset();
    rights(create, at, 1);
    set(Layouts.MKC, create, at, "umr_en", 1);
    set(Layouts.MKC, create, at, "en_rinval", 1);
    set(Layouts.MKC, create, at, "free", free ? 1 : 0);
    set(Layouts.MKC, create, at, "mkey_7_0", 0x22);
    set(Layouts.MKC, create, at, "log_page_size", 12);
    set(Layouts.MKC, create, at, "translations_octword_size", octowords);
    Layouts.MKC.field("start_addr").setLong(create, at, start);
    Layouts.MKC.field("len").setLong(create, at, length);
    if (!free) {
      Command.in(Opcode.CREATE_MKEY, "translations_octword_actual_size").set(create, 0, octowords);
      for (int i = 0; i < pages; i++) {
        listed(create, Command.in(Opcode.CREATE_MKEY, "klm_pas_mtt"), i, memory.address() + (long) i * PAGE);
      }
    }
    return out(Opcode.CREATE_MKEY, "mkey_index", driver.succeed(create, 0)) << 8 | 0x22;
  }

  /** A memory window that is not bound, as {@code alloc_mw} makes one. */
  int rangesKey() {
    MemorySegment create = input(Opcode.CREATE_MKEY, 0, 0);
    long at = Command.in(Opcode.CREATE_MKEY, "memory_key_mkey_entry").offset();
    set(Layouts.MKC, create, at, "free", 1);
    set(Layouts.MKC, create, at, "access_mode_1_0", 2);
    set(Layouts.MKC, create, at, "umr_en", 1);
    set(Layouts.MKC, create, at, "lr", 1);
    set(Layouts.MKC, create, at, "en_rinval", 1);
    set(Layouts.MKC, create, at, "qpn", 0xff_ffff);
    set(Layouts.MKC, create, at, "pd", pd);
    set(Layouts.MKC, create, at, "translations_octword_size", 4);
    return out(Opcode.CREATE_MKEY, "mkey_index", driver.succeed(create, 0)) << 8;
  }

  /** A completion queue. */
  final class Cq {
    final int number;
    final DmaMapping buffer;
    final DmaMapping record;
    final int logSize;
    final int bytes;
    int consumer;

    Cq(int logSize, int bytes) {
      this.logSize = logSize;
      this.bytes = bytes;
      buffer = allocate(Math.max(PAGE, (long) bytes << logSize));
      record = allocate(64);
      for (int i = 0; i < 1 << logSize; i++) {
        buffer.segment().set(ValueLayout.JAVA_BYTE, (long) i * bytes + bytes - 1, (byte) 0xf0);
      }
      int pages = (int) (buffer.length() / PAGE);
      MemorySegment create = input(Opcode.CREATE_CQ, 0, pages * 8L);
      long at = Command.in(Opcode.CREATE_CQ, "cq_context").offset();
      set(Layouts.CQC, create, at, "cqe_sz", bytes == 64 ? 0 : 1);
      set(Layouts.CQC, create, at, "log_cq_size", logSize);
      set(Layouts.CQC, create, at, "uar_page", uar);
      set(Layouts.CQC, create, at, "c_eqn_or_apu_element", eqn);
      Layouts.CQC.field("dbr_addr").setLong(create, at, record.address());
      for (int i = 0; i < pages; i++) {
        listed(create, Command.in(Opcode.CREATE_CQ, "pas"), i, buffer.address() + (long) i * PAGE);
      }
      number = out(Opcode.CREATE_CQ, "cqn", driver.succeed(create, 0));
    }

    /** The next entry, or null. */
    MemorySegment poll() {
      long at = (long) (consumer & (1 << logSize) - 1) * bytes;
      MemorySegment entry = buffer.segment().asSlice(at + bytes - 64, 64);
      int last = (byte) ValueLayout.JAVA_BYTE.varHandle().getAcquire(entry, 63L) & 0xff;
      if (last >> 4 == 0xf || (last & 1) != (consumer >> logSize & 1)) {
        return null;
      }
      MemorySegment copy = MemorySegment.ofArray(new byte[64]).copyFrom(entry);
      consumer++;
      record.segment().set(DWORD, 0, consumer & 0xff_ffff);
      return copy;
    }

    MemorySegment await() {
      long deadline = System.nanoTime() + WAIT_NANOS;
      MemorySegment entry = poll();
      while (entry == null) {
        if (System.nanoTime() > deadline) {
          throw new AssertionError("no completion");
        }
        Thread.onSpinWait();
        entry = poll();
      }
      return entry;
    }

    void arm(boolean solicited) {
      int word = consumer & 0xff_ffff | (solicited ? 1 << 24 : 0);
      driver.bar.writeBigEndian(uar * 4096L + 0x20, (long) word << 32 | number);
    }
  }

  static int opcode(MemorySegment cqe) {
    return Layouts.CQE.field("opcode").get(cqe, 0);
  }

  static int syndrome(MemorySegment cqe) {
    return Layouts.CQE.field("syndrome").get(cqe, 0);
  }

  static int counter(MemorySegment cqe) {
    return Layouts.CQE.field("wqe_counter").get(cqe, 0);
  }

  static int byteCount(MemorySegment cqe) {
    return Layouts.CQE.field("byte_count").get(cqe, 0);
  }

  /** A queue pair with 16 receives of 64 bytes and 64 blocks of sends. */
  final class Qp {
    static final int LOG_RQ = 4;
    static final int LOG_SQ = 6;
    final int number;
    final DmaMapping buffer;
    final DmaMapping record;
    private final long sqStart;
    int sent;
    int received;

    Qp(int service, Cq sends, Cq receives, int sharedQueue, int xrcd, boolean noSends) {
      long start = sharedQueue == 0 ? (long) STRIDE << LOG_RQ : 0;
      buffer = allocate(2L * PAGE);
      record = allocate(64);
      MemorySegment create = input(Opcode.CREATE_QP, 0, 16);
      long at = Command.in(Opcode.CREATE_QP, "qpc").offset();
      set(Layouts.QPC, create, at, "st", service);
      set(Layouts.QPC, create, at, "pm_state", 3);
      set(Layouts.QPC, create, at, "pd", service == REG_UMR ? 0 : pd);
      set(Layouts.QPC, create, at, "uar_page", uar);
      set(Layouts.QPC, create, at, "no_sq", noSends ? 1 : 0);
      set(Layouts.QPC, create, at, "log_sq_size", LOG_SQ);
      set(Layouts.QPC, create, at, "cqn_snd", sends.number);
      set(Layouts.QPC, create, at, "cqn_rcv", receives.number);
      set(Layouts.QPC, create, at, "xrcd", xrcd);
      if (sharedQueue == 0) {
        set(Layouts.QPC, create, at, "log_rq_size", LOG_RQ);
        set(Layouts.QPC, create, at, "log_rq_stride", 2);
      } else {
        set(Layouts.QPC, create, at, "rq_type", 1);
        set(Layouts.QPC, create, at, "srqn_rmpn_xrqn", sharedQueue);
      }
      Layouts.QPC.field("dbr_addr").setLong(create, at, record.address());
      listed(create, Command.in(Opcode.CREATE_QP, "pas"), 0, buffer.address());
      listed(create, Command.in(Opcode.CREATE_QP, "pas"), 1, buffer.address() + PAGE);
      number = out(Opcode.CREATE_QP, "qpn", driver.succeed(create, 0));
      sqStart = start;
    }

    MemorySegment command(Opcode opcode) {
      MemorySegment command = input(opcode, 0, 0);
      Command.in(opcode, "qpn").set(command, 0, number);
      return command;
    }

    void init() {
      MemorySegment init = command(Opcode.RST2INIT_QP);
      long at = Command.in(Opcode.RST2INIT_QP, "qpc").offset();
      for (String right : List.of("rre", "rwe", "rae")) {
        set(Layouts.QPC, init, at, right, 1);
      }
      set(Layouts.QPC, init, at, "q_key", 0x1234);
      driver.succeed(init, 0);
    }

    void ready(int peer, int index, Gid gid) {
      MemorySegment rtr = command(Opcode.INIT2RTR_QP);
      long at = Command.in(Opcode.INIT2RTR_QP, "qpc").offset();
      set(Layouts.QPC, rtr, at, "mtu", 3);
      set(Layouts.QPC, rtr, at, "remote_qpn", peer);
      set(Layouts.QPC, rtr, at, "log_rra_max", 3);
      set(Layouts.QPC, rtr, at, "min_rnr_nak", 1);
      set(Layouts.QPC, rtr, at, "next_rcv_psn", 0x123);
      set(Layouts.QPC, rtr, at, "primary_address_path.src_addr_index", index);
      set(Layouts.QPC, rtr, at, "primary_address_path.hop_limit", 64);
      gid.writeTo(rtr, at + Layouts.QPC.field("primary_address_path.rgid_rip").offset());
      driver.succeed(rtr, 0);
      MemorySegment rts = command(Opcode.RTR2RTS_QP);
      at = Command.in(Opcode.RTR2RTS_QP, "qpc").offset();
      set(Layouts.QPC, rts, at, "next_send_psn", 0x123);
      set(Layouts.QPC, rts, at, "log_sra_max", 3);
      set(Layouts.QPC, rts, at, "retry_count", 7);
      set(Layouts.QPC, rts, at, "rnr_retry", 7);
      set(Layouts.QPC, rts, at, "primary_address_path.ack_timeout", 14);
      driver.succeed(rts, 0);
    }

    int state() {
      MemorySegment output = driver.succeed(command(Opcode.QUERY_QP), 0);
      return Layouts.QPC.field("state").get(output, Command.out(Opcode.QUERY_QP, "qpc").offset());
    }

    void receive(long address, int bytes, int key) {
      long at = (long) (received & (1 << LOG_RQ) - 1) * STRIDE;
      MemorySegment ring = buffer.segment();
      ring.set(DWORD, at, bytes);
      ring.set(DWORD, at + 4, key);
      ring.set(QWORD, at + 8, address);
      ring.set(DWORD, at + 16, 0);
      ring.set(DWORD, at + 20, 0x100);
      ring.set(QWORD, at + 24, 0);
      received++;
      RECORD.setRelease(record.segment(), 0L, received & 0xffff);
    }

    /** Copies an entry to the ring; its control segment is filled but for index and length. */
    int write(MemorySegment wqe, int bytes) {
      int blocks = (bytes + BLOCK - 1) / BLOCK;
      int index = sent & 0xffff;
      int head = wqe.get(DWORD, 0);
      wqe.set(DWORD, 0, head & 0xff | index << 8);
      wqe.set(DWORD, 4, number << 8 | bytes / 16);
      for (int i = 0; i < blocks; i++) {
        long at = sqStart + (long) (sent + i & (1 << LOG_SQ) - 1) * BLOCK;
        MemorySegment.copy(wqe, (long) i * BLOCK, buffer.segment(), at, BLOCK);
      }
      sent += blocks;
      return index;
    }

    void ring(MemorySegment wqe) {
      RECORD.setRelease(record.segment(), 4L, sent & 0xffff);
      driver.bar.writeBigEndian(uar * 4096L + 0x800, wqe.get(QWORD, 0));
    }

    int post(Wr wr) {
      int index = write(wr.memory, wr.length);
      ring(wr.memory);
      return index;
    }
  }

  /** A work queue entry under construction. */
  static final class Wr {
    final MemorySegment memory = Arena.ofAuto().allocate(1024, 64);
    int length = 16;

    Wr(int opcode) {
      memory.set(DWORD, 0, opcode);
      memory.set(DWORD, 8, 2 << 2);
    }

    Wr flags(int fmCeSe) {
      memory.set(DWORD, 8, fmCeSe);
      return this;
    }

    Wr immediate(int value) {
      memory.set(DWORD, 12, value);
      return this;
    }

    Wr xrc(int srqn) {
      memory.set(DWORD, length, srqn);
      length += 16;
      return this;
    }

    Wr remote(long address, int key) {
      memory.set(QWORD, length, address);
      memory.set(DWORD, length + 8, key);
      length += 16;
      return this;
    }

    Wr atomic(long swapAdd, long compare) {
      memory.set(QWORD, length, swapAdd);
      memory.set(QWORD, length + 8, compare);
      length += 16;
      return this;
    }

    Wr data(long address, int bytes, int key) {
      memory.set(DWORD, length, bytes);
      memory.set(DWORD, length + 4, key);
      memory.set(QWORD, length + 8, address);
      length += 16;
      return this;
    }

    Wr inline(byte[] bytes) {
      memory.set(DWORD, length, 1 << 31 | bytes.length);
      MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, length + 4, bytes.length);
      length += (4 + bytes.length + 15) / 16 * 16;
      return this;
    }

    Wr datagram(int qpn, int qkey, int sgidIndex, Gid gid) {
      Layout layout = Layouts.of("wqe_datagram");
      set(layout, memory, length, "qkey", qkey);
      set(layout, memory, length, "extended", 1);
      set(layout, memory, length, "remote_qp", qpn);
      set(layout, memory, length, "hop_limit", 64);
      set(layout, memory, length, "grh", 1);
      set(layout, memory, length, "sgid_index", sgidIndex);
      gid.writeTo(memory, length + layout.field("dgid").offset());
      length += 48;
      return this;
    }

    /** Registration: control, and a context whose fields are set afterwards. */
    Wr umr(int check, long mask, int octowords, boolean inline) {
      Layout layout = Layouts.of("wqe_umr_ctrl");
      set(layout, memory, length, "check", check);
      set(layout, memory, length, "inline", inline ? 1 : 0);
      set(layout, memory, length, "xlt_octowords", octowords);
      layout.field("mkey_mask").setLong(memory, length, mask);
      length += 48 + 64;
      return this;
    }

    Wr key(String field, int value) {
      set(Layouts.MKC, memory, 64, field, value);
      return this;
    }

    Wr key(String field, long value) {
      Field found = Layouts.MKC.field(field);
      found.setLong(memory, 64, value);
      return this;
    }

    Wr octoword(long first, long second) {
      memory.set(QWORD, length, first);
      memory.set(QWORD, length + 8, second);
      length += 16;
      return this;
    }
  }
}
