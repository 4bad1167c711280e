package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.DeviceCapability;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.ib.core.verbs.XrcDomain;
import org.rdma4j.ib.core.verbs.XrcOpenFlag;
import org.rdma4j.roce.address.PathMtu;

/** XRC domains, their shared receive queues, initiators and targets, between two devices and several users. */
class ExtendedConnectionTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final TestHost left = new TestHost();
  private final TestHost right = new TestHost();
  private final Initiator a = new Initiator();
  private final Receiver b = new Receiver("shared");

  /** The side that sends. */
  private final class Initiator {
    final Context context = left.open();
    final ProtectionDomain pd = context.allocatePd();
    final CompletionQueue cq = context.createCq(64, null, 0);
    final QueuePair qp =
        pd.createQp(
            new QpInitAttributes(QpType.XRC_INI).sendCq(cq).capabilities(new QpCapabilities(16, 0, 2, 0, 32)));
    final End memory = new End(left, QpType.RC, 8192);
    final MemoryRegion region = pd.registerMemory(memory.memory, Access.LOCAL_WRITE);
  }

  /** A user of the side that receives, with a shared queue of its own. */
  private final class Receiver {
    final Context context = right.open();
    final ProtectionDomain pd = context.allocatePd();
    final CompletionQueue cq = context.createCq(64, null, 0);
    final XrcDomain xrcd;
    final SharedReceiveQueue srq;
    final End memory = new End(right, QpType.RC, 8192);
    final MemoryRegion region =
        pd.registerMemory(
            memory.memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC);

    Receiver(String name) {
      xrcd = context.openXrcd(name, XrcOpenFlag.CREATE);
      srq = pd.createSrq(new SrqInitAttributes(8, 2, xrcd, cq));
    }

    void post(long id) {
      srq.postReceive(new ReceiveWorkRequest().wrId(id).addSge(region.address(), 1024, region.lkey()));
    }
  }

  @AfterEach
  void close() {
    a.memory.close();
    b.memory.close();
    left.close();
    right.close();
  }

  private static WorkCompletion next(CompletionQueue cq) {
    WorkCompletion[] batch = WorkCompletion.batch(1);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (cq.poll(batch) == 0) {
      assertTrue(System.nanoTime() < deadline, "no completion within 20 s");
      LockSupport.parkNanos(1_000);
    }
    return batch[0];
  }

  private static WorkCompletion success(CompletionQueue cq) {
    WorkCompletion completion = next(cq);
    assertEquals(WcStatus.SUCCESS, completion.status(), completion.toString());
    return completion;
  }

  private QueuePair connect(QueuePair target) {
    QpAttributes init =
        new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(1)
            .access(Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC);
    target.modify(init);
    a.qp.modify(init);
    int there = b.context.device().gidTable(1).find(right.gid).index();
    target.modify(
        rtr(new AhAttributes(1, left.gid, there), a.qp.number()).maxDestRdAtomic(4).minRnrTimer(1));
    a.qp.modify(rtr(new AhAttributes(1, right.gid, a.memory.sgidIndex()), target.number()));
    a.qp.modify(
        new QpAttributes().state(QpState.RTS).sqPsn(7).timeout(14).retryCount(7).rnrRetry(7).maxRdAtomic(4));
    return target;
  }

  private static QpAttributes rtr(AhAttributes to, int peer) {
    return new QpAttributes()
        .state(QpState.RTR).addressVector(to).destQpNumber(peer).pathMtu(PathMtu.MTU_1024).rqPsn(7);
  }

  private QueuePair target() {
    return connect(b.xrcd.createQp(new QpInitAttributes(QpType.XRC_TGT)));
  }

  private SendWorkRequest send(long id, WrOpcode opcode, int srq) {
    return new SendWorkRequest()
        .wrId(id).opcode(opcode).flags(SendFlag.SIGNALED).xrcSrqNumber(srq)
        .remoteAddress(b.region.address()).rkey(b.region.rkey())
        .addSge(a.region.address(), 8, a.region.lkey());
  }

  private static VerbsException refused(Errno errno, String text, Executable call) {
    VerbsException e = assertThrows(VerbsException.class, call);
    assertEquals(errno, e.errno(), e.getMessage());
    assertTrue(e.getMessage().contains(text), e.getMessage());
    return e;
  }

  @Test
  void everyOperation() {
    QueuePair target = target();
    int srq = b.srq.srqNumber();
    a.memory.memory.set(ValueLayout.JAVA_LONG, 0, 0x1234_5678L);
    b.post(1);
    b.post(2);
    b.post(3);
    a.qp.postSend(send(10, WrOpcode.SEND, srq));
    success(a.cq);
    WorkCompletion received = success(b.cq);
    assertEquals(1, received.wrId());
    assertEquals(8, received.byteLength());
    assertEquals(target.number(), received.qpNumber());
    assertEquals(a.qp.number(), received.sourceQp());
    assertEquals(0x1234_5678L, b.memory.memory.get(ValueLayout.JAVA_LONG, 0));
    a.qp.postSend(send(11, WrOpcode.SEND_WITH_IMM, srq).immediate(77));
    success(a.cq);
    assertEquals(77, success(b.cq).immediate());
    a.qp.postSend(send(12, WrOpcode.RDMA_WRITE_WITH_IMM, srq).immediate(78));
    success(a.cq);
    assertEquals(WcOpcode.RECV_RDMA_WITH_IMM, success(b.cq).opcode());
    a.qp.postSend(send(13, WrOpcode.RDMA_WRITE, srq));
    success(a.cq);
    a.qp.postSend(send(14, WrOpcode.ATOMIC_FETCH_AND_ADD, srq).compareAdd(1));
    success(a.cq);
    assertEquals(0x1234_5679L, b.memory.memory.get(ValueLayout.JAVA_LONG, 0));
    a.qp.postSend(send(15, WrOpcode.RDMA_READ, srq));
    success(a.cq);
    assertEquals(0x1234_5679L, a.memory.memory.get(ValueLayout.JAVA_LONG, 0));
  }

  @Test
  void longMessagesArriveWhole() {
    target();
    a.memory.fill(0, 5000, 3);
    b.srq.postReceive(
        new ReceiveWorkRequest()
            .wrId(1)
            .addSge(b.region.address(), 3000, b.region.lkey())
            .addSge(b.region.address() + 4000, 4000, b.region.lkey()));
    SendWorkRequest wr = send(10, WrOpcode.SEND, b.srq.srqNumber());
    a.qp.postSend(wr.clearSges().addSge(a.region.address(), 5000, a.region.lkey()));
    success(a.cq);
    assertEquals(5000, success(b.cq).byteLength());
    for (int i = 0; i < 5000; i++) {
      byte expected = a.memory.memory.get(ValueLayout.JAVA_BYTE, i);
      assertEquals(expected, b.memory.memory.get(ValueLayout.JAVA_BYTE, i < 3000 ? i : i + 1000), "byte " + i);
    }
  }

  @Test
  void aQueueThatRunsLowSaysSo() {
    target();
    for (int i = 0; i < 4; i++) {
      b.post(i);
    }
    b.srq.modifyLimit(3);
    assertEquals(3, b.srq.query().limit());
    a.qp.postSend(send(10, WrOpcode.SEND, b.srq.srqNumber()));
    success(a.cq);
    a.qp.postSend(send(11, WrOpcode.SEND, b.srq.srqNumber()));
    success(a.cq);
    AsyncEvent event = eventOf(b.context);
    assertEquals(AsyncEventType.SRQ_LIMIT_REACHED, event.type());
    assertSame(b.srq, event.element());
    assertEquals(0, b.srq.query().limit());
  }

  @Test
  void completionsOutliveTargetAndQueue() {
    QueuePair target = target();
    b.post(1);
    b.post(2);
    a.qp.postSend(send(10, WrOpcode.SEND, b.srq.srqNumber()));
    success(a.cq);
    a.qp.postSend(send(11, WrOpcode.SEND, b.srq.srqNumber()));
    success(a.cq);
    int number = target.number();
    target.destroy();
    WorkCompletion first = success(b.cq);
    assertEquals(1, first.wrId());
    assertEquals(number, first.qpNumber());
    b.srq.destroy();
    WorkCompletion second = success(b.cq);
    assertEquals(2, second.wrId());
    assertEquals(number, second.qpNumber());
    assertEquals(0, b.cq.poll(WorkCompletion.batch(1)));
  }

  @Test
  void aTargetGoesWithTheQueueOfItsReceives() {
    QueuePair target = target();
    CompletionQueue small = b.context.createCq(1, null, 0);
    SharedReceiveQueue other = b.pd.createSrq(new SrqInitAttributes(8, 1, b.xrcd, small));
    for (int i = 0; i < 3; i++) {
      other.postReceive(new ReceiveWorkRequest().wrId(i).addSge(b.region.address(), 64, b.region.lkey()));
      a.qp.postSend(send(i, WrOpcode.SEND, other.srqNumber()));
    }
    AsyncEvent event = eventOf(b.context);
    while (event.type() != AsyncEventType.CQ_ERR) {
      event = eventOf(b.context);
    }
    assertSame(small, event.element());
    assertEquals(QpState.ERR, target.query().state());
  }

  @Test
  void whatIsInUseStays() {
    QueuePair target = target();
    refused(Errno.EBUSY, "is used by", b.xrcd::destroy);
    refused(Errno.EBUSY, "is used by", b.cq::destroy);
    refused(Errno.EBUSY, "is used by", b.pd::destroy);
    target.destroy();
    refused(Errno.EBUSY, "is used by", b.xrcd::destroy);
    b.srq.destroy();
    b.xrcd.destroy();
    b.cq.destroy();
    assertTrue(a.context.attributes().has(DeviceCapability.XRC));
  }

  @Test
  void withTheBuilder() {
    target();
    b.post(1);
    WorkRequestBuilder builder = a.qp.workRequests();
    builder.start();
    builder.wrId(20);
    builder.flags(SendFlag.SIGNALED);
    builder.send();
    builder.setXrcSrqn(b.srq.srqNumber());
    builder.setInlineData(MemorySegment.ofArray(new byte[] {1, 2, 3}));
    builder.rdmaWrite(b.region.rkey(), b.region.address() + 64);
    builder.setXrcSrqn(b.srq.srqNumber());
    builder.setInlineData(MemorySegment.ofArray(new byte[] {9, 8}));
    builder.complete();
    success(a.cq);
    success(a.cq);
    assertEquals(3, success(b.cq).byteLength());
    assertEquals(2, b.memory.memory.get(ValueLayout.JAVA_BYTE, 1));
    assertEquals(0x0809, b.memory.memory.get(ValueLayout.JAVA_SHORT, 64));
    builder.start();
    builder.send();
    refused(Errno.EINVAL, "setXrcSrqn() was not called", builder::complete);
    builder.start();
    builder.send();
    builder.setXrcSrqn(0);
    refused(Errno.EINVAL, "not between 1 and 0xffffff", builder::complete);
    WorkRequestBuilder other = b.memory.qp.workRequests();
    b.memory.connect(a.memory, PathMtu.MTU_1024);
    other.start();
    other.send();
    other.setXrcSrqn(1);
    refused(Errno.EINVAL, "type XRC_INI", other::complete);
  }

  @Test
  void postingRules() {
    QueuePair target = target();
    refused(Errno.EINVAL, "not between 1 and 0xffffff", () -> a.qp.postSend(send(1, WrOpcode.SEND, 0)));
    refused(Errno.EINVAL, "not between 1 and 0xffffff", () -> a.qp.postSend(send(1, WrOpcode.SEND, 1 << 24)));
    refused(Errno.EINVAL, "it has no receives", () -> a.qp.postReceive(new ReceiveWorkRequest()));
    assertThrows(PostException.class, () -> target.postSend(new SendWorkRequest()));
    assertThrows(PostException.class, () -> target.postReceive(new ReceiveWorkRequest()));
    refused(Errno.EINVAL, "no send queue", target::workRequests);
  }

  @Test
  void severalUsersShareOneConnection() {
    target();
    Receiver c = new Receiver("shared");
    assertEquals(b.xrcd.number(), c.xrcd.number());
    b.post(1);
    c.post(2);
    a.qp.postSend(send(10, WrOpcode.SEND, c.srq.srqNumber()));
    a.qp.postSend(send(11, WrOpcode.SEND, b.srq.srqNumber()));
    success(a.cq);
    success(a.cq);
    assertEquals(1, success(b.cq).wrId());
    assertEquals(2, success(c.cq).wrId());
    c.memory.close();
    c.context.close();
    a.qp.postSend(send(12, WrOpcode.SEND, c.srq.srqNumber()));
    assertEquals(WcStatus.REM_INV_REQ_ERR, next(a.cq).status(), "its queue is gone");
  }

  @Test
  void aQueueOfAnotherDomainIsNotReached() {
    target();
    Receiver c = new Receiver("another");
    assertNotEquals(b.xrcd.number(), c.xrcd.number());
    c.post(2);
    a.qp.postSend(send(10, WrOpcode.SEND, c.srq.srqNumber()));
    assertEquals(WcStatus.REM_INV_REQ_ERR, next(a.cq).status());
    c.memory.close();
  }

  @Test
  void memoryIsOfTheDomainOfTheQueue() {
    target();
    Receiver c = new Receiver("shared");
    a.qp.postSend(send(10, WrOpcode.RDMA_WRITE, c.srq.srqNumber()));
    assertEquals(WcStatus.REM_ACCESS_ERR, next(a.cq).status(), "the key is of another protection domain");
    c.memory.close();
  }

  @Test
  void aTargetLivesUntilItsLastHandle() {
    QueuePair target = target();
    Context other = right.open();
    XrcDomain xrcd = other.openXrcd("shared");
    QueuePair opened = xrcd.openQp(target.number(), "me");
    assertEquals(target.number(), opened.number());
    assertEquals("me", opened.userContext());
    assertEquals(QpState.RTR, opened.state());
    assertEquals(a.qp.number(), opened.query().destQpNumber());
    refused(Errno.EBUSY, "is used by QP", xrcd::destroy);
    opened.modify(new QpAttributes().state(QpState.RTS).sqPsn(7).timeout(14));
    assertEquals(QpState.RTS, target.state(), "one state for all handles");
    target.destroy();
    b.post(1);
    a.qp.postSend(send(10, WrOpcode.SEND, b.srq.srqNumber()));
    success(a.cq);
    assertEquals(1, success(b.cq).wrId());
    opened.modify(new QpAttributes().state(QpState.ERR));
    assertEquals(AsyncEventType.QP_LAST_WQE_REACHED, eventOf(other).type());
    other.close();
    refused(Errno.EINVAL, "has no target queue pair", () -> b.xrcd.openQp(target.number(), null));
    Context late = right.open();
    assertEquals(0, count(late, QpType.XRC_TGT));
  }

  private static AsyncEvent eventOf(Context context) {
    AsyncEvent event = context.getAsyncEvent(WAIT);
    while (event.type() == AsyncEventType.COMM_EST) {
      event = context.getAsyncEvent(WAIT);
    }
    return event;
  }

  private static long count(Context context, QpType type) {
    return context.device().resources().queuePairs().stream().filter(qp -> qp.type() == type).count();
  }

  @Test
  void eventsGoToEveryHandle() {
    QueuePair target = target();
    Context other = right.open();
    QueuePair opened = other.openXrcd("shared").openQp(target.number(), null);
    a.qp.postSend(send(10, WrOpcode.SEND, 5));
    assertEquals(WcStatus.REM_INV_REQ_ERR, next(a.cq).status());
    AsyncEvent here = eventOf(b.context);
    assertEquals(AsyncEventType.QP_LAST_WQE_REACHED, here.type());
    assertSame(target, here.element());
    AsyncEvent there = eventOf(other);
    assertSame(opened, there.element());
    assertEquals(AsyncEventType.QP_ACCESS_ERR, eventOf(b.context).type());
    assertEquals(AsyncEventType.QP_ACCESS_ERR, eventOf(other).type());
    assertEquals(QpState.ERR, opened.state());
  }

  @Test
  void aRemovalFlushesBothSides() {
    QueuePair target = target();
    b.post(1);
    right.remove();
    a.qp.postSend(send(10, WrOpcode.SEND, b.srq.srqNumber()));
    left.remove();
    assertEquals(WcStatus.WR_FLUSH_ERR, next(a.cq).status());
    target.destroy();
    b.srq.destroy();
    b.xrcd.destroy();
  }
}
