package org.rdma4j.mlx5.device.internal;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.rdma4j.mlx5.device.internal.Firmware.State;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Opcode;

/** The doorbell pages that are allocated. Changed on the engine thread, asked by any. */
final class UarPages {
  private static final Field ALLOCATED = Command.out(Opcode.ALLOC_UAR, "uar");
  private static final Field FREED = Command.in(Opcode.DEALLOC_UAR, "uar");

  private final AtomicIntegerArray used = new AtomicIntegerArray(Limits.UARS); // 1 when allocated

  UarPages(Firmware firmware) {
    firmware.add(Opcode.ALLOC_UAR, State.INITIALIZED, this::allocate);
    firmware.add(Opcode.DEALLOC_UAR, State.INITIALIZED, this::free);
  }

  private void allocate(CommandCall call) throws CommandFailure {
    for (int page = Limits.FIRST_UAR; page < Limits.UARS; page++) {
      if (used.compareAndSet(page, 0, 1)) {
        call.put(ALLOCATED, page);
        return;
      }
    }
    throw new CommandFailure(CommandStatus.LIMITS_EXCEEDED, Syndrome.NO_FREE_INDEX);
  }

  private void free(CommandCall call) throws CommandFailure {
    int page = call.get(FREED);
    if (!contains(page)) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.NO_SUCH_OBJECT);
    }
    used.set(page, 0);
  }

  boolean contains(int page) {
    return page >= 0 && page < Limits.UARS && used.get(page) != 0;
  }

  void clear() {
    for (int page = 0; page < Limits.UARS; page++) {
      used.set(page, 0);
    }
  }
}
