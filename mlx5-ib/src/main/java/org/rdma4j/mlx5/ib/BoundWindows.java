package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.mlx5.core.CommandReply;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.MemoryKeyCommands;
import org.rdma4j.mlx5.core.Mlx5Errno;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;

/** The end of a key that windows may be bound to, of which only the card knows for certain. */
final class BoundWindows {
  private static final int KEY_OF_RANGE = 4;

  private BoundWindows() {}

  /**
   * Destroys the key of a region.
   *
   * @throws VerbsException EBUSY while windows are bound to it, which are named; the key stays then
   */
  static void end(ConnectxDevice device, IbProtectionDomain domain, MemoryRegion region, int key) {
    try {
      MemoryKeyCommands.destroy(device.core(), key);
    } catch (Mlx5Exception e) {
      if (e.errno() == Mlx5Errno.EBUSY) {
        throw new VerbsException(
            Errno.EBUSY, region + " is used by the memory windows bound to it: " + names(device, domain, key), e);
      }
      device.refused("giving back the memory key", e);
    }
  }

  /** Those that are bound to a key now. */
  private static String names(ConnectxDevice device, IbProtectionDomain domain, int key) {
    List<String> labels =
        domain.windows().stream()
            .filter(window -> isBound(device, window, key))
            .map(IbMemoryWindow::label)
            .sorted()
            .toList();
    return String.join(", ", labels);
  }

  private static boolean isBound(ConnectxDevice device, IbMemoryWindow window, int key) {
    CommandRequest query = CommandRequest.of(Opcode.QUERY_MKEY).set("mkey_index", window.name() >>> Byte.SIZE);
    try {
      CommandReply reply = device.core().execute(query);
      Structure context = new Structure(Layouts.MKC, reply.bytes("memory_key_mkey_entry"), 0);
      MemorySegment range = reply.bytes("bsf0_klm0_pas_mtt0_1");
      return context.get("free") == 0 && range.get(BigEndian.INT, KEY_OF_RANGE) >>> Byte.SIZE == key >>> Byte.SIZE;
    } catch (Mlx5Exception e) {
      return false; // It has ended meanwhile.
    }
  }
}
