package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.roce.address.PathMtu;

/** What the driver makes for itself, in the kernel's order, and that it goes again wherever the card refuses. */
@Timeout(120)
class DriverResourcesTest {
  /** Stages ROCE to BFREG of the kernel's profile; for the doorbell register there is a page already. */
  private static final List<Opcode> UP =
      List.of(
          Opcode.QUERY_NIC_VPORT_CONTEXT,
          Opcode.MODIFY_NIC_VPORT_CONTEXT,
          Opcode.ALLOC_PD,
          Opcode.CREATE_MKEY,
          Opcode.CREATE_CQ,
          Opcode.ALLOC_XRCD,
          Opcode.ALLOC_XRCD,
          Opcode.CREATE_XRC_SRQ,
          Opcode.CREATE_RMP,
          Opcode.ALLOC_Q_COUNTER);

  private static final List<Opcode> DOWN =
      List.of(
          Opcode.DEALLOC_Q_COUNTER,
          Opcode.DESTROY_RMP,
          Opcode.DESTROY_XRC_SRQ,
          Opcode.DEALLOC_XRCD,
          Opcode.DEALLOC_XRCD,
          Opcode.DESTROY_CQ,
          Opcode.DESTROY_MKEY,
          Opcode.DEALLOC_PD,
          Opcode.MODIFY_NIC_VPORT_CONTEXT);

  private static List<Opcode> commands(TestHost host, Runnable action) {
    List<Opcode> seen = new ArrayList<>();
    host.core.trace(command -> seen.add(command.opcode()));
    try {
      action.run();
    } finally {
      host.core.trace(null);
    }
    return seen;
  }

  @Test
  void commandsComeInTheKernelsOrder() {
    try (TestHost host = new TestHost()) {
      ConnectxDevice[] second = new ConnectxDevice[1];
      assertEquals(UP, commands(host, () -> second[0] = new ConnectxDevice(host.core, which -> {})));
      assertEquals(DOWN, commands(host, second[0]::release));
    }
  }

  @Test
  void whereverItFailsNothingIsLeft() {
    try (TestHost host = new TestHost()) {
      for (int i = 1; i < UP.size(); i++) {
        Opcode failing = UP.get(i);
        if (failing == Opcode.MODIFY_NIC_VPORT_CONTEXT) {
          continue;
        }
        host.model().faults().failCommands(failing.number(), CommandStatus.LIMITS_EXCEEDED.number(), 1);
        List<Opcode> seen =
            commands(
                host,
                () -> {
                  RuntimeException e =
                      assertThrows(RuntimeException.class, () -> new ConnectxDevice(host.core, which -> {}));
                  assertEquals(true, e instanceof VerbsException || e instanceof Mlx5Exception, e.toString());
                });
        assertEquals(made(seen), ended(seen), failing + ": " + seen);
        assertEquals(Opcode.MODIFY_NIC_VPORT_CONTEXT, seen.getLast());
      }
    }
  }

  /** All but the one that failed. */
  private static long made(List<Opcode> seen) {
    return seen.stream().map(Opcode::text).filter(text -> text.matches("(ALLOC|CREATE).*")).count() - 1;
  }

  private static long ended(List<Opcode> seen) {
    return seen.stream().filter(each -> each.text().startsWith("DE")).count();
  }

  /** Without a doorbell register of their own they share one, and each gets through. */
  @Test
  void queuePairsWithoutRegisterShareOne() {
    try (TestHost left = new TestHost();
        TestHost right = new TestHost();
        End b = new End(right, QpType.RC, 4096);
        End c = new End(right, QpType.RC, 4096)) {
      left.model().faults().failCommands(Opcode.ALLOC_UAR.number(), CommandStatus.LIMITS_EXCEEDED.number(), 2);
      try (End a = new End(left, QpType.RC, 4096)) {
        QueuePair other =
            a.pd.createQp(
                new QpInitAttributes(QpType.RC)
                    .sendCq(a.cq)
                    .recvCq(a.cq)
                    .capabilities(new QpCapabilities(16, 16, 1, 1, 0)));
        a.connect(b, PathMtu.MTU_1024);
        b.connect(a, PathMtu.MTU_1024);
        End.connect(other, right.gid, a.sgidIndex(), c.qp.number(), PathMtu.MTU_1024);
        c.connect(left.gid, other.number(), PathMtu.MTU_1024);
        for (int i = 0; i < 100; i++) {
          a.fill(0, 64, i);
          SendWorkRequest send = new SendWorkRequest().flags(SendFlag.SIGNALED);
          send.addSge(a.region.address(), 64, a.region.lkey());
          End to = i % 2 == 0 ? b : c;
          to.qp.postReceive(new ReceiveWorkRequest().addSge(to.region.address(), 64, to.region.lkey()));
          (i % 2 == 0 ? a.qp : other).postSend(send);
          a.nextSuccess();
          to.nextSuccess();
          to.verify(0, 64, i);
        }
        other.close();
      }
    }
  }
}
