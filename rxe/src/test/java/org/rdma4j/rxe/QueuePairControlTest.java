package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

class QueuePairControlTest {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private TestLink link;
  private End a;
  private End b;

  @BeforeEach
  void open() {
    link = TestLink.open("rxe0");
    a = new End(link, QpType.RC, 4096);
    b = new End(link, QpType.RC, 4096);
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    link.close();
  }

  private void connect() {
    a.connect(b, PathMtu.MTU_1024);
    b.connect(a, PathMtu.MTU_1024);
  }

  private void exchange() {
    b.qp.postReceive(new ReceiveWorkRequest().addSge(b.region.address(), 2000, b.region.lkey()));
    a.qp.postSend(
        new SendWorkRequest().flags(SendFlag.SIGNALED).addSge(a.region.address(), 2000, a.region.lkey()));
    a.nextSuccess();
    b.nextSuccess();
  }

  @Test
  void queryGivesWhatWasAskedForAndWhereTheTransportIs() {
    connect();
    QpAttributes found = a.qp.query();
    assertEquals(QpState.RTS, found.state());
    assertEquals(PathMtu.MTU_1024, found.pathMtu());
    assertEquals(b.qp.number(), found.destQpNumber());
    assertEquals(0x12_3456, found.rqPsn());
    assertEquals(0x12_3456, found.sqPsn());
    assertEquals(4, found.maxRdAtomic());
    assertEquals(4, found.maxDestRdAtomic());
    assertEquals(20, found.timeout());
    assertEquals(7, found.retryCount());
    assertEquals(1, found.minRnrTimer());
    assertEquals(1, found.port());
    Set<Access> rights =
        Set.of(
            Access.REMOTE_WRITE,
            Access.REMOTE_READ,
            Access.REMOTE_ATOMIC,
            Access.FLUSH_GLOBAL,
            Access.FLUSH_PERSISTENT);
    assertEquals(rights, found.access());
    assertEquals(link.gid, found.addressVector().destinationGid());
    assertEquals(a.qp.capabilities(), found.capabilities());
    assertFalse(found.sqDraining());
    exchange();
    assertEquals(0x12_3458, a.qp.query().sqPsn(), "two packets were sent");
    assertEquals(0x12_3458, b.qp.query().rqPsn(), "two packets were received");
  }

  @Test
  void responderDepthIsAcceptedAsLinuxRoundsIt() {
    a.init();
    a.qp.modify(
        new QpAttributes()
            .state(QpState.RTR)
            .addressVector(new AhAttributes(1, link.gid, a.sgidIndex()))
            .destQpNumber(5)
            .pathMtu(PathMtu.MTU_256)
            .rqPsn(0)
            .maxDestRdAtomic(3)
            .minRnrTimer(0));
    assertEquals(3, a.qp.query().maxDestRdAtomic());
    int accepted =
        link.device.engine().call(() -> ((RxeQueuePair) a.qp).transport().settings().maxDestinationReadAtomic);
    assertEquals(4, accepted);
  }

  @Test
  void firstPacketInRtrIsAnEvent() {
    a.connect(b, PathMtu.MTU_1024);
    b.init();
    b.qp.postReceive(new ReceiveWorkRequest());
    b.qp.modify(
        new QpAttributes()
            .state(QpState.RTR)
            .addressVector(new AhAttributes(1, link.gid, b.sgidIndex()))
            .destQpNumber(a.qp.number())
            .pathMtu(PathMtu.MTU_1024)
            .rqPsn(0x12_3456)
            .maxDestRdAtomic(1)
            .minRnrTimer(1));
    a.qp.postSend(new SendWorkRequest().flags(SendFlag.SIGNALED));
    a.nextSuccess();
    b.nextSuccess();
    assertEquals(AsyncEventType.COMM_EST, b.context.getAsyncEvent(WAIT).type());
  }

  @Test
  void aDrainEndsWithItsEventAndGoesOn() {
    connect();
    exchange();
    a.qp.modify(new QpAttributes().state(QpState.SQD).sqdAsyncNotify(true));
    assertEquals(AsyncEventType.SQ_DRAINED, a.context.getAsyncEvent(WAIT).type());
    a.qp.postSend(new SendWorkRequest().wrId(5).flags(SendFlag.SIGNALED));
    assertEquals(0, a.cq.poll(WorkCompletion.batch(1)), "nothing new is begun");
    b.qp.postReceive(new ReceiveWorkRequest());
    a.qp.modify(new QpAttributes().state(QpState.RTS));
    assertEquals(5, a.nextSuccess().wrId());
    b.nextSuccess();
  }

