package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.FlushPlacement;
import org.rdma4j.ib.core.verbs.FlushSelectivity;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

class PostingRulesTest {
  private TestLink link;
  private End end;

  @BeforeEach
  void open() {
    link = TestLink.open("rxe0");
  }

  @AfterEach
  void close() {
    if (end != null) {
      end.close();
    }
    link.close();
  }

  /** An end that is connected to a queue pair that does not exist, so that nothing it sends is answered. */
  private End unanswered(QpType type) {
    end = new End(link, type, 1000, new QpCapabilities(3, 3, 2, 2, 20));
    end.connect(link.gid, 0xff_ffff, PathMtu.MTU_1024);
    return end;
  }

  private PostException refused(SendWorkRequest wr, Errno errno, String text) {
    PostException e = assertThrows(PostException.class, () -> end.qp.postSend(wr));
    assertEquals(errno, e.errno());
    assertTrue(e.getMessage().contains(text), e.getMessage());
    return e;
  }

  @Test
  void sendsNeedRts() {
    end = new End(link, QpType.RC, 100);
    refused(new SendWorkRequest(), Errno.EINVAL, "the state is RESET");
    end.init();
    refused(new SendWorkRequest(), Errno.EINVAL, "the state is INIT");
  }

  @Test
  void receivesNeedInit() {
    end = new End(link, QpType.RC, 100);
    ReceiveWorkRequest wr = new ReceiveWorkRequest();
    PostException e = assertThrows(PostException.class, () -> end.qp.postReceive(wr));
    assertEquals(Errno.EINVAL, e.errno());
    assertSame(wr, e.badWorkRequest());
    end.init();
    end.qp.postReceive(wr);
  }

  @ParameterizedTest
  @EnumSource(value = QpType.class, names = {"RC", "UC", "UD"})
  void operationsAreThoseOfTheService(QpType type) {
    Set<WrOpcode> allowed =
        switch (type) {
          case RC ->
              EnumSet.of(
                  WrOpcode.SEND,
                  WrOpcode.SEND_WITH_IMM,
                  WrOpcode.SEND_WITH_INV,
                  WrOpcode.RDMA_WRITE,
                  WrOpcode.RDMA_WRITE_WITH_IMM,
                  WrOpcode.RDMA_READ,
                  WrOpcode.ATOMIC_CMP_AND_SWP,
                  WrOpcode.ATOMIC_FETCH_AND_ADD,
                  WrOpcode.ATOMIC_WRITE,
                  WrOpcode.FLUSH,
                  WrOpcode.LOCAL_INV,
                  WrOpcode.BIND_MW,
                  WrOpcode.REG_MR);
          case UC ->
              EnumSet.of(
                  WrOpcode.SEND,
                  WrOpcode.SEND_WITH_IMM,
                  WrOpcode.RDMA_WRITE,
                  WrOpcode.RDMA_WRITE_WITH_IMM,
                  WrOpcode.BIND_MW);
          default -> EnumSet.of(WrOpcode.SEND, WrOpcode.SEND_WITH_IMM);
        };
    unanswered(type);
    end.qp.modify(new QpAttributes().state(QpState.ERR));
    var handle = end.pd.createAh(new AhAttributes(1, link.gid, end.sgidIndex()));
    MemoryRegion fast = end.pd.allocateMr(1);
    MemoryWindow window = end.pd.allocateMw(MwType.TYPE_2);
    for (WrOpcode opcode : WrOpcode.values()) {
      SendWorkRequest wr =
          new SendWorkRequest()
              .regMr(fast, fast.rkey(), Set.of())
              .bindMw(window, window.rkey(), new MwBindInfo(end.region, end.region.address(), 8))
              .flush(end.region.rkey(), 0, 8, Set.of(FlushPlacement.GLOBAL), FlushSelectivity.RANGE)
              .opcode(opcode)
              .wrId(opcode.number())
              .ah(handle)
              .rkey(fast.rkey())
              .addSge(end.region.address(), 8, end.region.lkey());
      if (opcode == WrOpcode.ATOMIC_WRITE || opcode == WrOpcode.FLUSH) {
        wr.clearSges();
      }
      if (allowed.contains(opcode)) {
        end.qp.postSend(wr);
        WorkCompletion flushed = end.next();
        assertEquals(WcStatus.WR_FLUSH_ERR, flushed.status());
        assertEquals(opcode.number(), flushed.wrId());
      } else {
        assertSame(wr, refused(wr, Errno.EINVAL, "allowed are").badWorkRequest());
      }
    }
    handle.destroy();
  }

