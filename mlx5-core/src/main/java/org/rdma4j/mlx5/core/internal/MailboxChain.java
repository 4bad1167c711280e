package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;

/** What does not fit into a command queue entry: blocks of 512 bytes, chained by address ({@code mlx5_cmd_mailbox}). */
final class MailboxChain {
  /** Bytes that the entry itself holds. */
  static final int INLINE = 16;

  private static final int DATA = (int) Layouts.CMD_MAILBOX.field("data").length();
  private static final int BLOCK = (int) Layouts.CMD_MAILBOX.size();
  private static final int CONTROL = 0x200;
  private static final Field NEXT = Layouts.CMD_MAILBOX.field("next");
  private static final Field NUMBER = Layouts.CMD_MAILBOX.field("block_number");
  private static final Field TOKEN = Layouts.CMD_MAILBOX.field("token");
  private static final Field CONTROL_SIGNATURE = Layouts.CMD_MAILBOX.field("ctrl_signature");
  private static final Field SIGNATURE = Layouts.CMD_MAILBOX.field("signature");

  private final MailboxPool pool;
  private final List<MailboxPool.Block> blocks;

  /** Takes as many blocks as a message of so many bytes needs behind its first 16. */
  MailboxChain(MailboxPool pool, long bytes, int token) {
    this.pool = pool;
    this.blocks = pool.take((int) ((Math.max(0, bytes - INLINE) + DATA - 1) / DATA));
    for (int i = 0; i < blocks.size(); i++) {
      MemorySegment block = blocks.get(i).segment();
      block.fill((byte) 0);
      NEXT.setLong(block, 0, i + 1 < blocks.size() ? blocks.get(i + 1).address() : 0);
      NUMBER.set(block, 0, i);
      TOKEN.set(block, 0, token);
    }
  }

  /** Address of the first block, 0 without one. */
  long address() {
    return blocks.isEmpty() ? 0 : blocks.getFirst().address();
  }

  void write(MemorySegment message) {
    long at = INLINE;
    for (MailboxPool.Block block : blocks) {
      long count = Math.min(DATA, message.byteSize() - at);
      MemorySegment.copy(message, at, block.segment(), 0, count);
      at += count;
    }
  }

  void read(MemorySegment message) {
    long at = INLINE;
    for (MailboxPool.Block block : blocks) {
      long count = Math.min(DATA, message.byteSize() - at);
      MemorySegment.copy(block.segment(), 0, message, at, count);
      at += count;
    }
  }

  void sign() {
    for (MailboxPool.Block block : blocks) {
      MemorySegment segment = block.segment();
      CONTROL_SIGNATURE.set(segment, 0, 0);
      SIGNATURE.set(segment, 0, 0);
      CONTROL_SIGNATURE.set(segment, 0, ~xor(segment, CONTROL, BLOCK - 2 - CONTROL) & 0xff);
      SIGNATURE.set(segment, 0, ~xor(segment, 0, BLOCK - 1) & 0xff);
    }
  }

  boolean isSigned() {
    return blocks.stream()
        .allMatch(
            block ->
                xor(block.segment(), CONTROL, BLOCK - 1 - CONTROL) == 0xff && xor(block.segment(), 0, BLOCK) == 0xff);
  }

  void close() {
    pool.give(blocks);
  }

  static int xor(MemorySegment memory, long from, long length) {
    int sum = 0;
    for (long i = 0; i < length; i++) {
      sum ^= memory.get(ValueLayout.JAVA_BYTE, from + i);
    }
    return sum & 0xff;
  }
}
