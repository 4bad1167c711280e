package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

/** Failures are told with the check, the side, the packet and the values. */
class ExplainTest {
  private final TestLink first = TestLink.open("rxe0");
  private final TestLink second = TestLink.open("rxe1");
  private final End a = new End(first, QpType.RC, 1 << 16);
  private final End b = new End(second, QpType.RC, 1 << 16);

  ExplainTest() {
    a.connect(b, PathMtu.MTU_1024);
    b.connect(a, PathMtu.MTU_1024);
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    first.close();
    second.close();
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

  /** Few retries: of a receiver that is not ready one, and after a timeout as many as told. */
  private void connectImpatient(int timeout, int retries) {
    a.qp.modify(new QpAttributes().state(QpState.RESET));
    End.init(a.qp);
    a.qp.modify(
        new QpAttributes()
            .state(QpState.RTR)
            .addressVector(new AhAttributes(1, second.gid, a.sgidIndex()))
            .destQpNumber(b.qp.number())
            .pathMtu(PathMtu.MTU_1024)
            .rqPsn(0x12_3456)
            .maxDestRdAtomic(1)
            .minRnrTimer(1));
    a.qp.modify(
        new QpAttributes()
            .state(QpState.RTS)
            .sqPsn(0x12_3456)
            .timeout(timeout)
            .retryCount(retries)
            .rnrRetry(1)
            .maxRdAtomic(1));
  }

  private String fails(WcStatus status) {
    WorkCompletion completion = a.next();
    assertEquals(status, completion.status());
    return a.qp.explain(completion);
  }

  @Test
  void aWriteBeyondTheRegionOfThePeer() {
    long address = b.region.address() + (1 << 16) - 8;
    a.qp.postSend(request(a, 7, WrOpcode.RDMA_WRITE, 64).remoteAddress(address).rkey(b.region.rkey()));
    contains(
        fails(WcStatus.REM_ACCESS_ERR),
        "REM_ACCESS_ERR (remote access error)", "Vendor error 0x41", "work request 7 (RDMA_WRITE of 64 bytes",
        "remote address " + hex(address), "rkey " + hex(b.region.rkey() & 0xffff_ffffL), "PSN 0x123456",
        "to queue pair " + b.qp.number() + " at " + second.gid, "RC ACK");
    contains(
        b.qp.lastFailure(),
        "a request of the peer failed here", "the remote address range is not inside the region", "PSN 0x123456",
        "The packet was RC ", "from " + first.gid, "64 bytes at " + hex(address), "with the right REMOTE_WRITE",
        "the memory has 65536 bytes at " + hex(b.region.address()));
  }

  @Test
  void anUnknownRemoteKeyAndARightThatIsMissing() {
    a.qp.postSend(request(a, 1, WrOpcode.RDMA_READ, 8).remoteAddress(5).rkey(0x7700_0001));
    fails(WcStatus.REM_ACCESS_ERR);
    contains(b.qp.lastFailure(), "no memory has this key", "key 0x77000001", "RC READ Request");
    End.reset(a, b, PathMtu.MTU_1024);
    contains(a.qp.lastFailure(), "Nothing has failed on QP", "which is in RTS");
    MemoryRegion readOnly = b.pd.registerMemory(b.memory, Access.REMOTE_READ);
    a.qp.postSend(request(a, 2, WrOpcode.RDMA_WRITE, 8).remoteAddress(readOnly.address()).rkey(readOnly.rkey()));
    fails(WcStatus.REM_ACCESS_ERR);
    contains(b.qp.lastFailure(), "does not allow this kind of remote access", "rights REMOTE_READ");
  }

  @Test
  void aWrongLocalKeyAndTheRestThatIsFlushed() {
    SendWorkRequest bad =
        new SendWorkRequest().wrId(3).opcode(WrOpcode.SEND).flags(SendFlag.SIGNALED).addSge(0x1000, 100, 0x1234);
    bad.next(request(a, 4, WrOpcode.SEND, 8));
    a.qp.postSend(bad);
    contains(
        fails(WcStatus.LOC_PROT_ERR),
        "found on this side", "work request 3 (SEND of 100 bytes", "100 bytes at 0x1000 under key 0x1234",
        "no memory has this key");
    contains(fails(WcStatus.WR_FLUSH_ERR), "nothing is wrong with this request", "work request 3");
  }

  @Test
  void noReceiveAndNoAnswer() {
    connectImpatient(17, 7);
    a.qp.postSend(request(a, 5, WrOpcode.SEND, 8));
    contains(fails(WcStatus.RNR_RETRY_EXC_ERR), "rnr_retry is 1", "work request 5");
    End.reset(a, b, PathMtu.MTU_1024);
    connectImpatient(10, 1);
    b.qp.modify(new QpAttributes().state(QpState.ERR));
    a.qp.postSend(request(a, 6, WrOpcode.SEND, 8));
    contains(fails(WcStatus.RETRY_EXC_ERR), "retry_cnt is 1, timeout 10, which is 4194 us");
    contains(b.qp.lastFailure(), "Nothing failed", "moved there");
  }

  @Test
  void aReceiveThatIsTooShort() {
    b.qp.postReceive(new ReceiveWorkRequest().wrId(9).addSge(b.region.address(), 100, b.region.lkey()));
    a.qp.postSend(request(a, 8, WrOpcode.SEND, 101));
    fails(WcStatus.REM_INV_REQ_ERR);
    WorkCompletion received = b.next();
    assertEquals(WcStatus.LOC_LEN_ERR, received.status());
    contains(b.qp.explain(received), "the receive has room for 100 bytes", "101 bytes of payload", "0x2a");
  }

  @Test
  void theToolFindsItAndRemovalDoesNotHideIt() {
    a.qp.postSend(request(a, 1, WrOpcode.RDMA_READ, 8).remoteAddress(5).rkey(0x7700_0001));
    WorkCompletion completion = a.next();
    assertEquals(a.qp.lastFailure(), a.context.device().resources().failure(a.qp.number()));
    assertNull(a.context.device().resources().failure(5));
    assertEquals("the peer answered NAK: remote access error", a.context.device().vendorErrors().get(0x41));
    first.remove();
    contains(a.qp.explain(completion), "work request 1 (RDMA_READ");
    assertEquals(List.of(), a.context.device().resources().queuePairs());
  }
}
