package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.LinkException;
import org.rdma4j.roce.link.Route;
import org.rdma4j.roce.packet.Grh;

/** Datagrams to groups: who gets them and who does not. */
class MulticastTest extends EngineTest {
  private static final int QKEY = 0x1234;
  private static final int NOBODY = MulticastGroups.QP_NUMBER;
  private static final Gid GROUP = Gid.parse("::ffff:224.1.2.3");
  private static final Gid OTHER = Gid.parse("::ffff:224.1.2.4");

  private final TestMemory source = a.memory(1 << 12);
  private final TestMemory target = b.memory(1 << 14);
  private final TestQp[] qp = world.pair(QpKind.UD);
  private final Route route = a.link.route(a.gid, GROUP, 0, 0, 64);

  private TestQp member(TestPort port) {
    TestQp made = port.queuePair(QpKind.UD);
    world.prepare(made, qp[0], settings -> {});
    made.modify(TransportState.INIT);
    made.modify(TransportState.RTR);
    port.engine.groups().attach(GROUP, made.context);
    return made;
  }

  private void send(long id, int length) {
    qp[0].post(Post.send(id).local(source, 0, length).to(route, NOBODY, QKEY));
    world.run();
  }

  @Test
  void everyAttachedQueuePairOfEveryPortGetsIt() {
    fill(source, 1);
    TestMemory own = a.memory(1 << 12);
    List<TestQp> members = List.of(member(b), member(b), member(a));
    a.engine.groups().attach(GROUP, qp[0].context);
    receives(qp[0], 1, own, 1000);
    receives(members.get(0), 1, target, 1000);
    receives(members.get(1), 1, b.memory(1000), 1000);
    receives(members.get(2), 1, a.memory(1000), 1000);
    receives(qp[1], 1, target, 1000);
    send(1, 500);
    assertDone(qp[0].sends, 1);
    members.forEach(each -> assertDone(each.received, 100));
    // The sender is a member too, and nothing keeps its own packets from it.
    assertDone(qp[0].received, 100);
    assertTrue(qp[1].received.isEmpty());
    assertEquals(540, members.getFirst().received.getFirst().byteLength());
    assertEquals(qp[0].number(), members.getFirst().received.getFirst().sourceQp());
    assertEquals(GROUP, Grh.destination(target.segment, 0));
    assertEquals(a.gid, Grh.source(target.segment, 0));
    assertSame(source, 0, target, 40, 500);
    assertSame(source, 0, own, 40, 500);
  }

  @Test
  void keysStateAndReceivesAreEachMembersOwn() {
    TestQp good = member(b);
    TestQp otherQkey = member(b);
    TestQp otherPkey = member(b);
    TestQp withoutReceive = member(b);
    TestQp reset = member(b);
    otherQkey.context.settings().qkey = QKEY + 1;
    otherPkey.context.settings().pkey = 0x9999;
    reset.modify(TransportState.RESET);
    receives(good, 1, target, 200);
    receives(otherQkey, 1, target, 200);
    receives(otherPkey, 1, target, 200);
    send(1, 8);
    assertDone(good.received, 100);
    assertEquals(1, b.count(EngineCounter.BAD_QKEY));
    assertEquals(1, b.count(EngineCounter.BAD_PKEY));
    assertEquals(1, b.count(EngineCounter.DROPPED_NO_RECEIVE));
    assertEquals(1, b.count(EngineCounter.DROPPED_NO_QP));
    assertTrue(withoutReceive.received.isEmpty() && otherQkey.received.isEmpty() && otherPkey.received.isEmpty());
  }

  @Test
  void whoIsDetachedOrGoneGetsNothing() {
    TestQp first = member(b);
    TestQp second = member(b);
    receives(first, 3, target, 200);
    receives(second, 3, target, 200);
    send(1, 8);
    assertTrue(b.engine.groups().detach(GROUP, first.context));
    assertFalse(b.engine.groups().detach(GROUP, first.context));
    send(2, 8);
    b.engine.destroy(second.context);
    assertEquals(0, b.engine.groups().size());
    assertEquals(0, b.engine.groups().attachments());
    send(3, 8);
    assertDone(first.received, 100);
    assertDone(second.received, 100, 101);
    assertDone(qp[0].sends, 1, 2, 3);
    assertEquals(1, world.fabric.statistics().unreachable());
  }

  @Test
  void groupsAreCountedAndKeptApart() {
    MulticastGroups groups = b.engine.groups();
    TestQp first = member(b);
    groups.attach(GROUP, first.context);
    groups.attach(OTHER, first.context);
    groups.attach(OTHER, qp[1].context);
    assertEquals(2, groups.size());
    assertEquals(3, groups.attachments());
    assertEquals(1, groups.members(GROUP));
    assertEquals(2, groups.members(OTHER));
    receives(first, 2, target, 200);
    receives(qp[1], 2, target, 200);
    qp[0].post(
        Post.send(1).local(source, 0, 8).to(a.link.route(a.gid, OTHER, 0, 0, 64), NOBODY, QKEY));
    world.run();
    assertDone(first.received, 100);
    assertDone(qp[1].received, 100);
    send(2, 8);
    assertDone(first.received, 100, 101);
    assertDone(qp[1].received, 100);
  }

  @Test
  void aPacketForOneQueuePairThatCameToTheGroupIsDropped() {
    TestQp first = member(b);
    receives(first, 1, target, 200);
    qp[0].post(
        Post.send(1).local(source, 0, 8).to(route, first.number(), QKEY),
        Post.send(2).local(source, 0, 8).to(a.routeTo(b), NOBODY, QKEY));
    world.run();
    assertEquals(2, b.count(EngineCounter.DROPPED_NO_QP));
    assertTrue(first.received.isEmpty());
  }

  @Test
  void aGroupThatTheLinkCannotJoinLeavesNothing() {
    Gid ipv6 = Gid.parse("ff0e::1");
    assertThrows(LinkException.class, () -> b.engine.groups().attach(ipv6, qp[1].context));
    assertEquals(0, b.engine.groups().size());
    assertEquals(0, b.engine.groups().attachments());
  }

  @Test
  void manyGroups() {
    MulticastGroups groups = b.engine.groups();
    for (int i = 0; i < 300; i++) {
      groups.attach(Gid.ofIpv4(0xe100_0000 + i), qp[1].context);
    }
    receives(qp[1], 40, target, 48);
    for (int i = 0; i < 300; i += 10) {
      Route to = a.link.route(a.gid, Gid.ofIpv4(0xe100_0000 + i), 0, 0, 64);
      qp[0].post(Post.send(i).local(source, 0, 8).to(to, NOBODY, QKEY));
    }
    world.run();
    assertEquals(30, qp[1].received.size());
    b.engine.destroy(qp[1].context);
    assertEquals(0, groups.attachments());
  }
}
