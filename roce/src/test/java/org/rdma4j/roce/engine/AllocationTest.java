package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** The data path allocates nothing, once everything has been used. */
class AllocationTest {
  private static final int WARM_UP = 4000;
  private static final int ROUNDS = 4000;
  /** What a JVM may allocate on the thread by itself meanwhile, in bytes. */
  private static final long NOISE = 20_000;

  /** A host that allocates nothing: the same requests over and over. */
  private static final class Host implements QpHost, ReceiveSource {
    private final TestMemory local;
    private final TestMemory remote;
    long posted;
    long completed;
    long received;

    Host(TestMemory local, TestMemory remote) {
      this.local = local;
      this.remote = remote;
    }

    @Override
    public boolean fetchSend(long index, SendWork work) {
      if (index >= posted) {
        return false;
      }
      int kind = (int) (index % 4);
      work.id = index;
      work.opcode =
          switch (kind) {
            case 0 -> WorkOpcode.SEND;
            case 1 -> WorkOpcode.RDMA_WRITE;
            case 2 -> WorkOpcode.RDMA_READ;
            default -> WorkOpcode.ATOMIC_FETCH_AND_ADD;
          };
      work.signaled = true;
      work.remoteAddress = remote.address(0);
      work.remoteKey = remote.key();
      work.compareAdd = 1;
      int length = kind == 3 ? 8 : kind == 0 ? 64 : 3000;
      work.sge.add(local.address(0), length / 2, local.key());
      work.sge.add(local.address(length / 2), length - length / 2, local.key());
      return true;
    }

    @Override
    public void releaseSend(long index) {}

    @Override
    public void completeSend(Completion completion) {
      completed += completion.status == CompletionStatus.SUCCESS ? 1 : 0;
    }

    @Override
    public void completeReceive(Completion completion, boolean solicited) {
      received++;
    }

    @Override
    public boolean take(ReceiveWork work) {
      work.sge.clear();
      work.sge.add(local.address(4096), 64, local.key());
      return true;
    }

    @Override
    public boolean isShared() {
      return true;
    }

    @Override
    public FailedCheck executeLocal(SendWork work) {
      return FailedCheck.NONE;
    }

    @Override
    public FailedCheck invalidate(int key, int protectionDomain) {
      return FailedCheck.NONE;
    }

    @Override
    public void event(QpEvent event) {}

    @Override
    public void entered(TransportState state) {}
  }

  @Test
  void sendsWritesReadsAndAtomicsAllocateNothing() {
    try (var world = new TestWorld()) {
      TestMemory atA = world.a.memory(1 << 14);
      TestMemory atB = world.b.memory(1 << 14);
      Host hostA = new Host(atA, atB);
      Host hostB = new Host(atB, atA);
      QpContext a = ready(world.a, world.b, 0x11, 0x21, hostA);
      ready(world.b, world.a, 0x21, 0x11, hostB);
      rounds(world, a, hostA, WARM_UP);
      var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      long before = threads.getCurrentThreadAllocatedBytes();
      rounds(world, a, hostA, ROUNDS);
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      assertEquals(4L * (WARM_UP + ROUNDS), hostA.completed);
      assertEquals(WARM_UP + ROUNDS, hostB.received);
      assertTrue(allocated < NOISE, allocated + " bytes allocated in " + 4 * ROUNDS + " requests");
    }
  }

  private static QpContext ready(TestPort port, TestPort peer, int number, int peerNumber, Host host) {
    QpContext qp =
        port.engine.create(new QpProfile(number, QpKind.RC, TestPort.PD, false, 64, 4, 4), host, host);
    TestWorld.usual(qp.settings());
    qp.settings().destinationQp = peerNumber;
    qp.settings().route = port.routeTo(peer);
    qp.modify(TransportState.INIT);
    qp.modify(TransportState.RTR);
    qp.modify(TransportState.RTS);
    return qp;
  }

  private static void rounds(TestWorld world, QpContext qp, Host host, int count) {
    for (int i = 0; i < count; i++) {
      host.posted += 4;
      qp.ring();
      while (host.completed < host.posted) {
        world.a.engine.doWork();
        world.b.engine.doWork();
      }
      world.clock.advanceBy(5000);
    }
  }
}
