package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.DeviceCapability;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.Errno;
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
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.PathMtu;

/** Every operation between two cards, with every byte looked at. */
@Timeout(120)
class OperationsTest {
  private static final int BYTES = 100_000;
  private static final int GRH_BYTES = 40;
  private static TestHost left;
  private static TestHost right;

  @BeforeAll
  static void plug() {
    left = new TestHost();
    right = new TestHost();
  }

  @AfterAll
  static void unplug() {
    left.close();
    right.close();
  }

  private static SendWorkRequest send(End end, long id, int length) {
    SendWorkRequest wr = new SendWorkRequest().wrId(id).flags(SendFlag.SIGNALED);
    return wr.addSge(end.region.address(), length, end.region.lkey());
  }

  private static ReceiveWorkRequest receive(End end, long id, int length) {
    return new ReceiveWorkRequest().wrId(id).addSge(end.region.address(), length, end.region.lkey());
  }

  private static void check(WorkCompletion completion, long id, WcOpcode opcode) {
    assertEquals(WcStatus.SUCCESS, completion.status(), completion.toString());
    assertEquals(id, completion.wrId());
    assertEquals(opcode, completion.opcode());
  }

  @Test
  void sendsArrive() {
    for (QpType type : new QpType[] {QpType.RC, QpType.UC}) {
      try (End a = new End(left, type, BYTES);
          End b = new End(right, type, BYTES)) {
        a.connect(b, PathMtu.MTU_1024);
        b.connect(a, PathMtu.MTU_1024);
        b.qp.postReceive(receive(b, 7, BYTES));
        a.fill(0, BYTES, 1);
        a.qp.postSend(send(a, 8, BYTES).opcode(WrOpcode.SEND_WITH_IMM).immediate(0x1234_5678));
        WorkCompletion received = b.next();
        check(received, 7, WcOpcode.RECV);
        assertEquals(BYTES, received.byteLength());
        assertEquals(WcFlag.WITH_IMM, received.flags());
        assertEquals(0x1234_5678, received.immediate());
        check(a.next(), 8, WcOpcode.SEND);
        b.verify(0, BYTES, 1);
      }
    }
  }

  @Test
  void manySmallOnesGoRoundTheRing() {
    try (End a = new End(left, QpType.RC, BYTES);
        End b = new End(right, QpType.RC, BYTES)) {
      a.connect(b, PathMtu.MTU_4096);
      b.connect(a, PathMtu.MTU_4096);
      for (int i = 0; i < 500; i++) {
        a.fill(0, 48, i);
        b.qp.postReceive(receive(b, 1000 + i, 100));
        a.qp.postSend(send(a, i, 48).flags(SendFlag.SIGNALED | (i % 2 == 0 ? SendFlag.INLINE : 0)));
        check(b.next(), 1000 + i, WcOpcode.RECV);
        check(a.next(), i, WcOpcode.SEND);
        b.verify(0, 48, i);
      }
    }
  }

  @Test
  void memoryOfThePeerIsWrittenAndRead() {
    try (End a = new End(left, QpType.RC, BYTES);
        End b = new End(right, QpType.RC, BYTES)) {
      a.connect(b, PathMtu.MTU_4096);
      b.connect(a, PathMtu.MTU_4096);
      a.fill(0, BYTES, 3);
      a.qp.postSend(
          send(a, 1, BYTES)
              .opcode(WrOpcode.RDMA_WRITE)
              .remoteAddress(b.region.address())
              .rkey(b.region.rkey()));
      check(a.next(), 1, WcOpcode.RDMA_WRITE);
      b.verify(0, BYTES, 3);
      b.fill(0, BYTES, 4);
      a.qp.postSend(
          send(a, 2, BYTES).opcode(WrOpcode.RDMA_READ).remoteAddress(b.region.address()).rkey(b.region.rkey()));
      WorkCompletion read = a.next();
      check(read, 2, WcOpcode.RDMA_READ);
      assertEquals(BYTES, read.byteLength());
      a.verify(0, BYTES, 4);
    }
  }

  @Test
  void atomicsAnswerWithTheOldValue() {
    try (End a = new End(left, QpType.RC, 4096);
        End b = new End(right, QpType.RC, 4096)) {
      a.connect(b, PathMtu.MTU_4096);
      b.connect(a, PathMtu.MTU_4096);
      b.memory.set(ValueLayout.JAVA_LONG, 0, 40);
      SendWorkRequest atomic = send(a, 1, 8).remoteAddress(b.region.address()).rkey(b.region.rkey());
      a.qp.postSend(atomic.opcode(WrOpcode.ATOMIC_FETCH_AND_ADD).compareAdd(2));
      check(a.next(), 1, WcOpcode.FETCH_ADD);
      assertEquals(40, a.memory.get(ValueLayout.JAVA_LONG, 0));
      a.qp.postSend(atomic.opcode(WrOpcode.ATOMIC_CMP_AND_SWP).compareAdd(42).swap(7));
      check(a.next(), 1, WcOpcode.COMP_SWAP);
      assertEquals(42, a.memory.get(ValueLayout.JAVA_LONG, 0));
      assertEquals(7, b.memory.get(ValueLayout.JAVA_LONG, 0));
    }
  }

