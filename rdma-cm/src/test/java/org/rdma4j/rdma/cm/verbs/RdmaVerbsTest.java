package org.rdma4j.rdma.cm.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Context;
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
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.ulp.provider.LoopPort;

/** Every call moves its bytes on a device in memory, and waiting misses nothing. */
@Timeout(60)
class RdmaVerbsTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int SIZE = 64;
  private static final int DEPTH = 16;
  private static final int GRH = 40;

  private final LoopPort port = new LoopPort("loop0", 1);
  private final Context context = port.device().open();
  private final ProtectionDomain domain = context.allocatePd();
  private final Arena arena = Arena.ofShared();
  private final RdmaCmId one = id(QpType.RC);
  private final RdmaCmId other = id(QpType.RC);
  private final MemorySegment bytes = arena.allocate(SIZE);
  private final MemorySegment buffer = arena.allocate(SIZE);
  private final WorkCompletion[] batch = WorkCompletion.batch(1);

  RdmaVerbsTest() {
    connect(one.qp(), other.qp());
    connect(other.qp(), one.qp());
    for (int i = 0; i < SIZE; i++) {
      bytes.set(ValueLayout.JAVA_BYTE, i, (byte) (i + 1));
    }
  }

  @AfterEach
  void close() {
    context.close();
    port.close();
    arena.close();
  }

  @Test
  void messageArrives() {
    MemoryRegion from = RdmaVerbs.registerMessages(one, bytes);
    MemoryRegion to = RdmaVerbs.registerMessages(other, buffer);
    assertEquals(Set.of(Access.LOCAL_WRITE), to.access());
    RdmaVerbs.postReceive(other, 7, buffer.asSlice(8, 16), to);
    RdmaVerbs.postSend(one, 8, bytes.asSlice(4, 10), from, SendFlag.SIGNALED);
    assertDone(one, true, 8, WcOpcode.SEND);
    assertDone(other, false, 7, WcOpcode.RECV);
    assertEquals(10, batch[0].byteLength());
    assertBytes(bytes.asSlice(4, 10), buffer.asSlice(8, 10));
  }

  @Test
  void messageOfPiecesArrivesInPieces() {
    MemoryRegion from = RdmaVerbs.registerMessages(one, bytes);
    MemoryRegion to = RdmaVerbs.registerMessages(other, buffer);
    RdmaVerbs.postReceivev(other, 1, Sge.of(buffer.asSlice(32, 5), to), Sge.of(buffer.asSlice(0, 20), to));
    Sge first = Sge.of(bytes.asSlice(0, 3), from);
    RdmaVerbs.postSendv(one, 2, SendFlag.SIGNALED, first, Sge.of(bytes.asSlice(3, 7), from));
    assertDone(other, false, 1, WcOpcode.RECV);
    assertBytes(bytes.asSlice(0, 5), buffer.asSlice(32, 5));
    assertBytes(bytes.asSlice(5, 5), buffer.asSlice(0, 5));
  }

  @Test
  void peersMemoryIsReadAndWritten() {
    MemoryRegion here = RdmaVerbs.registerMessages(one, bytes);
    MemoryRegion written = RdmaVerbs.registerWrite(other, buffer);
    assertEquals(EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE), written.access());
    RdmaVerbs.postWrite(one, 1, bytes.asSlice(0, 8), here, SendFlag.SIGNALED, buffer.address(), written.rkey());
    assertDone(one, true, 1, WcOpcode.RDMA_WRITE);
    assertBytes(bytes.asSlice(0, 8), buffer.asSlice(0, 8));
    Sge second = Sge.of(bytes.asSlice(10, 6), here);
    RdmaVerbs.postWritev(one, 2, SendFlag.SIGNALED, buffer.address() + 8, written.rkey(), second, second);
    assertDone(one, true, 2, WcOpcode.RDMA_WRITE);
    assertBytes(bytes.asSlice(10, 6), buffer.asSlice(14, 6));

    MemoryRegion read = RdmaVerbs.registerRead(other, buffer);
    assertEquals(EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ), read.access());
    RdmaVerbs.postRead(
        one, 3, bytes.asSlice(40, 6), here, SendFlag.SIGNALED, buffer.address() + 8, read.rkey());
    assertDone(one, true, 3, WcOpcode.RDMA_READ);
    assertBytes(buffer.asSlice(8, 6), bytes.asSlice(40, 6));
    RdmaVerbs.postReadv(one, 4, SendFlag.SIGNALED, buffer.address(), read.rkey(), Sge.of(bytes.asSlice(60, 4), here));
    assertDone(one, true, 4, WcOpcode.RDMA_READ);
    assertBytes(buffer.asSlice(0, 4), bytes.asSlice(60, 4));
  }

  @Test
  void datagramArrives() {
    RdmaCmId from = id(QpType.UD);
    RdmaCmId to = id(QpType.UD);
    MemoryRegion source = RdmaVerbs.registerMessages(from, bytes);
    MemoryRegion target = RdmaVerbs.registerMessages(to, buffer);
    RdmaVerbs.postReceive(to, 1, buffer, target);
    AddressHandle way = domain.createAh(new AhAttributes(1, port.gid(), 1));
    RdmaVerbs.postUdSend(from, 2, bytes.asSlice(0, 9), source, SendFlag.SIGNALED, way, to.qp().number());
    assertDone(to, false, 1, WcOpcode.RECV);
    assertEquals(GRH + 9, batch[0].byteLength());
    assertBytes(bytes.asSlice(0, 9), buffer.asSlice(GRH, 9));
  }

  /** The device in memory takes none; that the refused request takes nothing along is seen here, too. */
  @Test
  void inlineDataMayComeFromAnywhere() {
    byte[] heap = {1, 2, 3};
    var e =
        assertThrows(
            PostException.class,
            () -> RdmaVerbs.postSend(one, 2, MemorySegment.ofArray(heap), null, SendFlag.INLINE));
    assertArrayEquals(
        heap, ((SendWorkRequest) e.badWorkRequest()).inlineData().toArray(ValueLayout.JAVA_BYTE));
    RdmaVerbs.postReceivev(other, 4);
    RdmaVerbs.postSendv(one, 5, 0);
    assertDone(other, false, 4, WcOpcode.RECV);
    assertEquals(0, batch[0].byteLength());
  }

  @Test
  void pieceHasTheAddressThatItsRegionSays() {
    MemoryRegion region = domain.registerMemory(buffer, 0x1000, Set.of(Access.LOCAL_WRITE));
    assertEquals(new Sge(0x1008, 4, region.lkey()), Sge.of(buffer.asSlice(8, 4), region));
    RdmaVerbs.postReceive(other, 1, buffer.asSlice(8, 4), region);
    RdmaVerbs.postSend(one, 2, bytes.asSlice(2, 1), RdmaVerbs.registerMessages(one, bytes), 0);
    assertDone(other, false, 1, WcOpcode.RECV);
    assertBytes(bytes.asSlice(2, 1), buffer.asSlice(8, 1));
  }

  @Test
  void whatCannotBeIsRefusedAndThePostAfterItIsWhole() {
    MemoryRegion from = RdmaVerbs.registerMessages(one, bytes);
    MemoryRegion half = RdmaVerbs.registerMessages(other, buffer.asSlice(0, SIZE / 2));
    assertRefused(() -> RdmaVerbs.postReceive(other, 1, buffer, half));
    assertRefused(() -> RdmaVerbs.postReceive(other, 1, buffer.asSlice(SIZE / 2), half));
    assertRefused(() -> RdmaVerbs.postSend(one, 1, buffer, from, 0));
    assertRefused(() -> RdmaVerbs.postSend(one, 1, bytes, null, 0));
    assertRefused(() -> RdmaVerbs.postSend(one, 1, MemorySegment.ofArray(new byte[1]), from, 0));
    Sge piece = Sge.of(bytes.asSlice(0, 1), from);
    assertRefused(() -> RdmaVerbs.postSendv(one, 1, 0, piece, piece, piece, piece, piece));
    assertRefused(() -> RdmaVerbs.postSendv(fake(null), 1, 0));
    assertRefused(() -> RdmaVerbs.sendCompletion(fake(null), batch, Duration.ZERO));
    RdmaVerbs.postReceive(other, 2, buffer.asSlice(0, 2), half);
    RdmaVerbs.postSendv(one, 3, 0, piece);
    assertDone(other, false, 2, WcOpcode.RECV);
    assertEquals(1, batch[0].byteLength());
  }

  @Test
  void waitingEndsWithTheTime() {
    assertEquals(0, RdmaVerbs.sendCompletion(one, batch, Duration.ZERO));
    long start = System.nanoTime();
    assertEquals(0, RdmaVerbs.receiveCompletion(one, batch, Duration.ofMillis(50)));
    assertEquals(true, System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(50));
  }

  @Test
  void queueWithoutChannelIsNotWaitedFor() {
    var cq = context.createCq(DEPTH, null, 0);
    RdmaCmId quiet = fake(domain.createQp(attributes(QpType.RC).sendCq(cq).recvCq(cq)));
    assertRefused(() -> RdmaVerbs.receiveCompletion(quiet, batch, Duration.ZERO));
  }

  /** Messages come at every moment between the look into the queue and the sleep; a lost one ends the test. */
  @Test
  void noWakeUpIsLost() throws Exception {
    int rounds = 50_000;
    int moments = 64;
    AtomicInteger waiting = new AtomicInteger(-1);
    ExecutorService threads = Executors.newSingleThreadExecutor();
    try {
      Future<?> sender =
          threads.submit(
              () -> {
                for (int i = 0; i < rounds; i++) {
                  while (waiting.get() < i && !Thread.currentThread().isInterrupted()) {
                    Thread.onSpinWait();
                  }
                  for (int spins = i % moments; spins > 0; spins--) {
                    Thread.onSpinWait();
                  }
                  RdmaVerbs.postSendv(one, i, 0);
                }
              });
      for (int i = 0; i < rounds; i++) {
        RdmaVerbs.postReceivev(other, i);
        waiting.set(i);
        assertEquals(1, RdmaVerbs.receiveCompletion(other, batch, LIMIT), "a message came and nobody was told");
        assertEquals(i, batch[0].wrId());
      }
      sender.get();
    } finally {
      threads.shutdownNow();
    }
  }

  /** What was posted is completed as flushed and can be had, although arming and waiting end with the device. */
  @Test
  void removalGivesWhatWasPostedAndThenEnds() throws Exception {
    RdmaVerbs.postReceivev(one, 1);
    RdmaVerbs.postReceivev(one, 2);
    CompletableFuture<Integer> waiting =
        CompletableFuture.supplyAsync(() -> RdmaVerbs.receiveCompletion(one, batch, null));
    port.close();
    assertEquals(1, waiting.get());
    assertEquals(WcStatus.WR_FLUSH_ERR, batch[0].status());
    assertEquals(1, RdmaVerbs.receiveCompletion(one, batch, null));
    assertEquals(2, batch[0].wrId());
    var e = assertThrows(VerbsException.class, () -> RdmaVerbs.receiveCompletion(one, batch, null));
    assertEquals(Errno.EIO, e.errno());
  }

  @Test
  void interruptionEndsTheWait() {
    Thread.currentThread().interrupt();
    var e = assertThrows(VerbsException.class, () -> RdmaVerbs.receiveCompletion(one, batch, null));
    assertEquals(Errno.ECANCELED, e.errno());
    assertEquals(true, Thread.interrupted());
  }

  private void assertDone(RdmaCmId id, boolean send, long wrId, WcOpcode opcode) {
    int found =
        send ? RdmaVerbs.sendCompletion(id, batch, LIMIT) : RdmaVerbs.receiveCompletion(id, batch, LIMIT);
    assertEquals(1, found);
    assertEquals(WcStatus.SUCCESS, batch[0].status(), batch[0]::toString);
    assertEquals(wrId, batch[0].wrId());
    assertEquals(opcode, batch[0].opcode());
  }

  private static void assertRefused(Runnable call) {
    assertEquals(Errno.EINVAL, assertThrows(VerbsException.class, call::run).errno());
  }

  private static void assertBytes(MemorySegment expected, MemorySegment actual) {
    assertArrayEquals(expected.toArray(ValueLayout.JAVA_BYTE), actual.toArray(ValueLayout.JAVA_BYTE));
  }

  private QpInitAttributes attributes(QpType type) {
    return new QpInitAttributes(type)
        .sendCq(context.createCq(DEPTH, context.createCompletionChannel(), 0))
        .recvCq(context.createCq(DEPTH, context.createCompletionChannel(), 0))
        .capabilities(new QpCapabilities(DEPTH, DEPTH, 4, 4, 0));
  }

  private RdmaCmId id(QpType type) {
    QueuePair qp = domain.createQp(attributes(type));
    QpAttributes init = new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(1);
    if (type == QpType.UD) {
      qp.modify(init.qkey(RdmaVerbs.UDP_QKEY));
      qp.modify(new QpAttributes().state(QpState.RTR));
      qp.modify(new QpAttributes().state(QpState.RTS).sqPsn(0));
    } else {
      qp.modify(init.access(EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE)));
    }
    return fake(qp);
  }

  private void connect(QueuePair qp, QueuePair peer) {
    AhAttributes way = new AhAttributes(1, port.gid(), 1);
    QpAttributes rtr = new QpAttributes().state(QpState.RTR).addressVector(way).pathMtu(PathMtu.MTU_1024);
    qp.modify(rtr.destQpNumber(peer.number()).rqPsn(0).maxDestRdAtomic(1).minRnrTimer(12));
    QpAttributes rts = new QpAttributes().state(QpState.RTS).sqPsn(0).timeout(14).retryCount(7).rnrRetry(7);
    qp.modify(rts.maxRdAtomic(1));
  }

  /** An identifier that has this queue pair and its domain, and nothing else. */
  private RdmaCmId fake(QueuePair qp) {
    return (RdmaCmId)
        Proxy.newProxyInstance(
            RdmaCmId.class.getClassLoader(),
            new Class<?>[] {RdmaCmId.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "qp" -> qp;
                  case "domain" -> domain;
                  case "toString" -> "identifier of " + qp;
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }
}
