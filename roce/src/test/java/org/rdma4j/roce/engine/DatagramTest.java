package org.rdma4j.roce.engine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Route;
import org.rdma4j.roce.packet.Deth;
import org.rdma4j.roce.packet.Grh;
import org.rdma4j.roce.packet.Opcode;

/** Datagrams: network header, keys, lengths. */
class DatagramTest extends EngineTest {
  private static final int QKEY = 0x1234;

  private final TestMemory source = a.memory(1 << 14);
  private final TestMemory target = b.memory(1 << 14);
  private final TestQp[] qp = world.pair(QpKind.UD);
  private final Route route = a.routeTo(b);

  private Post send(long id, int length) {
    return Post.send(id).local(source, 0, length).to(route, qp[1].number(), QKEY);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 100, 1024, 4095, 4096})
  void datagramOfAnyLength(int length) {
    fill(source, 1);
    receives(qp[1], 1, target, 40 + 4096);
    qp[0].post(send(1, length).solicited());
    world.run();
    assertDone(qp[0].sends, 1);
    assertDone(qp[1].received, 100);
    Done receive = qp[1].received.getFirst();
    assertEquals(40 + length, receive.byteLength());
    assertEquals(qp[0].number(), receive.sourceQp());
    assertEquals(Completion.GRH, receive.flags());
    assertTrue(receive.solicited());
    assertSame(source, 0, target, 40, length);
    assertEquals(0, b.link.sent);
    assertIdle();
  }

  @Test
  void theNetworkHeaderOfIpv4LiesBeforeTheData() {
    receives(qp[1], 1, target, 200);
    Route marked = a.link.route(a.gid, b.gid, 0x2e, 0, 17);
    qp[0].post(Post.send(1).local(source, 0, 30).to(marked, qp[1].number(), QKEY));
    world.run();
    assertUntouched(target, 0, 20);
    assertEquals(4, Grh.version(target.segment, 0));
    assertEquals(a.gid, Grh.source(target.segment, 0));
    assertEquals(b.gid, Grh.destination(target.segment, 0));
    assertEquals(0x2e, Grh.trafficClass(target.segment, 0));
    assertEquals(17, Grh.hopLimit(target.segment, 0));
    int total = (target.segment.get(JAVA_BYTE, 22) & 0xff) << 8 | target.segment.get(JAVA_BYTE, 23) & 0xff;
    // IP and UDP header, BTH and DETH, data and pad, ICRC.
    assertEquals(20 + 8 + 20 + 32 + 4, total);
  }

  @Test
  void theNetworkHeaderOfIpv6LiesBeforeTheData() {
    try (var six =
        new TestWorld(1, EngineConfig.ofPortMtu(4096), Gid.parse("fe80::1"), Gid.parse("fe80::2"))) {
      TestQp[] pair = six.pair(QpKind.UD);
      TestMemory buffer = six.b.memory(4096);
      receives(pair[1], 1, buffer, 200);
      Route marked = six.a.link.route(six.a.gid, six.b.gid, 0x2e, 0xabcde, 17);
      pair[0].post(Post.send(1).local(six.a.memory(64), 0, 30).to(marked, pair[1].number(), QKEY));
      six.run();
      assertDone(pair[1].received, 100);
      assertEquals(6, Grh.version(buffer.segment, 0));
      assertEquals(six.a.gid, Grh.source(buffer.segment, 0));
      assertEquals(six.b.gid, Grh.destination(buffer.segment, 0));
      assertEquals(0x2e, Grh.trafficClass(buffer.segment, 0));
      assertEquals(0xabcde, Grh.flowLabel(buffer.segment, 0));
      assertEquals(17, Grh.hopLimit(buffer.segment, 0));
      int payload = (buffer.segment.get(JAVA_BYTE, 4) & 0xff) << 8 | buffer.segment.get(JAVA_BYTE, 5) & 0xff;
      assertEquals(8 + 20 + 32 + 4, payload);
      six.checkQuiet();
    }
  }

  @Test
  void immediate() {
    receives(qp[1], 1, target, 200);
    qp[0].post(
        Post.of(1, WorkOpcode.SEND_WITH_IMM).immediate(0xabad1dea).to(route, qp[1].number(), QKEY));
    world.run();
    assertEquals(0xabad1dea, qp[1].received.getFirst().immediate());
    assertEquals(Completion.GRH | Completion.WITH_IMMEDIATE, qp[1].received.getFirst().flags());
  }

  @Test
  void wrongQkeyIsCountedAndDropped() {
    receives(qp[1], 1, target, 200);
    qp[0].post(Post.send(1).local(source, 0, 8).to(route, qp[1].number(), QKEY + 1));
    world.run();
    assertDone(qp[0].sends, 1);
    assertEquals(1, b.count(EngineCounter.BAD_QKEY));
    assertEquals(1, qp[1].receives.size());
  }

  @Test
  void aQkeyWithTheTopBitMeansTheOwn() {
    receives(qp[1], 1, target, 200);
    qp[0].post(Post.send(1).local(source, 0, 8).to(route, qp[1].number(), 0x8765_4321));
    world.run();
    assertDone(qp[1].received, 100);
  }

  @Test
  void theGeneralServicesQueuePairHasItsOwnKey() {
    TestQp[] gsi = world.pair(QpKind.GSI);
    receives(gsi[1], 2, target, 200);
    int[] key = {0};
    a.link.filter(
        (packet, at, length) -> {
          key[0] = Deth.qkey(packet, at + Opcode.dethOffset(Opcode.UD_SEND_ONLY));
          return TestLink.Fate.PASS;
        });
    gsi[0].post(Post.send(1).local(source, 0, 8).to(route, 1, 5));
    world.run();
    assertEquals(0x8001_0000, key[0]);
    assertDone(gsi[1].received, 100);
    assertEquals(1, gsi[1].received.getFirst().sourceQp());
    qp[0].post(Post.send(1).local(source, 0, 8).to(route, 1, QKEY));
    world.run();
    assertEquals(1, b.count(EngineCounter.BAD_QKEY));
  }

  @Test
  void noSuchQueuePair() {
    qp[0].post(Post.send(1).local(source, 0, 8).to(route, 0x77777, QKEY), send(2, 8));
    receives(qp[1], 1, target, 200);
    world.run();
    assertDone(qp[0].sends, 1, 2);
    assertEquals(1, b.count(EngineCounter.DROPPED_NO_QP));
    assertDone(qp[1].received, 100);
  }

  @Test
  void longerThanThePortCarriesCompletesAndSendsNothing() {
    qp[0].post(send(1, 4097), send(2, 5000).unsignaled(), send(3, 8));
    receives(qp[1], 1, target, 200);
    world.run();
    assertDone(qp[0].sends, 1, 3);
    assertEquals(1, a.link.sent);
    assertIdle();
  }

  @Test
  void withoutAReceiveOrWithAShortOneItIsDropped() {
    qp[0].post(send(1, 8));
    world.run();
    assertEquals(1, b.count(EngineCounter.DROPPED_NO_RECEIVE));
    receives(qp[1], 1, target, 50);
    qp[0].post(send(2, 11), send(3, 10));
    world.run();
    assertEquals(2, b.count(EngineCounter.DROPPED_NO_RECEIVE));
    assertDone(qp[1].received, 100);
    assertEquals(50, qp[1].received.getFirst().byteLength());
  }

  @Test
  void withoutAnAddressHandleTheRequestFails() {
    qp[0].post(Post.send(1).local(source, 0, 8).to(null, 5, 5), send(2, 8));
    world.run();
    assertFailed(qp[0].sends.getFirst(), 1, CompletionStatus.LOCAL_QP_OPERATION_ERROR, FailedCheck.ADDRESS_HANDLE);
    assertFlushed(qp[0].sends, 1, 2);
  }

  @Test
  void oneQueuePairTalksToMany() {
    TestQp third = b.queuePair(QpKind.UD);
    world.prepare(third, qp[0], settings -> settings.qkey = 0x99);
    third.modify(TransportState.INIT);
    third.modify(TransportState.RTR);
    receives(qp[1], 2, target, 100);
    receives(third, 2, target, 100);
    qp[0].post(
        send(1, 8), Post.send(2).local(source, 0, 8).to(route, third.number(), 0x99), send(3, 8));
    world.run();
    assertDone(qp[1].received, 100, 101);
    assertDone(third.received, 100);
    assertEquals(List.of(QpEvent.COMMUNICATION_ESTABLISHED), third.events);
  }

  @Test
  void readsAndWritesAreNotForDatagrams() {
    qp[0].post(Post.write(1, target, 0).local(source, 0, 8));
    world.run();
    assertFailed(qp[0].sends.getFirst(), 1, CompletionStatus.LOCAL_QP_OPERATION_ERROR, FailedCheck.OPCODE);
  }

  @Test
  void theOwnReceiveThatIsWrongEndsTheQueuePair() {
    qp[1].receives.post(100, b.register(target.segment, TestPort.PD, 0), 0, 100);
    receives(qp[1], 1, target, 100);
    qp[0].post(send(1, 8));
    world.run();
    assertFailed(
        qp[1].received.getFirst(), 100, CompletionStatus.LOCAL_PROTECTION_ERROR, FailedCheck.LOCAL_WRITE_ACCESS);
    assertFlushed(qp[1].received, 1, 100);
    assertState(TransportState.ERR, qp[1]);
  }
}