  @Test
  void datagramsBringTheirRoute() {
    try (End a = new End(left, QpType.UD, 4096);
        End b = new End(right, QpType.UD, 4096)) {
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      AddressHandle handle = a.pd.createAh(new AhAttributes(1, b.link.gid, a.sgidIndex()));
      b.qp.postReceive(receive(b, 3, 1024));
      a.fill(0, 500, 9);
      a.qp.postSend(send(a, 4, 500).ah(handle).remoteQpn(b.qp.number()).remoteQkey(End.QKEY));
      WorkCompletion received = b.next();
      check(received, 3, WcOpcode.RECV);
      assertEquals(500 + GRH_BYTES, received.byteLength());
      assertEquals(a.qp.number(), received.sourceQp());
      assertEquals(WcFlag.GRH, received.flags());
      b.verify(GRH_BYTES, 500, 9);
      check(a.next(), 4, WcOpcode.SEND);
      handle.close();
    }
  }

  @Test
  void membersOfAGroupReceive() {
    Gid group = Gid.parse("::ffff:239.1.2.3");
    try (End a = new End(left, QpType.UD, 4096);
        End b = new End(right, QpType.UD, 4096)) {
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      b.qp.attachMulticast(group, 0xc001);
      AddressHandle handle = a.pd.createAh(new AhAttributes(1, group, a.sgidIndex()));
      b.qp.postReceive(receive(b, 3, 1024));
      a.fill(0, 100, 6);
      a.qp.postSend(send(a, 4, 100).ah(handle).remoteQpn(0xff_ffff).remoteQkey(End.QKEY));
      check(a.next(), 4, WcOpcode.SEND);
      check(b.next(), 3, WcOpcode.RECV);
      b.verify(GRH_BYTES, 100, 6);
      b.qp.detachMulticast(group, 0xc001);
      handle.close();
    }
  }

  @Test
  void batchesAreBuiltInPlace() {
    try (End a = new End(left, QpType.RC, 4096);
        End b = new End(right, QpType.RC, 4096)) {
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      b.qp.postReceive(receive(b, 1, 100));
      a.fill(0, 64, 5);
      WorkRequestBuilder batch = a.qp.workRequests();
      batch.start();
      batch.wrId(10);
      batch.rdmaWrite(b.region.rkey(), b.region.address() + 200);
      batch.setSge(a.region.lkey(), a.region.address(), 64);
      batch.wrId(11);
      batch.flags(SendFlag.SIGNALED);
      batch.sendImm(77);
      batch.setInlineData(a.memory.asSlice(0, 50));
      batch.complete();
      check(a.next(), 11, WcOpcode.SEND);
      WorkCompletion received = b.next();
      check(received, 1, WcOpcode.RECV);
      assertEquals(77, received.immediate());
      b.verify(0, 50, 5);
      b.verify(200, 64, 5);
      batch.start();
      batch.send();
      batch.abort();
      b.qp.postReceive(receive(b, 2, 100));
      a.qp.postSend(send(a, 12, 20));
      check(a.next(), 12, WcOpcode.SEND);
      check(b.next(), 2, WcOpcode.RECV);
    }
  }

  @Test
  void sharedQueueServesTwo() {
    try (End a = new End(left, QpType.RC, 4096);
        End memory = new End(right, QpType.RC, 4096)) {
      ProtectionDomain pd = memory.pd;
      CompletionQueue cq = memory.context.createCq(64, null, 0);
      SharedReceiveQueue srq = pd.createSrq(new SrqInitAttributes(10, 1));
      QueuePair qp =
          pd.createQp(
              new QpInitAttributes(QpType.RC)
                  .sendCq(cq)
                  .recvCq(cq)
                  .srq(srq)
                  .capabilities(new QpCapabilities(4, 0, 1, 0, 0)));
      End.connect(qp, left.gid, memory.sgidIndex(), a.qp.number(), PathMtu.MTU_1024);
      a.connect(right.gid, qp.number(), PathMtu.MTU_1024);
      WorkCompletion[] got = WorkCompletion.batch(1);
      for (int i = 0; i < 40; i++) {
        srq.postReceive(receive(memory, i, 100));
        a.fill(0, 33, i);
        a.qp.postSend(send(a, i, 33));
        check(a.next(), i, WcOpcode.SEND);
        while (cq.poll(got) == 0) {
          Thread.onSpinWait();
        }
        check(got[0], i, WcOpcode.RECV);
        memory.verify(0, 33, i);
      }
      qp.close();
      srq.close();
      cq.close();
    }
  }

