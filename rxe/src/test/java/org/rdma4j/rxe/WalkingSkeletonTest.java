package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.roce.address.PathMtu;

class WalkingSkeletonTest {
  private static final int BYTES = 100_000;

  @Test
  void oneSendArrives() {
    try (TestLink rxe0 = TestLink.open("rxe0");
        TestLink rxe1 = TestLink.open("rxe1");
        End a = new End(rxe0, QpType.RC, BYTES);
        End b = new End(rxe1, QpType.RC, BYTES)) {
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      b.qp.postReceive(new ReceiveWorkRequest().wrId(7).addSge(b.region.address(), BYTES, b.region.lkey()));
      a.fill(0, BYTES, 1);
      a.qp.postSend(
          new SendWorkRequest()
              .wrId(8)
              .flags(SendFlag.SIGNALED)
              .addSge(a.region.address(), BYTES, a.region.lkey()));
      WorkCompletion received = b.nextSuccess();
      assertEquals(7, received.wrId());
      assertEquals(WcOpcode.RECV, received.opcode());
      assertEquals(BYTES, received.byteLength());
      WorkCompletion sent = a.nextSuccess();
      assertEquals(8, sent.wrId());
      b.verify(0, BYTES, 1);
    }
  }
}