  @Test
  void aChainStopsAtTheFirstBadRequest() {
    unanswered(QpType.RC);
    SendWorkRequest third = new SendWorkRequest().wrId(3);
    SendWorkRequest second = new SendWorkRequest().wrId(2).next(third);
    second.addSge(0, 1, 1).addSge(0, 1, 1).addSge(0, 1, 1);
    SendWorkRequest first = new SendWorkRequest().wrId(1).next(second);
    assertSame(second, refused(first, Errno.EINVAL, "3 buffers; max_send_sge is 2").badWorkRequest());
    end.qp.modify(new QpAttributes().state(QpState.ERR));
    assertEquals(1, end.next().wrId());
    end.qp.postSend(third);
    assertEquals(3, end.next().wrId(), "the second and third were not posted");
  }

  @Test
  void aFullQueueNamesItsSize() {
    unanswered(QpType.RC);
    int capacity = end.qp.capabilities().maxSendWr();
    assertEquals(3, capacity);
    for (int i = 0; i < capacity; i++) {
      end.qp.postSend(new SendWorkRequest().wrId(i));
    }
    refused(new SendWorkRequest(), Errno.ENOMEM, "it holds 3 requests");
    end.qp.modify(new QpAttributes().state(QpState.ERR));
    for (int i = 0; i < capacity; i++) {
      assertEquals(i, end.next().wrId());
    }
    ReceiveWorkRequest wr = new ReceiveWorkRequest();
    end.qp.modify(new QpAttributes().state(QpState.RESET));
    end.init();
    for (int i = 0; i < end.qp.capabilities().maxRecvWr(); i++) {
      end.qp.postReceive(wr);
    }
    PostException e = assertThrows(PostException.class, () -> end.qp.postReceive(wr));
    assertEquals(Errno.ENOMEM, e.errno());
  }

  @Test
  void atomicsAreEightAlignedBytes() {
    unanswered(QpType.RC);
    SendWorkRequest wr = new SendWorkRequest().opcode(WrOpcode.ATOMIC_FETCH_AND_ADD).remoteAddress(12);
    wr.addSge(0, 8, 1);
    refused(wr, Errno.EINVAL, "no multiple of 8");
    refused(wr.remoteAddress(16).clearSges().addSge(0, 7, 1), Errno.EINVAL, "an atomic needs 8");
  }

  @Test
  void flushesAndAtomicWritesByTheirRules() {
    unanswered(QpType.RC);
    SendWorkRequest wr = new SendWorkRequest().atomicWrite(1, 12, 5);
    refused(wr, Errno.EINVAL, "no multiple of 8");
    refused(wr.atomicWrite(1, 16, 5).addSge(0, 8, 1), Errno.EINVAL, "ATOMIC_WRITE takes none");
    refused(wr.clearSges().flags(SendFlag.INLINE), Errno.EINVAL, "ATOMIC_WRITE takes none");
    Set<FlushPlacement> global = Set.of(FlushPlacement.GLOBAL);
    wr.flags(0).flush(1, 0, (1L << 31) + 1, global, FlushSelectivity.RANGE);
    refused(wr, Errno.EINVAL, "not between 0 and 2147483648");
    refused(wr.flush(1, 0, -1, global, FlushSelectivity.RANGE), Errno.EINVAL, "not between 0 and 2147483648");
    refused(wr.flush(1, 0, 8, Set.of(), FlushSelectivity.RANGE), Errno.EINVAL, "no placement type");
    refused(wr.flush(1, 0, 8, global, null), Errno.EINVAL, "no selectivity level");
    wr.flush(1, 0, 8, global, FlushSelectivity.RANGE).inlineData(MemorySegment.ofArray(new byte[8]));
    refused(wr, Errno.EINVAL, "FLUSH takes none");
    WorkRequestBuilder builder = end.qp.workRequests();
    builder.start();
    builder.atomicWrite(1, 4, 5);
    assertThrows(VerbsException.class, builder::complete);
    builder.start();
    builder.flush(1, 0, 8, Set.of(), FlushSelectivity.RANGE);
    assertThrows(VerbsException.class, builder::complete);
    builder.start();
    builder.flush(1, 0, 8, global, FlushSelectivity.RANGE);
    builder.setSge(1, 0, 8);
    VerbsException e = assertThrows(VerbsException.class, builder::complete);
    assertTrue(e.getMessage().contains("FLUSH, which takes none"), e.getMessage());
  }

