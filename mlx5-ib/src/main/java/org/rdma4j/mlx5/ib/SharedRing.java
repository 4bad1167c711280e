package org.rdma4j.mlx5.ib;

import static org.rdma4j.mlx5.ib.BigEndian.INT;

import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.DoorbellRecord;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.SharedQueueCommands;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * What a shared receive queue lies in: a linked list of entries of a fixed stride, and the doorbell record (kernel:
 * {@code srq.c:create_srq_kernel}).
 */
final class SharedRing implements AutoCloseable {
  static final int SEGMENT = 16;
  private static final int SMALLEST_STRIDE = 32;
  private static final int LOG_SEGMENT = 4;

  private final DmaBuffer buffer;
  private final DoorbellRecord record;
  private final int count;
  private final int stride;

  private SharedRing(DmaBuffer buffer, DoorbellRecord record, int count, int stride) {
    this.buffer = buffer;
    this.record = record;
    this.count = count;
    this.stride = stride;
  }

  /** Room for so many receives and one entry more, which stays unused. */
  static SharedRing allocate(Mlx5Device core, int maxWr, int maxSge) {
    int count = Sizes.roundUp(maxWr + 1);
    int stride = Math.max(SMALLEST_STRIDE, Sizes.roundUp(SEGMENT + SEGMENT * maxSge));
    DmaBuffer buffer = Errors.translated(() -> core.allocate((long) count * stride));
    boolean made = false;
    try {
      for (int i = 0; i < count; i++) {
        buffer.segment().set(INT, (long) i * stride, i + 1 & count - 1);
      }
      DoorbellRecord record = Errors.translated(core::allocateDoorbellRecord);
      made = true;
      return new SharedRing(buffer, record, count, stride);
    } finally {
      if (!made) {
        buffer.close();
      }
    }
  }

  DmaBuffer buffer() {
    return buffer;
  }

  DoorbellRecord record() {
    return record;
  }

  /** Entries, a power of two. */
  int count() {
    return count;
  }

  /** Bytes of an entry. */
  int stride() {
    return stride;
  }

  /** Makes an ordinary queue of the card of it; its number. */
  int create(Mlx5Device core, int pd, int limit) {
    CommandRequest request = CommandRequest.of(Opcode.CREATE_RMP, (long) buffer.pages() * Long.BYTES);
    Structure queue = SharedQueueCommands.workQueue(request.structure("ctx"));
    queue
        .set("pd", pd)
        .set("log_wq_stride", Sizes.log(stride))
        .set("log_wq_sz", Sizes.log(count))
        .set("lwm", limit)
        .setLong("dbr_addr", record.address());
    buffer.listPages(request, 0, 0);
    return Errors.translated(() -> SharedQueueCommands.create(core, request));
  }

  /** Makes a queue of an XRC domain of it, with its completions in a queue of its own; its number. */
  int createXrc(Mlx5Device core, int pd, int xrcd, int cqn, int limit) {
    CommandRequest request = CommandRequest.of(Opcode.CREATE_XRC_SRQ, (long) buffer.pages() * Long.BYTES);
    request
        .structure("xrc_srq_context_entry")
        .set("pd", pd)
        .set("xrcd", xrcd)
        .set("cqn", cqn)
        .set("log_rq_stride", Sizes.log(stride) - LOG_SEGMENT)
        .set("log_xrc_srq_size", Sizes.log(count))
        .set("lwm", limit)
        .set("db_record_addr_h", (int) (record.address() >>> Integer.SIZE))
        .set("db_record_addr_l", (int) record.address() >>> 2);
    buffer.listPages(request, 0, 0);
    return Errors.translated(() -> SharedQueueCommands.createXrc(core, request));
  }

  @Override
  public void close() {
    record.close();
    buffer.close();
  }
}
