package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Unreliable connections: a message arrives whole or not at all, and nobody is told. */
class UnreliableTransferTest extends EngineTest {
  private final TestMemory source = a.memory(1 << 15);
  private final TestMemory target = b.memory(1 << 15);

  private TestQp[] pair() {
    return world.pair(QpKind.UC, settings -> settings.mtu = 256);
  }

  @ParameterizedTest
  @ValueSource(ints = {256, 512, 1024, 2048, 4096})
  void everyOperationAndLength(int mtu) {
    TestQp[] qp = world.pair(QpKind.UC, settings -> settings.mtu = mtu);
    fill(source, mtu);
    for (int length : new int[] {0, 1, 4, mtu - 1, mtu, mtu + 1, 3 * mtu + 2}) {
      target.segment.fill((byte) 0);
      qp[0].sends.clear();
      qp[1].received.clear();
      qp[1].receives.post(100, target, 0, length);
      qp[1].receives.post(101, target, 0, length);
      qp[1].receives.postEmpty(102);
      qp[0].post(
          Post.send(1).local(source, 1, length).solicited(),
          Post.of(2, WorkOpcode.SEND_WITH_IMM).local(source, 1, length).immediate(22),
          Post.write(3, target, 1 << 14).local(source, 2, length),
          Post.of(4, WorkOpcode.RDMA_WRITE_WITH_IMM).remote(target, (1 << 14) + 1).local(source, 3, length)
              .immediate(44));
      world.run();
      assertDone(qp[0].sends, 1, 2, 3, 4);
      assertDone(qp[1].received, 100, 101, 102);
      assertEquals(List.of(length, length, length), qp[1].received.stream().map(Done::byteLength).toList());
      assertEquals(List.of(0, 22, 44), qp[1].received.stream().map(Done::immediate).toList());
      assertEquals(
          List.of(true, false, false), qp[1].received.stream().map(Done::solicited).toList());
      assertSame(source, 1, target, 0, length);
      assertSame(source, 3, target, (1 << 14) + 1, length);
    }
    assertEquals(0, b.link.sent);
    assertIdle();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void aMessageThatMissesAPacketIsGivenUpAndItsReceiveServesTheNext(int lost) {
    TestQp[] qp = pair();
    fill(source, 7);
    receives(qp[1], 2, target, 1024);
    a.link.filter(drop(lost, requests()));
    qp[0].post(Post.send(1).local(source, 0, 1024), Post.send(2).local(source, 5, 1000));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertDone(qp[1].received, 100);
    assertEquals(1000, qp[1].received.getFirst().byteLength());
    assertSame(source, 5, target, 0, 1000);
    assertEquals(1, qp[1].receives.size());
  }

  @Test
  void theEndOfALostMessageIsNotTakenForTheEndOfAnother() {
    TestQp[] qp = pair();
    receives(qp[1], 2, target, 1024);
    // Of FIRST, MIDDLE, LAST twice the packets between are lost: FIRST of one and LAST of the other remain.
    int[] seen = {0};
    a.link.filter((packet, at, length) -> {
      int index = seen[0]++;
      return index == 0 || index == 5 ? TestLink.Fate.PASS : TestLink.Fate.DROP;
    });
    qp[0].post(Post.send(1).local(source, 0, 768), Post.send(2).local(source, 0, 768));
    world.run();
    assertEquals(List.of(), qp[1].received);
  }

  @Test
  void aMessageWithoutAReceiveIsDropped() {
    TestQp[] qp = pair();
    qp[0].post(Post.send(1).local(source, 0, 1000));
    world.run();
    receives(qp[1], 1, target, 1024);
    qp[0].post(Post.send(2).local(source, 0, 900));
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertDone(qp[1].received, 100);
    assertEquals(900, qp[1].received.getFirst().byteLength());
  }

  @Test
  void aMessageLongerThanItsReceiveIsDropped() {
    TestQp[] qp = pair();
    receives(qp[1], 1, target, 600);
    qp[0].post(Post.send(1).local(source, 0, 601), Post.send(2).local(source, 0, 600));
    world.run();
    assertDone(qp[1].received, 100);
    assertEquals(600, qp[1].received.getFirst().byteLength());
    assertState(TransportState.RTS, qp[1]);
  }

  @Test
  void aWriteThatIsNotPermittedIsDroppedSilently() {
    TestQp[] qp = pair();
    TestMemory readOnly = b.register(target.segment, TestPort.PD, TestMemory.REMOTE_READ);
    TestMemory other = b.register(target.segment, 9, TestMemory.ALL);
    qp[0].post(
        Post.write(1, readOnly, 0).local(source, 0, 8),
        Post.write(2, other, 0).local(source, 0, 8),
        Post.of(3, WorkOpcode.RDMA_WRITE).remote(-1, target.key()).local(source, 0, 1000),
        Post.write(4, target, 8).local(source, 0, 8));
    fill(source, 1);
    world.run();
    assertDone(qp[0].sends, 1, 2, 3, 4);
    assertUntouched(target, 0, 8);
    assertSame(source, 0, target, 8, 8);
    qp[1].context.settings().access = TestMemory.REMOTE_READ;
    target.segment.fill((byte) 0);
    qp[0].post(Post.write(5, target, 8).local(source, 0, 8));
    world.run();
    assertUntouched(target, 0, 64);
    assertState(TransportState.RTS, qp[1]);
  }

  @Test
  void theOwnReceiveThatIsWrongEndsTheQueuePair() {
    TestQp[] qp = pair();
    TestMemory readOnly = b.register(target.segment, TestPort.PD, 0);
    qp[1].receives.post(100, readOnly, 0, 64);
    receives(qp[1], 1, target, 64);
    qp[0].post(Post.send(1).local(source, 0, 8));
    world.run();
    assertDone(qp[0].sends, 1);
    assertFailed(
        qp[1].received.getFirst(), 100, CompletionStatus.LOCAL_PROTECTION_ERROR, FailedCheck.LOCAL_WRITE_ACCESS);
    assertFlushed(qp[1].received, 1, 100);
    assertState(TransportState.ERR, qp[1]);
  }

  @Test
  void requestsThatTheServiceHasNotFail() {
    for (int opcode : new int[] {WorkOpcode.RDMA_READ, WorkOpcode.ATOMIC_FETCH_AND_ADD, WorkOpcode.SEND_WITH_INV}) {
      TestQp[] qp = pair();
      qp[0].post(Post.of(1, opcode).remote(target, 0).local(source, 0, 8), Post.send(2).local(source, 0, 8));
      world.run();
      assertFailed(qp[0].sends.getFirst(), 1, CompletionStatus.LOCAL_QP_OPERATION_ERROR, FailedCheck.OPCODE);
      assertFlushed(qp[0].sends, 1, 2);
    }
  }

  @Test
  void sequenceNumbersWrapAround() {
    TestQp[] qp =
        world.pair(
            QpKind.UC,
            settings -> {
              settings.mtu = 256;
              settings.sendPsn = 0xfffffe;
              settings.receivePsn = 0xfffffe;
            });
    receives(qp[1], 1, target, 2048);
    fill(source, 1);
    qp[0].post(Post.send(1).local(source, 0, 2000));
    world.run();
    assertDone(qp[1].received, 100);
    assertSame(source, 0, target, 0, 2000);
    assertEquals(6, qp[1].context.receivePsn());
  }

  @Test
  void errorFlushesBothQueues() {
    TestQp[] qp = pair();
    receives(qp[1], 2, target, 1024);
    a.link.filter(drop(1, requests()));
    qp[0].post(Post.send(1).local(source, 0, 1000));
    world.run();
    qp[1].modify(TransportState.ERR);
    qp[1].post(Post.send(2).local(target, 0, 8));
    world.run();
    assertFlushed(qp[1].received, 0, 100, 101);
    assertFlushed(qp[1].sends, 0, 2);
    assertIdle();
  }
}
