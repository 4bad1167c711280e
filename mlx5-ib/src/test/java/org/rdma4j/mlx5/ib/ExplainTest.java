package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

/** What the driver tells a person about failures: entry, request, region, and what the card says when asked. */
@Timeout(120)
class ExplainTest {
  private final TestHost left = new TestHost();
  private final TestHost right = new TestHost();
  private final End a = new End(left, QpType.RC, 4096);
  private final End b = new End(right, QpType.RC, 4096);

  ExplainTest() {
    End.reset(a, b, PathMtu.MTU_1024);
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    left.close();
    right.close();
  }

  private static SendWorkRequest request(End end, long id, WrOpcode opcode, int length) {
    return new SendWorkRequest()
        .wrId(id)
        .opcode(opcode)
        .flags(SendFlag.SIGNALED)
        .addSge(end.region.address(), length, end.region.lkey());
  }

  private static void contains(String text, Object... parts) {
    for (Object each : parts) {
      assertTrue(text.contains(each.toString()), () -> "\"" + each + "\" in: " + text);
    }
  }

  private static String hex(long value) {
    return "0x" + Long.toHexString(value);
  }

  private String fails(WcStatus status) {
    WorkCompletion completion = a.next();
    assertEquals(status, completion.status());
    return a.qp.explain(completion);
  }

  @Test
  void aWriteBeyondTheRegionOfThePeer() {
    assertEquals("Nothing has failed on " + a.qp + ", which is in RTS.", a.qp.lastFailure());
    long address = b.region.address() + 4090;
    a.qp.postSend(request(a, 7, WrOpcode.RDMA_WRITE, 64).remoteAddress(address).rkey(b.region.rkey()));
    contains(
        fails(WcStatus.REM_ACCESS_ERR),
        "REM_ACCESS_ERR (remote access error)",
        "Vendor error 0x41: the peer answered NAK: remote access error",
        "work request 7 (RDMA_WRITE of 64 bytes, remote address " + hex(address) + ", rkey "
            + hex(b.region.rkey() & 0xffff_ffffL),
        "failed with MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR (0x13), vendor syndrome 0x41",
        "the card has the queue pair in ERR, to queue pair " + b.qp.number() + " at " + right.gid,
        "retry_cnt 7, rnr_retry 7");
    awaitError(b);
    contains(b.qp.lastFailure(), "the card reported QP_ACCESS_ERR: it refused a request of the peer");
    End.reset(a, b, PathMtu.MTU_1024);
    contains(a.qp.lastFailure(), "Nothing has failed");
    contains(b.qp.lastFailure(), "Nothing has failed");
  }

  private static void awaitError(End end) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (end.qp.state() != QpState.ERR) {
      assertTrue(System.nanoTime() < deadline);
      LockSupport.parkNanos(100_000);
    }
  }

  @Test
  void aWrongLocalKeyAndTheRestThatIsFlushed() {
    SendWorkRequest bad =
        new SendWorkRequest()
            .wrId(3)
            .opcode(WrOpcode.SEND)
            .flags(SendFlag.SIGNALED)
            .addSge(a.region.address(), 10, a.region.lkey())
            .addSge(0x1000, 100, 0x1234);
    bad.next(request(a, 4, WrOpcode.SEND, 8));
    a.qp.postSend(bad);
    contains(
        fails(WcStatus.LOC_PROT_ERR),
        "work request 3 (SEND of 110 bytes) failed with MLX5_CQE_SYNDROME_LOCAL_PROT_ERR (0x4)",
        "the local key names no valid memory region",
        "100 bytes at 0x1000 under key 0x1234: no memory region has this key");
    contains(fails(WcStatus.WR_FLUSH_ERR), "nothing is wrong with this request", "work request 3");
  }

  @Test
  void aReceiveThatIsTooShort() {
    b.qp.postReceive(new ReceiveWorkRequest().wrId(9).addSge(b.region.address(), 10, b.region.lkey()));
    a.qp.postSend(request(a, 5, WrOpcode.SEND, 64));
    contains(fails(WcStatus.REM_INV_REQ_ERR), "work request 5 (SEND of 64 bytes)", "REMOTE_INVAL_REQ_ERR (0x12)");
    WorkCompletion received = b.next();
    assertEquals(WcStatus.LOC_LEN_ERR, received.status());
    contains(b.qp.explain(received), "receive 9 (RECV) failed with MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR (0x1)", "0x2a");
  }

  @Test
  void aQueuePairThatIsGoneKeepsItsReason() {
    a.qp.postSend(request(a, 6, WrOpcode.RDMA_READ, 8).remoteAddress(8).rkey(0x7700));
    assertEquals(WcStatus.REM_ACCESS_ERR, a.next().status());
    a.qp.destroy();
    contains(a.qp.lastFailure(), "work request 6 (RDMA_READ of 8 bytes, remote address 0x8, rkey 0x7700)");
    left.pull();
    contains(a.qp.lastFailure(), "work request 6");
  }

  @Test
  void vendorErrorsAreThoseOfTheModel() {
    assertEquals("the peer answered NAK: remote access error", a.context.device().vendorErrors().get(0x41));
  }
}