  @Test
  void inlineDataIsBounded() {
    unanswered(QpType.RC);
    assertEquals(32, end.qp.capabilities().maxInlineData(), "the list of 2 elements has 32 bytes");
    SendWorkRequest wr = new SendWorkRequest().inlineData(MemorySegment.ofArray(new byte[33]));
    refused(wr, Errno.EINVAL, "max_inline_data is 32");
    wr.inlineData(MemorySegment.ofArray(new byte[8])).opcode(WrOpcode.RDMA_READ);
    refused(wr, Errno.EINVAL, "carries no inline data");
    wr.opcode(WrOpcode.SEND).addSge(0, 1, 1);
    refused(wr, Errno.EINVAL, "one of both");
    wr.inlineData(null).flags(SendFlag.INLINE);
    refused(wr, Errno.EFAULT, "not inside the memory region");
    try (Arena arena = Arena.ofShared()) {
      wr.clearSges().inlineData(arena.allocate(8));
    }
    refused(wr, Errno.EFAULT, "cannot be read");
  }

  @Test
  void datagramsNeedAHandleOfTheDevice() {
    unanswered(QpType.UD);
    refused(new SendWorkRequest(), Errno.EINVAL, "a datagram needs one of this device");
    try (TestLink other = TestLink.open("rxe1");
        End foreign = new End(other, QpType.UD, 100)) {
      var handle = foreign.pd.createAh(new AhAttributes(1, other.gid, foreign.sgidIndex()));
      refused(new SendWorkRequest().ah(handle), Errno.EINVAL, "a datagram needs one of this device");
    }
    var handle = end.pd.createAh(new AhAttributes(1, link.gid, end.sgidIndex()));
    refused(new SendWorkRequest().ah(handle).remoteQpn(1 << 24), Errno.EINVAL, "exceeds 24 bits");
  }

  @Test
  void handlesOfAnotherProtectionDomainFailTheRequest() {
    unanswered(QpType.UD);
    var foreign = end.context.allocatePd();
    var handle = foreign.createAh(new AhAttributes(1, link.gid, end.sgidIndex()));
    end.qp.postSend(new SendWorkRequest().wrId(4).ah(handle).remoteQpn(5));
    WorkCompletion failed = end.next();
    assertEquals(WcStatus.LOC_QP_OP_ERR, failed.status());
    assertEquals(0x0e, failed.vendorError());
    assertEquals(QpState.SQE, end.qp.state(), "who sees the completion sees the state");
  }

  @Test
  void aHandleMayGoOnceTheSendIsPosted() {
    try (End receiver = new End(link, QpType.UD, 1000)) {
      end = new End(link, QpType.UD, 1000);
      receiver.connect(end, PathMtu.MTU_1024);
      end.connect(receiver, PathMtu.MTU_1024);
      receiver.qp.postReceive(
          new ReceiveWorkRequest().addSge(receiver.region.address(), 100, receiver.region.lkey()));
      var handle = end.pd.createAh(new AhAttributes(1, link.gid, end.sgidIndex()));
      SendWorkRequest wr = new SendWorkRequest().ah(handle).remoteQpn(receiver.qp.number()).remoteQkey(End.QKEY);
      end.qp.postSend(wr);
      handle.destroy();
      receiver.nextSuccess();
    }
  }

  @Test
  void aBatchIsPostedWholeOrNotAtAll() {
    unanswered(QpType.RC);
    WorkRequestBuilder builder = end.qp.workRequests();
    builder.start();
    builder.send();
    builder.setSge(end.region.lkey(), end.region.address(), 8);
    builder.atomicFetchAdd(1, 4, 1);
    VerbsException e = assertThrows(VerbsException.class, builder::complete);
    assertEquals(Errno.EINVAL, e.errno());
    builder.start();
    for (int i = 0; i < 4; i++) {
      builder.send();
    }
    e = assertThrows(VerbsException.class, builder::complete);
    assertEquals(Errno.ENOMEM, e.errno());
    builder.start();
    builder.send();
    builder.abort();
    assertThrows(VerbsException.class, builder::complete, "no batch is open");
    end.qp.modify(new QpAttributes().state(QpState.ERR));
    end.qp.postSend(new SendWorkRequest().wrId(9));
    assertEquals(9, end.next().wrId(), "nothing of the batches was posted");
  }

  @Test
  void postingInErrorIsFlushedExactlyOnce() {
    unanswered(QpType.RC);
    end.qp.modify(new QpAttributes().state(QpState.ERR));
    for (int i = 0; i < 200; i++) {
      end.qp.postReceive(new ReceiveWorkRequest().wrId(i));
      WorkCompletion flushed = end.next();
      assertEquals(i, flushed.wrId());
      assertEquals(WcStatus.WR_FLUSH_ERR, flushed.status());
    }
    assertEquals(0, end.cq.poll(WorkCompletion.batch(4)));
  }
}