  @Test
  void failureFlushesWhatIsBehindIt() {
    try (End a = new End(left, QpType.RC, 4096);
        End b = new End(right, QpType.RC, 4096)) {
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      SendWorkRequest bad =
          send(a, 1, 8).opcode(WrOpcode.RDMA_WRITE).remoteAddress(b.region.address()).rkey(b.region.rkey() ^ 0x100);
      a.qp.postSend(bad.next(send(a, 2, 8)));
      assertEquals(WcStatus.REM_ACCESS_ERR, a.next().status());
      WorkCompletion flushed = a.next();
      assertEquals(WcStatus.WR_FLUSH_ERR, flushed.status());
      assertEquals(2, flushed.wrId());
      assertEquals(QpState.ERR, a.qp.state());
      a.qp.modify(new QpAttributes().state(QpState.RESET));
      b.qp.modify(new QpAttributes().state(QpState.RESET));
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      b.qp.postReceive(receive(b, 3, 100));
      a.qp.postSend(send(a, 4, 8));
      check(a.next(), 4, WcOpcode.SEND);
      check(b.next(), 3, WcOpcode.RECV);
    }
  }

  @Test
  void drainedQueuePairHasAllCompletions() {
    try (End a = new End(left, QpType.RC, 4096);
        End b = new End(right, QpType.RC, 4096)) {
      a.connect(b, PathMtu.MTU_1024);
      for (int i = 0; i < 5; i++) {
        a.qp.postReceive(receive(a, i, 100));
      }
      a.qp.drain(Duration.ofSeconds(10));
      for (int i = 0; i < 5; i++) {
        WorkCompletion flushed = a.next();
        assertEquals(WcStatus.WR_FLUSH_ERR, flushed.status());
        assertEquals(i, flushed.wrId());
      }
    }
  }

  @Test
  void fullQueueRefuses() {
    try (End a = new End(left, QpType.RC, 4096)) {
      End.init(a.qp);
      for (int i = 0; i < a.qp.capabilities().maxRecvWr(); i++) {
        a.qp.postReceive(receive(a, i, 100));
      }
      PostException full = assertThrows(PostException.class, () -> a.qp.postReceive(receive(a, 99, 100)));
      assertEquals(Errno.ENOMEM, full.errno());
      assertThrows(PostException.class, () -> a.qp.postSend(send(a, 1, 8)));
    }
  }

  @Test
  void armedQueueRaisesItsEvent() {
    try (End a = new End(left, QpType.RC, 4096);
        End b = new End(right, QpType.RC, 4096)) {
      CompletionChannel channel = b.context.createCompletionChannel();
      CompletionQueue cq = b.context.createCq(16, channel, 0);
      QueuePair qp =
          b.pd.createQp(
              new QpInitAttributes(QpType.RC)
                  .sendCq(cq)
                  .recvCq(cq)
                  .capabilities(new QpCapabilities(4, 4, 1, 1, 0)));
      End.connect(qp, left.gid, b.sgidIndex(), a.qp.number(), PathMtu.MTU_1024);
      a.connect(right.gid, qp.number(), PathMtu.MTU_1024);
      WorkCompletion[] got = WorkCompletion.batch(1);
      for (int i = 0; i < 5; i++) {
        qp.postReceive(receive(b, i, 100));
        cq.requestNotify(CqNotify.NEXT_COMP);
        a.qp.postSend(send(a, i, 8));
        assertEquals(cq, channel.getEvent(Duration.ofSeconds(20)));
        assertEquals(1, cq.poll(got));
        check(got[0], i, WcOpcode.RECV);
        check(a.next(), i, WcOpcode.SEND);
      }
      qp.close();
      cq.close();
      channel.close();
    }
  }

  @Test
  void saysWhatTheCardIs() {
    try (Context context = left.open()) {
      assertEquals(0x1019, context.device().attributes().vendorPartId());
      assertTrue(context.device().port(1).activeMtu().bytes() >= 1024);
      assertEquals(0xffff, context.device().pkey(1, 0));
      DeviceAttributes attributes = context.device().attributes();
      assertTrue(attributes.has(DeviceCapability.MEM_MGT_EXTENSIONS));
      assertTrue(attributes.has(DeviceCapability.MEM_WINDOW));
      assertTrue(attributes.has(DeviceCapability.MEM_WINDOW_TYPE_2B));
      assertEquals(65536, attributes.limit(DeviceLimit.MAX_FAST_REG_PAGE_LIST_LEN));
      assertEquals(attributes.limit(DeviceLimit.MAX_MR), attributes.limit(DeviceLimit.MAX_MW));
    }
  }
}
