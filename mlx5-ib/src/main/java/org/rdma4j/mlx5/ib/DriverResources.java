package org.rdma4j.mlx5.ib;

import java.util.ArrayDeque;
import java.util.Deque;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.CompletionHandler;
import org.rdma4j.mlx5.core.CoreCompletionQueue;
import org.rdma4j.mlx5.core.MemoryKeyCommands;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.ObjectCommands;
import org.rdma4j.mlx5.core.SharedQueueCommands;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * Objects of the driver's own, for queue pairs that need one in their context but use none (kernel: {@code struct
 * mlx5_ib_resources}, {@code main.c:mlx5_ib_dev_res_init}): domain p0, completion queue c0, XRC domains x0 and x1,
 * shared receive queues s0 and s1.
 */
final class DriverResources implements AutoCloseable {
  private static final int ANY_QP = 0xff_ffff;

  /** Nothing is ever posted to its queue pairs. */
  private static final CompletionHandler DEAF =
      new CompletionHandler() {
        @Override
        public void completed() {
          // Never armed.
        }

        @Override
        public void failed(int syndrome) {
          // Nobody waits for its completions.
        }
      };

  private final ConnectxDevice device;
  private final Deque<Runnable> undo = new ArrayDeque<>();
  private int pd;
  private int completions;
  private int sharedDomain;
  private int ownDomain;
  private int xrcQueue;
  private int queue;

  private DriverResources(ConnectxDevice device) {
    this.device = device;
  }

  /**
   * Makes all of them; nothing is left when this throws.
   *
   * @throws VerbsException EOPNOTSUPP for a card without XRC; what the card says
   */
  static DriverResources create(ConnectxDevice device) {
    Mlx5Device core = device.core();
    if (!core.capabilities().has("xrc")) {
      throw new VerbsException(Errno.EOPNOTSUPP, core.name() + " has no extended reliable connections");
    }
    DriverResources made = new DriverResources(device);
    boolean complete = false;
    try {
      made.makeAll(core);
      complete = true;
      return made;
    } finally {
      if (!complete) {
        made.close();
      }
    }
  }

  private void makeAll(Mlx5Device core) {
    pd = Errors.translated(() -> ObjectCommands.allocatePd(core));
    undo.push(() -> device.giveBack("domain p0", () -> ObjectCommands.freePd(core, pd)));
    int key = Errors.translated(() -> MemoryKeyCommands.create(core, physicalKey(pd)));
    undo.push(() -> device.giveBack("key of p0", () -> MemoryKeyCommands.destroy(core, key)));
    completions = completions(core);
    sharedDomain = xrcd(core);
    ownDomain = xrcd(core);
    SharedRing first = ring(core);
    xrcQueue = first.createXrc(core, pd, sharedDomain, completions, 0);
    undo.push(() -> device.giveBack("queue s0", () -> SharedQueueCommands.destroyXrc(core, xrcQueue)));
    SharedRing second = ring(core);
    queue = second.create(core, pd, 0);
    undo.push(() -> device.giveBack("queue s1", () -> SharedQueueCommands.destroy(core, queue)));
  }

  /** A key on all memory that the card can reach ({@code mr.c:mlx5_ib_get_dma_mr}). */
  static CommandRequest physicalKey(int pd) {
    CommandRequest request = CommandRequest.of(Opcode.CREATE_MKEY);
    Structure context = request.structure("memory_key_mkey_entry");
    context.set("lr", 1).set("lw", 1).set("length64", 1).set("pd", pd).set("qpn", ANY_QP);
    return request;
  }

  private int completions(Mlx5Device core) {
    CompletionRing ring = CompletionRing.allocate(core, 1);
    undo.push(ring::close);
    CoreCompletionQueue made =
        Errors.translated(() -> core.createCompletionQueue(ring.creation(core), 0, DEAF));
    undo.push(() -> device.giveBack("queue c0", made::destroy));
    return made.number();
  }

  private int xrcd(Mlx5Device core) {
    int number = Errors.translated(() -> ObjectCommands.allocateXrcd(core));
    undo.push(() -> device.giveBack("XRC domain", () -> ObjectCommands.freeXrcd(core, number)));
    return number;
  }

  private SharedRing ring(Mlx5Device core) {
    SharedRing ring = SharedRing.allocate(core, 1, 1);
    undo.push(ring::close);
    return ring;
  }

  /** Domain p0, of targets of extended reliable connections. */
  int pd() {
    return pd;
  }

  /** Completion queue c0, for queue pairs without. */
  int completions() {
    return completions;
  }

  /** XRC domain x0, of queue pairs with a shared receive queue. */
  int sharedDomain() {
    return sharedDomain;
  }

  /** XRC domain x1, of queue pairs with receives of their own, or none. */
  int ownDomain() {
    return ownDomain;
  }

  /** Shared receive queue s0, of both sides of extended reliable connections. */
  int xrcQueue() {
    return xrcQueue;
  }

  /** Shared receive queue s1, of all other queue pairs without. */
  int queue() {
    return queue;
  }

  /** Gives all back, the last first. */
  @Override
  public void close() {
    while (!undo.isEmpty()) {
      undo.pop().run();
    }
  }
}
