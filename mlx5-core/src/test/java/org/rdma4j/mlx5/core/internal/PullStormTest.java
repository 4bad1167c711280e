package org.rdma4j.mlx5.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.CompletionHandler;
import org.rdma4j.mlx5.core.CoreCompletionQueue;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.Mlx5Errno;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.core.ObjectCommands;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.PciAddress;

/** The card is pulled out, unplugged, and its driver taken away, while commands and events are under way. */
@Timeout(300)
class PullStormTest {
  private static final int ROUNDS = 50;
  private static final int USERS = 4;

  private enum End {
    PULL,
    UNPLUG,
    ERROR
  }

  private static final CompletionHandler IGNORE =
      new CompletionHandler() {
        @Override
        public void completed() {}

        @Override
        public void failed(int syndrome) {}
      };

  private final Set<Mlx5Errno> seen = ConcurrentHashMap.newKeySet();
  private final Set<Throwable> unexpected = ConcurrentHashMap.newKeySet();

  @Test
  void nobodyHangsAndNothingIsLeft() throws InterruptedException {
    for (int round = 0; round < ROUNDS; round++) {
      End end = End.values()[round % End.values().length];
      try (Bench bench = new Bench().start()) {
        Mlx5Device device = bench.device();
        CountDownLatch working = new CountDownLatch(USERS);
        List<Thread> users = new ArrayList<>();
        for (int i = 0; i < USERS; i++) {
          users.add(Thread.ofPlatform().start(() -> work(device, working)));
        }
        working.await();
        end(bench, end, device);
        for (Thread user : users) {
          user.join();
        }
        assertEquals(List.of(), bench.offered);
        assertEquals(List.of(), bench.bus.interrupts());
        assertEquals(List.of(), Bench.threads());
      }
    }
    assertEquals(Set.of(), unexpected);
    assertTrue(EnumSet.of(Mlx5Errno.EIO, Mlx5Errno.ENXIO, Mlx5Errno.ENODEV).containsAll(seen), seen::toString);
  }

  private static void end(Bench bench, End end, Mlx5Device device) {
    PciAddress slot = Bench.SLOT;
    switch (end) {
      case PULL -> bench.bus.pull(slot);
      case UNPLUG -> bench.bus.unplug(slot);
      case ERROR -> {
        ((CoreDevice) device).enterErrorState();
        bench.bus.unplug(slot);
      }
    }
  }

  /** Until the card is gone. */
  private void work(Mlx5Device device, CountDownLatch working) {
    try {
      for (int i = 0; ; i++) {
        CoreCompletionQueue queue = device.createCompletionQueue(CommandRequest.of(Opcode.CREATE_CQ), 0, IGNORE);
        ObjectCommands.freePd(device, ObjectCommands.allocatePd(device));
        device.allocateBlueFlame(true).close();
        queue.destroy();
        if (i == 3) {
          working.countDown();
        }
      }
    } catch (Mlx5Exception e) {
      seen.add(e.errno());
    } catch (RuntimeException e) {
      unexpected.add(e);
    } finally {
      working.countDown();
    }
  }
}
