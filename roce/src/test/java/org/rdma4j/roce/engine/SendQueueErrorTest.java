package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What fails the send queue of an unreliable service, and how it goes on (IBA specification section 10.3.1). */
class SendQueueErrorTest extends EngineTest {
  private static final int QKEY = 0x1234;

  private final TestMemory source = a.memory(1 << 14);
  private final TestMemory target = b.memory(1 << 14);

  private Post send(long id, TestQp from, TestQp to) {
    return Post.send(id).local(source, 0, 8).to(from.port.routeTo(to.port), to.number(), QKEY);
  }

  private Post bad(long id, TestQp from, TestQp to) {
    return Post.send(id).sge(source.address(0), 8, 0x77).to(from.port.routeTo(to.port), to.number(), QKEY);
  }

  private static void assertSendQueueFailed(TestQp qp) {
    assertState(TransportState.SQE, qp);
    assertEquals(1, qp.sendErrors);
    assertEquals(0, qp.errors);
  }

  @ParameterizedTest
  @EnumSource(value = QpKind.class, names = {"UC", "UD"})
  void onlyTheSendQueueFailsAndGoesOn(QpKind kind) {
    TestQp[] qp = world.pair(kind);
    receives(qp[0], 3, source, 64);
    receives(qp[1], 5, target, 64);
    qp[0].post(send(1, qp[0], qp[1]), bad(2, qp[0], qp[1]).unsignaled(), send(3, qp[0], qp[1]).unsignaled());
    world.run();
    assertSendQueueFailed(qp[0]);
    assertDone(qp[0].sends.subList(0, 1), 1);
    assertFailed(qp[0].sends.get(1), 2, CompletionStatus.LOCAL_PROTECTION_ERROR, FailedCheck.LOCAL_KEY);
    assertFlushed(qp[0].sends, 2, 3);
    assertEquals(List.of(), qp[0].events, "the completion tells of it");
    qp[0].post(send(4, qp[0], qp[1]));
    world.run();
    assertFlushed(qp[0].sends, 2, 3, 4);
    qp[1].post(
        Post.send(9).local(target, 4096, 8).to(b.routeTo(a), qp[0].number(), QKEY));
    world.run();
    assertDone(qp[0].received, 100);
    assertEquals(2, qp[0].receives.size(), "receives are not flushed");
    qp[0].modify(TransportState.RTS);
    qp[0].post(send(5, qp[0], qp[1]));
    world.run();
    assertDone(qp[0].sends.subList(4, 5), 5);
    assertDone(qp[1].received, 100, 101);
    assertState(TransportState.RTS, qp[0]);
    assertIdle();
  }

  @Test
  void whatWasPostedToTheFailedQueueIsFlushedThoughItGoesOnAtOnce() {
    TestQp[] qp = world.pair(QpKind.UC);
    receives(qp[1], 2, target, 64);
    qp[0].post(bad(1, qp[0], qp[1]));
    world.run();
    qp[0].post(send(2, qp[0], qp[1]));
    qp[0].modify(TransportState.RTS);
    qp[0].post(send(3, qp[0], qp[1]));
    world.run();
    assertEquals(CompletionStatus.FLUSHED, qp[0].sends.get(1).status());
    assertDone(qp[0].sends.subList(2, 3), 3);
    assertDone(qp[1].received, 100);
  }

  @Test
  void everyLocalFailureOfAnUnreliableConnectionIsOfItsSendQueue() {
    List<Post> posts =
        List.of(
            Post.of(1, 77),
            Post.read(1, target, 0).local(source, 0, 8),
            Post.send(1).malformed(FailedCheck.WORK_REQUEST),
            Post.send(1).sge(source.address(0), 0x80_0001, source.key()));
    for (Post post : posts) {
      TestQp[] qp = world.pair(QpKind.UC);
      qp[0].post(post);
      world.run();
      assertSendQueueFailed(qp[0]);
      assertEquals(1, qp[0].sends.size());
    }
    TestQp[] qp = world.pair(QpKind.UC);
    qp[0].localAnswer = FailedCheck.BIND_RANGE;
    qp[0].post(Post.of(1, WorkOpcode.BIND_MW));
    world.run();
    assertSendQueueFailed(qp[0]);
    assertFailed(
        qp[0].sends.getFirst(), 1, CompletionStatus.MEMORY_WINDOW_BIND_ERROR, FailedCheck.BIND_RANGE);
  }

  @Test
  void aReliableConnectionFailsAsAWhole() {
    TestQp[] qp = world.pair(QpKind.RC);
    receives(qp[0], 1, source, 64);
    qp[0].post(bad(1, qp[0], qp[1]));
    world.run();
    assertState(TransportState.ERR, qp[0]);
    assertEquals(0, qp[0].sendErrors);
    assertFlushed(qp[0].received, 0, 100);
  }

  @Test
  void aMessageThatFailsInTheMiddleIsGivenUp() {
    TestQp[] qp = world.pair(QpKind.UC, settings -> settings.mtu = 256);
    receives(qp[1], 2, target, 1024);
    fill(source, 7);
    qp[0].post(Post.send(1).local(source, 0, 600).sge(source.address(0), 100, 0x77));
    world.run();
    assertSendQueueFailed(qp[0]);
    assertEquals(2, a.link.sent, "two packets had left");
    qp[0].modify(TransportState.RTS);
    qp[0].post(Post.send(2).local(source, 1000, 600));
    world.run();
    assertDone(qp[0].sends.subList(1, 2), 2);
    assertDone(qp[1].received, 100);
    assertSame(source, 1000, target, 0, 600);
  }

  @Test
  void theFailureEndsADrainWithoutItsEvent() {
    TestQp[] qp = world.pair(
        QpKind.UC,
        settings -> {
          settings.mtu = 256;
          settings.notifyDrained = true;
        });
    a.link.refuse = 1;
    qp[0].post(Post.send(1).local(source, 0, 256).sge(source.address(0), 100, 0x77), Post.send(2));
    a.engine.doWork();
    qp[0].modify(TransportState.SQD);
    world.run();
    assertSendQueueFailed(qp[0]);
    assertFalse(qp[0].context.isDraining());
    assertEquals(List.of(), qp[0].events);
    assertFlushed(qp[0].sends, 1, 2);
  }

  @Test
  void fromTheFailedSendQueueToErrorAndToReset() {
    TestQp[] qp = world.pair(QpKind.UD);
    receives(qp[0], 1, source, 64);
    qp[0].post(bad(1, qp[0], qp[1]));
    world.run();
    qp[0].modify(TransportState.ERR);
    assertFlushed(qp[0].received, 0, 100);
    assertEquals(1, qp[0].sends.size());
    TestQp[] other = world.pair(QpKind.UC);
    other[0].post(bad(1, other[0], other[1]));
    world.run();
    other[0].modify(TransportState.RESET);
    other[1].modify(TransportState.RESET);
    world.connect(other[0], other[1], settings -> {});
    receives(other[1], 1, target, 64);
    other[0].post(send(2, other[0], other[1]));
    world.run();
    assertDone(other[1].received, 100);
  }

  @Test
  void lastWqeIsNoMatterOfTheSendQueue() {
    TestQp[] qp = {a.queuePair(QpKind.UC, new TestReceives(true), false), b.queuePair(QpKind.UC)};
    world.connect(qp[0], qp[1], settings -> {});
    qp[0].post(bad(1, qp[0], qp[1]));
    world.run();
    assertEquals(List.of(), qp[0].events);
    qp[0].modify(TransportState.ERR);
    assertEquals(List.of(QpEvent.LAST_WQE_REACHED), qp[0].events);
  }
}
