package org.rdma4j.tools.mlx5.trace;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.rdma4j.mlx5.core.CommandRecord;
import org.rdma4j.mlx5.ifc.Command;

/**
 * What lies at a DMA address, as far as it was seen in commands: queues, doorbell records, memory regions and pages for
 * the firmware. What was made before nobody looked has no name. Safe for any thread.
 */
final class DmaNames {
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int LOG_PAGE = 12;
  private static final long PRESENT_BITS = 7;
  private static final int GIVE = 1;

  private final Map<Long, String> pages = new ConcurrentHashMap<>();
  private final Map<Long, String> records = new ConcurrentHashMap<>();

  /** A command was carried out. */
  void learn(CommandRecord command) {
    if (command.status() != 0) {
      return;
    }
    switch (command.opcode()) {
      case CREATE_CQ -> queue(command, "CQ", "cqn", "cq_context");
      case CREATE_QP -> queue(command, "QP", "qpn", "qpc");
      case CREATE_EQ -> list(command, "pas", "EQ " + output(command, "eq_number"));
      case CREATE_MKEY -> list(command, "klm_pas_mtt", "key 0x%x".formatted(output(command, "mkey_index")));
      case MANAGE_PAGES -> {
        if (command.modifier() == GIVE) {
          list(command, "pas", "firmware page");
        }
      }
      default -> { }
    }
  }

  private void queue(CommandRecord command, String kind, String number, String context) {
    String name = "%s 0x%x".formatted(kind, output(command, number));
    list(command, "pas", name);
    var layout = Command.in(command.opcode(), context);
    long address = layout.inner().field("dbr_addr").getLong(command.input(), layout.offset());
    records.put(address, "doorbell record of " + name);
    records.put(address + Integer.BYTES, "doorbell record of " + name);
  }

  private static int output(CommandRecord command, String field) {
    return Command.out(command.opcode(), field).get(command.output(), 0);
  }

  /** All addresses are of pages of the size that drivers here use; a key on physical addresses has none. */
  private void list(CommandRecord command, String field, String name) {
    MemorySegment input = command.input();
    long from = Command.in(command.opcode(), field).offset();
    for (long at = from; at + Long.BYTES <= input.byteSize(); at += Long.BYTES) {
      long address = input.get(QWORD, at) & ~PRESENT_BITS;
      if (address != 0) {
        pages.put(address >>> LOG_PAGE, name);
      }
    }
  }

  /** The name, with a blank before it, or an empty text. */
  String of(long address) {
    String name = records.get(address);
    if (name == null) {
      name = pages.get(address >>> LOG_PAGE);
    }
    return name == null ? "" : " " + name;
  }
}
