package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;

/** The initialization segment: what software finds at the beginning of region 0. Safe for any thread. */
final class Registers {
  static final int SIZE = (int) Layouts.INIT_SEGMENT.size();
  static final int COMMAND_REVISION = 5;
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int TIMER_HIGH = (int) Layouts.INIT_SEGMENT.field("internal_timer").offset();
  private static final int TIMER_LOW = TIMER_HIGH + Integer.BYTES;
  private static final int DISABLED = 1;
  private static final int ASYNC_EQ_OVERRUN = 0xc;
  private static final int SEVERITY_EMERGENCY = 0;
  private static final int ASSERT_PLACE = 0x2000_0000;
  private static final int HARDWARE = 0x020d; // ConnectX-5
  private static final int COMMAND_SECONDS = 60;
  private static final int START_MILLIS = 2000;
  private static final int SECONDS = 1;

  private final MemorySegment memory = Arena.ofAuto().allocate(SIZE, Long.BYTES);

  Registers(int major, int minor, int subMinor, int logEntries, int logStride) {
    set("fw_rev_major", major);
    set("fw_rev_minor", minor);
    set("cmd_interface_rev", COMMAND_REVISION);
    set("fw_rev_subminor", subMinor);
    set("log_cmdq_size", logEntries);
    set("log_cmdq_stride", logStride);
    set("nic_interface", DISABLED);
    set("initializing", 1);
    set("fw_reset_supported", 1);
    set("cmd_exec_to_multiplier", SECONDS);
    set("cmd_exec_to_value", COMMAND_SECONDS);
    set("cmd_q_init_to_value", START_MILLIS);
    Layouts.HEALTH_BUFFER.field("hw_id").set(memory, health(), HARDWARE);
    Layouts.HEALTH_BUFFER.field("fw_ver").set(memory, health(), major << 24 | minor << 16 | subMinor);
  }

  private static long health() {
    return Layouts.INIT_SEGMENT.field("health_buffer").offset();
  }

  private static Field field(String name) {
    return Layouts.INIT_SEGMENT.field(name);
  }

  synchronized void set(String name, int value) {
    field(name).set(memory, 0, value);
  }

  synchronized int get(String name) {
    return field(name).get(memory, 0);
  }

  synchronized void setHealth(String name, int value) {
    Layouts.HEALTH_BUFFER.field(name).set(memory, health(), value);
  }

  /** A dword as PCI carries it. */
  synchronized int read(long offset) {
    if (offset == TIMER_HIGH || offset == TIMER_LOW) {
      long time = System.nanoTime();
      return Integer.reverseBytes((int) (offset == TIMER_HIGH ? time >>> Integer.SIZE : time));
    }
    return Integer.reverseBytes(memory.get(DWORD, offset));
  }

  /** The firmware has started. */
  void up() {
    if (get("initializing") != 0) {
      set("initializing", 0);
    }
  }

  /** An event found its queue full: the driver learns of it from the health buffer. */
  void eventLost() {
    setHealth("synd", ASYNC_EQ_OVERRUN);
  }

  /** The firmware is dead. */
  void asserted(int syndrome) {
    setHealth("synd", syndrome);
    setHealth("severity_valid", 1);
    setHealth("severity", SEVERITY_EMERGENCY);
    setHealth("request_for_reset", 1);
    setHealth("assert_exit_ptr", ASSERT_PLACE);
    setHealth("time", (int) TimeUnit.NANOSECONDS.toSeconds(System.nanoTime()));
  }

  /** DMA address of the command queue. */
  synchronized long commandQueue() {
    return (long) get("cmdq_addr_h") << Integer.SIZE | (get("cmdq_addr_l") & 0xf_ffffL) << 12;
  }

  /** The health counter moves while the firmware is well. */
  synchronized void beat() {
    set("health_counter", get("health_counter") + 1);
  }
}
