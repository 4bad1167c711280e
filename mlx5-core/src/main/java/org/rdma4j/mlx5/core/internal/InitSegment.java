package org.rdma4j.mlx5.core.internal;

import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.pci.Bar;

/** The registers at the beginning of region 0 ({@code struct mlx5_init_seg}). Safe for any thread. */
final class InitSegment {
  /** State of the interface: the driver may use everything. */
  static final int NIC_FULL = 0;

  /** State of the interface: off. */
  static final int NIC_DISABLED = 1;

  /** State of the interface: reset by software. */
  static final int NIC_SW_RESET = 7;

  private static final Field NIC_INTERFACE = Layouts.INIT_SEGMENT.field("nic_interface");
  private static final Field ADDRESS_HIGH = Layouts.INIT_SEGMENT.field("cmdq_addr_h");
  private static final Field ADDRESS_LOW = Layouts.INIT_SEGMENT.field("cmdq_addr_l");
  private static final Field DOORBELL = Layouts.INIT_SEGMENT.field("cmd_dbell");
  private static final Field INITIALIZING = Layouts.INIT_SEGMENT.field("initializing");
  private static final Field COUNTER = Layouts.INIT_SEGMENT.field("health_counter");
  private static final long HEALTH = Layouts.INIT_SEGMENT.field("health_buffer").offset();
  private static final int LOW_BITS = 0xfff;
  private static final int STATE_SHIFT = 8;

  private final Bar bar;

  InitSegment(Bar bar) {
    this.bar = bar;
  }

  int get(String field) {
    return get(Layouts.INIT_SEGMENT.field(field));
  }

  private int get(Field field) {
    return field.extract(bar.readBigEndian(field.offset()));
  }

  int health(String field) {
    Field found = Layouts.HEALTH_BUFFER.field(field);
    return found.extract(bar.readBigEndian(HEALTH + found.offset()));
  }

  /** All ones come from a card that is not there, too. */
  boolean isInitializing() {
    return get(INITIALIZING) != 0;
  }

  int healthCounter() {
    return get(COUNTER);
  }

  int nicState() {
    return get(NIC_INTERFACE);
  }

  /** Writes the state; the address stays. */
  void nicState(int state) {
    int kept = bar.readBigEndian(ADDRESS_LOW.offset()) & ~LOW_BITS;
    bar.writeBigEndian(ADDRESS_LOW.offset(), kept | state << STATE_SHIFT);
  }

  void commandQueue(long address) {
    bar.writeBigEndian(ADDRESS_HIGH.offset(), (int) (address >>> Integer.SIZE));
    bar.writeBigEndian(ADDRESS_LOW.offset(), (int) address);
  }

  void ring(int slot) {
    bar.writeBigEndian(DOORBELL.offset(), 1 << slot);
  }

  String firmwareVersion() {
    return "%d.%d.%04d".formatted(get("fw_rev_major"), get("fw_rev_minor"), get("fw_rev_subminor"));
  }

  /** The health buffer in words ({@code print_health_info}). */
  String describeHealth() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 6; i++) {
      text.append("assert_var[%d] 0x%08x ".formatted(i, bar.readBigEndian(HEALTH + (long) i * Integer.BYTES)));
    }
    return text.append(
            ("assert_exit_ptr 0x%08x assert_callra 0x%08x fw_ver %s time %d hw_id 0x%08x rfr %d severity %d"
                    + " irisc_index %d synd 0x%x: %s ext_synd 0x%04x")
                .formatted(
                    health("assert_exit_ptr"),
                    health("assert_callra"),
                    firmwareVersion(),
                    health("time"),
                    health("hw_id"),
                    health("request_for_reset"),
                    health("severity_valid") == 0 ? 0 : health("severity"),
                    health("irisc_index"),
                    health("synd"),
                    syndromeText(health("synd")),
                    health("ext_synd")))
        .toString();
  }

  static String syndromeText(int syndrome) {
    return switch (syndrome) {
      case 0 -> "none";
      case 1 -> "firmware internal error";
      case 7 -> "irisc not responding";
      case 8 -> "unrecoverable hardware error";
      case 9 -> "firmware CRC error";
      case 0xa -> "ICM fetch PCI error";
      case 0xb -> "hardware fatal error";
      case 0xc -> "async EQ buffer overrun";
      case 0xd -> "EQ error";
      case 0xe -> "invalid EQ referenced";
      case 0xf -> "FFSER error";
      case 0x10 -> "high temperature";
      default -> "unrecognized error";
    };
  }
}