  @Test
  void aRemoteKeyErrorEndsBothSides() {
    connect();
    b.qp.postReceive(new ReceiveWorkRequest().wrId(9));
    a.qp.postSend(
        new SendWorkRequest()
            .wrId(3)
            .opcode(WrOpcode.RDMA_WRITE)
            .remoteAddress(b.region.address())
            .rkey(b.region.rkey() ^ 1)
            .addSge(a.region.address(), 8, a.region.lkey()));
    WorkCompletion failed = a.next();
    assertEquals(WcStatus.REM_ACCESS_ERR, failed.status());
    assertNotEquals(0, failed.vendorError());
    assertEquals(QpState.ERR, a.qp.state());
    WorkCompletion flushed = b.next();
    assertEquals(9, flushed.wrId());
    assertEquals(WcStatus.WR_FLUSH_ERR, flushed.status());
    assertEquals(AsyncEventType.QP_ACCESS_ERR, b.context.getAsyncEvent(WAIT).type());
    assertEquals(QpState.ERR, b.qp.query().state());
  }

  @Test
  void aClosedArenaTurnsAccessIntoProtectionErrors() {
    connect();
    Arena arena = Arena.ofShared();
    MemoryRegion gone = b.pd.registerMemory(arena.allocate(64), Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    arena.close();
    a.qp.postSend(
        new SendWorkRequest()
            .opcode(WrOpcode.RDMA_WRITE)
            .remoteAddress(gone.address())
            .rkey(gone.rkey())
            .addSge(a.region.address(), 8, a.region.lkey()));
    assertEquals(WcStatus.REM_ACCESS_ERR, a.next().status());
    End.reset(a, b, PathMtu.MTU_1024);
    Arena own = Arena.ofShared();
    MemoryRegion local = a.pd.registerMemory(own.allocate(64), Access.LOCAL_WRITE);
    own.close();
    a.qp.postSend(new SendWorkRequest().addSge(local.address(), 8, local.lkey()));
    WorkCompletion failed = a.next();
    assertEquals(WcStatus.LOC_PROT_ERR, failed.status());
    assertEquals(7, failed.vendorError(), "the memory has been released");
  }

  @Test
  void aResetQueuePairWorksAgain() {
    connect();
    for (int i = 0; i < 3; i++) {
      exchange();
      b.qp.postReceive(new ReceiveWorkRequest());
      End.reset(a, b, PathMtu.MTU_1024);
      assertEquals(0, b.cq.poll(WorkCompletion.batch(1)), "RESET forgets without completion");
    }
    exchange();
  }

  @Test
  void drainReturnsWhenEverythingIsThere() {
    connect();
    for (int i = 0; i < 10; i++) {
      a.qp.postReceive(new ReceiveWorkRequest().wrId(i));
    }
    a.qp.drain(WAIT);
    assertEquals(10, a.cq.poll(WorkCompletion.batch(16)));
  }

  @Test
  void routesThatDoNotExistAreRefused() {
    a.init();
    QpAttributes toRtr =
        new QpAttributes()
            .state(QpState.RTR)
            .addressVector(new AhAttributes(1, TestLink.gid("fe80::1"), a.sgidIndex()))
            .destQpNumber(5)
            .pathMtu(PathMtu.MTU_256)
            .rqPsn(0)
            .maxDestRdAtomic(1)
            .minRnrTimer(0);
    VerbsException e = assertThrows(VerbsException.class, () -> a.qp.modify(toRtr));
    assertEquals(Errno.EADDRNOTAVAIL, e.errno(), e.toString());
    assertEquals(QpState.INIT, a.qp.state());
  }

  @Test
  void numbersAreNotGivenAgainAtOnce() {
    int first = a.qp.number();
    var another = a.pd.createQp(new QpInitAttributes(QpType.UC).sendCq(a.cq).recvCq(a.cq));
    int number = another.number();
    another.destroy();
    int next = a.pd.createQp(new QpInitAttributes(QpType.UC).sendCq(a.cq).recvCq(a.cq)).number();
    assertTrue(first < number && number < next, first + " " + number + " " + next);
  }
}
