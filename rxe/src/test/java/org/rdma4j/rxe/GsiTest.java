package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/** The general services queue pair of a port. */
@Timeout(120)
class GsiTest {
  private static final int GSI = 1;
  private static final int QKEY = 0x8001_0000;
  private static final int GRH_BYTES = 40;
  private static final int MAD_BYTES = 256;

  private final TestLink left = TestLink.open("rxe0");
  private final TestLink right = TestLink.open("rxe1");
  private final End a = new End(left, QpType.GSI, 4096);
  private final End b = new End(right, QpType.GSI, 4096);

  @AfterEach
  void close() {
    a.close();
    b.close();
    left.close();
    right.close();
  }

  private static void ready(End end) {
    end.qp.modify(new QpAttributes().state(QpState.INIT).pkeyIndex(0).qkey(QKEY));
    end.qp.modify(new QpAttributes().state(QpState.RTR));
    end.qp.modify(new QpAttributes().state(QpState.RTS).sqPsn(0));
  }

  private static void receive(End end, long id) {
    end.qp.postReceive(
        new ReceiveWorkRequest().wrId(id).addSge(end.region.address(), GRH_BYTES + MAD_BYTES, end.region.lkey()));
  }

  private static SendWorkRequest send(End end, long id, AddressHandle to) {
    return new SendWorkRequest()
        .wrId(id)
        .flags(SendFlag.SIGNALED)
        .ah(to)
        .remoteQpn(GSI)
        .remoteQkey(QKEY)
        .addSge(end.region.address(), MAD_BYTES, end.region.lkey());
  }

  private static void check(End from, End to, int seed) {
    try (AddressHandle handle = from.pd.createAh(new AhAttributes(1, to.link.gid, from.sgidIndex()))) {
      receive(to, seed);
      from.fill(0, MAD_BYTES, seed);
      from.qp.postSend(send(from, 100 + seed, handle));
      WorkCompletion sent = from.nextSuccess();
      assertEquals(100 + seed, sent.wrId());
      assertEquals(GSI, sent.qpNumber());
      WorkCompletion received = to.nextSuccess();
      assertEquals(seed, received.wrId());
      assertEquals(GRH_BYTES + MAD_BYTES, received.byteLength());
      assertEquals(GSI, received.sourceQp());
      assertEquals(GSI, received.qpNumber());
      assertEquals(0, received.pkeyIndex());
      assertEquals(WcFlag.GRH, received.flags());
      to.verify(GRH_BYTES, MAD_BYTES, seed);
    }
  }

  @Test
  void datagramsGoBothWays() {
    ready(a);
    ready(b);
    assertEquals(GSI, a.qp.number());
    assertEquals(1, a.qp.port());
    for (int i = 0; i < 20; i++) {
      check(a, b, i);
      check(b, a, i);
    }
    QpAttributes state = a.qp.query();
    assertEquals(QpState.RTS, state.state());
    assertEquals(QKEY, state.qkey());
  }

  @Test
  void aPortHasOne() {
    QpInitAttributes init = new QpInitAttributes(QpType.GSI).sendCq(a.cq).recvCq(a.cq);
    VerbsException busy = assertThrows(VerbsException.class, () -> a.pd.createQp(init));
    assertEquals(Errno.EBUSY, busy.errno());
    a.qp.destroy();
    a.pd.createQp(init).destroy();
  }

  @Test
  void whatIsPostedIsFlushed() {
    ready(a);
    receive(a, 1);
    receive(a, 2);
    a.qp.drain(Duration.ofSeconds(20));
    for (int i = 1; i <= 2; i++) {
      WorkCompletion flushed = a.next();
      assertEquals(WcStatus.WR_FLUSH_ERR, flushed.status());
      assertEquals(i, flushed.wrId());
      assertEquals(GSI, flushed.qpNumber());
    }
    a.qp.modify(new QpAttributes().state(QpState.RESET));
    ready(a);
    ready(b);
    check(b, a, 9);
  }
}
