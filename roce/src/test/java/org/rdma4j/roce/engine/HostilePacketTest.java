package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.roce.link.Route;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.OpcodeFlag;

/**
 * A peer that sends what no peer should: nothing but the memory it may write changes, no exception leaves the engine,
 * and the engine goes on.
 */
class HostilePacketTest extends HostileTest {
  @ParameterizedTest
  @EnumSource(QpKind.class)
  void everyOpcodeWithEveryShortLengthAndPad(QpKind kind) {
    TestQp qp = victim(kind);
    for (int opcode = 0; opcode < 256; opcode++) {
      for (int length = 12; length <= 64; length += 4) {
        for (int pad = 0; pad < 4; pad++) {
          int psn = qp.context.receivePsn();
          byte[] bytes = Packets.cut(opcode, qp.number(), psn, length).pad(pad).bytes();
          inject(bytes);
          if (qp.context.state() == TransportState.ERR) {
            retire(qp);
            qp = victim(kind);
          }
        }
      }
    }
    assertTrue(b.count(EngineCounter.DROPPED_MALFORMED) > 0);
    retire(qp);
  }

  @ParameterizedTest
  @EnumSource(TransportState.class)
  void everyOpcodeInEveryState(TransportState state) {
    for (QpKind kind : QpKind.values()) {
      TestQp qp = victim(kind, state);
      for (int opcode = 0; opcode < 256; opcode++) {
        for (int payload : new int[] {0, 4, 256}) {
          int length = Math.max(12, Opcode.headerLength(opcode)) + payload;
          inject(Packets.cut(opcode, qp.number(), qp.context.receivePsn(), length).bytes());
        }
        if (qp.context.state() != state) {
          retire(qp);
          qp = victim(kind, state);
        }
      }
      retire(qp);
    }
  }

  @Test
  void wrongVersionAndLengthThatIsNoMultipleOfFour() {
    TestQp qp = victim(QpKind.RC);
    for (int version = 1; version < 16; version++) {
      inject(Packets.write(qp.number(), 0, region.address(0), region.key(), 4).version(version).bytes());
    }
    assertEquals(15, b.count(EngineCounter.DROPPED_MALFORMED));
    assertEquals(0, qp.context.receivePsn());
  }

  @Test
  void padThatEatsThePayload() {
    for (int pad = 0; pad < 4; pad++) {
      TestQp qp = victim(QpKind.RC);
      inject(Packets.of(Opcode.RC_SEND_ONLY, qp.number(), 0, 0).pad(pad).bytes());
      assertEquals(pad == 0 ? 1 : 0, qp.received.size());
      retire(qp);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 3, 5, 255, 256, 257, 511, 0x7fff_ffffL, 0x8000_0000L, 0x8000_0001L, 0xffff_ffffL})
  void lengthInTheRethThatDoesNotFit(long length) {
    for (int opcode : new int[] {Opcode.RC_RDMA_WRITE_ONLY, Opcode.RC_RDMA_WRITE_FIRST}) {
      for (int payload : new int[] {0, 4, 256, 260}) {
        boolean first = opcode == Opcode.RC_RDMA_WRITE_FIRST;
        TestQp qp = victim(QpKind.RC);
        inject(
            Packets.of(opcode, qp.number(), 0, payload).reth(region.address(0), region.key(), length).bytes());
        boolean right =
            first ? payload == 256 && length > 256 && length <= REGION : payload <= 256 && payload == length;
        assertEquals(right ? TransportState.RTS : TransportState.ERR, qp.context.state());
        retire(qp);
      }
    }
  }

  @Test
  void messagesThatGrowBeyondTheirReth() {
    for (int last : new int[] {Opcode.RC_RDMA_WRITE_MIDDLE, Opcode.RC_RDMA_WRITE_LAST}) {
      TestQp qp = victim(QpKind.RC);
      inject(
          Packets.of(Opcode.RC_RDMA_WRITE_FIRST, qp.number(), 0, 256)
              .reth(region.address(REGION - 300), region.key(), 300)
              .bytes());
      assertState(TransportState.RTS, qp);
      inject(Packets.of(last, qp.number(), 1, 256).bytes());
      assertState(TransportState.ERR, qp);
      retire(qp);
    }
  }

  @Test
  void opcodesOutOfOrder() {
    int[] starts = {Opcode.RC_SEND_FIRST, Opcode.RC_RDMA_WRITE_FIRST};
    for (int start : starts) {
      boolean send = start == Opcode.RC_SEND_FIRST;
      for (int opcode = 0; opcode < 0x18; opcode++) {
        int flags = Opcode.flags(opcode);
        if ((flags & OpcodeFlag.REQUEST) == 0) {
          continue;
        }
        TestQp qp = victim(QpKind.RC);
        Packets first = Packets.of(start, qp.number(), 0, 256);
        inject((send ? first : first.reth(region.address(0), region.key(), 1000)).bytes());
        assertEquals(1, qp.context.receivePsn());
        int payload = (flags & OpcodeFlag.PAYLOAD) == 0 ? 0 : send ? 256 : (flags & OpcodeFlag.END) == 0 ? 256 : 744;
        inject(Packets.of(opcode, qp.number(), 1, payload).bytes());
        boolean follows =
            (flags & OpcodeFlag.START) == 0 && ((flags & OpcodeFlag.SEND) != 0) == send && payload <= 256;
        assertEquals(
            follows ? TransportState.RTS : TransportState.ERR, qp.context.state(), Opcode.name(opcode));
        retire(qp);
      }
    }
  }

  @Test
  void aSequenceNumberFarAwayIsNoDuplicateAndNoRequest() {
    TestQp qp = victim(QpKind.RC);
    for (int psn : new int[] {1, 2, 0x7fffff, 0x800000, 0x800001, 0xffffff}) {
      inject(Packets.write(qp.number(), psn, region.address(0), region.key(), 8).bytes());
    }
    assertUntouched(region, 0, REGION);
    assertEquals(0, qp.context.receivePsn());
    assertState(TransportState.RTS, qp);
    retire(qp);
  }

  @Test
  void aDuplicateReadMustAskForWhatWasAsked() {
    TestQp qp = victim(QpKind.RC);
    inject(read(qp, 0, region.address(0), region.key(), 1000));
    int answers = b.link.sent;
    assertEquals(4, answers);
    inject(read(qp, 0, region.address(8), region.key(), 1000));
    inject(read(qp, 0, region.address(0), readOnly.key(), 1000));
    inject(read(qp, 0, region.address(0), region.key(), 1001));
    inject(read(qp, 1, region.address(0), region.key(), 1000));
    inject(read(qp, 3, region.address(768), region.key(), 256));
    inject(read(qp, 4, region.address(1024), region.key(), 0));
    assertEquals(answers, b.link.sent - 1, "only the last, a new one, is answered");
    inject(read(qp, 3, region.address(768), region.key(), 232));
    assertEquals(answers + 2, b.link.sent);
    inject(read(qp, 1, region.address(256), region.key(), 512));
    assertEquals(answers + 4, b.link.sent, "a part of it");
    inject(read(qp, 1, region.address(256), region.key(), 0));
    assertEquals(answers + 4, b.link.sent);
    retire(qp);
  }

  @Test
  void aLateCopyOfAReadOfMemoryThatIsGoneEndsNothing() {
    TestMemory gone = b.memory(REGION);
    TestQp qp = victim(QpKind.RC);
    byte[] request = read(qp, 0, gone.address(0), gone.key(), 1000);
    inject(request);
    b.deregister(gone);
    inject(request);
    assertEquals(4 + 1, b.link.sent, "a NAK for who still waits");
    assertState(TransportState.RTS, qp);
    assertEquals(List.of(), qp.events);
    inject(Packets.write(qp.number(), 4, region.address(0), region.key(), 8).bytes());
    assertEquals(5, qp.context.receivePsn());
    retire(qp);
  }

  private static byte[] read(TestQp qp, int psn, long address, int key, long length) {
    return Packets.of(Opcode.RC_RDMA_READ_REQUEST, qp.number(), psn, 0).reth(address, key, length).bytes();
  }

  @Test
  void readsAndAtomicsWithPayload() {
    for (int opcode : new int[] {Opcode.RC_RDMA_READ_REQUEST, Opcode.RC_COMPARE_SWAP, Opcode.RC_FETCH_ADD}) {
      TestQp qp = victim(QpKind.RC);
      inject(Packets.of(opcode, qp.number(), 0, 4).bytes());
      assertState(TransportState.ERR, qp);
      retire(qp);
    }
  }

  @Test
  void readsOfTheWholeAddressSpace() {
    for (long length : new long[] {0x8000_0000L, 0xffff_ffffL, REGION + 1}) {
      TestQp qp = victim(QpKind.RC);
      inject(read(qp, 0, region.address(0), region.key(), length));
      assertState(TransportState.ERR, qp);
      assertEquals(List.of(), qp.received.stream().filter(done -> done.byteLength() > 0).toList());
      retire(qp);
    }
  }

  @Test
  void randomRequests() {
    var random = new SplittableRandom(42);
    TestQp rc = victim(QpKind.RC);
    TestQp uc = victim(QpKind.UC);
    TestQp ud = victim(QpKind.UD);
    for (int i = 0; i < 20_000; i++) {
      TestQp qp = random.nextInt(4) == 0 ? uc : random.nextInt(8) == 0 ? ud : rc;
      int opcode = random.nextInt(20) == 0 ? random.nextInt(256) : qp.context.kind().transport() | random.nextInt(24);
      int payload = random.nextInt(3) == 0 ? 256 : random.nextInt(300);
      int header = Math.max(12, Opcode.headerLength(opcode));
      int psn = qp.context.receivePsn() + (random.nextInt(4) == 0 ? random.nextInt(-4, 5) : 0);
      Packets packet = Packets.cut(opcode, qp.number(), psn, header + (payload & ~3)).pad(random.nextInt(4) & -i & 3);
      long address = random.nextInt(8) == 0 ? random.nextLong() : region.address(random.nextInt(-300, REGION + 300));
      int key =
          switch (random.nextInt(12)) {
            case 0 -> random.nextInt();
            case 1 -> readOnly.key();
            case 2 -> foreign.key();
            default -> region.key();
          };
      if (Opcode.rethOffset(opcode) >= 0) {
        long length = random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(3) == 0 ? payload : payload + 256;
        packet.reth(address, key, length);
      } else if (Opcode.atomicOffset(opcode) >= 0) {
        packet.atomic(address & -8 | (random.nextInt(8) == 0 ? random.nextInt(8) : 0), key, 1, 0);
      } else if (Opcode.dethOffset(opcode) >= 0) {
        packet.deth(QKEY, random.nextInt());
      }
      inject(packet.bytes());
      if (qp.context.state() == TransportState.ERR) {
        retire(qp);
        rc = qp == rc ? victim(QpKind.RC) : rc;
        uc = qp == uc ? victim(QpKind.UC) : uc;
        ud = qp == ud ? victim(QpKind.UD) : ud;
      } else if (qp.receives.size() < 2) {
        qp.receives.post(i, region, random.nextInt(REGION - 1024), random.nextInt(1024));
      }
    }
    for (TestQp qp : List.of(rc, uc, ud)) {
      retire(qp);
    }
  }

  @Test
  void randomAnswersToRealRequests() {
    var random = new SplittableRandom(43);
    Route back = b.routeTo(a);
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
    b.link.filter(everything());
    for (int i = 0; i < 20_000; i++) {
      if (qp[0].context.state() == TransportState.ERR) {
        assertEquals(qp[0].posted.size(), qp[0].released);
        for (TestQp each : qp) {
          each.port.engine.destroy(each.context);
          each.port.queuePairs.remove(each);
        }
        qp = world.pair(QpKind.RC, settings -> settings.mtu = 256);
      }
      if (qp[0].posted.size() - qp[0].released < 4) {
        qp[0].post(randomPost(random, i));
        world.settle();
      }
      b.link.inject(back, randomAnswer(random, qp[0]));
      world.settle();
      if (random.nextInt(50) == 0) {
        world.runFor(300_000);
      }
    }
    b.link.filter(null);
    qp[0].modify(TransportState.ERR);
    world.run();
    assertIdle();
  }

  private Post randomPost(SplittableRandom random, int id) {
    int length = random.nextInt(1500);
    return switch (random.nextInt(4)) {
      case 0 -> Post.read(id, region, 0).local(source, 0, length);
      case 1 -> Post.fetchAdd(id, region, 0, 1).local(source, 0, 8);
      case 2 -> Post.send(id).local(source, 0, length);
      default -> Post.write(id, region, 0).local(source, 0, length);
    };
  }

  private static byte[] randomAnswer(SplittableRandom random, TestQp qp) {
    int opcode = random.nextInt(Opcode.RC_RDMA_READ_RESPONSE_FIRST, Opcode.RC_ATOMIC_ACKNOWLEDGE + 1);
    int psn = qp.context.sendPsn() + random.nextInt(-12, 4);
    int payload = (Opcode.flags(opcode) & OpcodeFlag.PAYLOAD) == 0 && random.nextInt(8) > 0 ? 0 : random.nextInt(300);
    payload = random.nextBoolean() && payload > 0 ? 256 : payload;
    Packets packet = Packets.of(opcode, qp.number(), psn, payload);
    if (Opcode.aethOffset(opcode) >= 0) {
      packet.aeth(random.nextInt(4) == 0 ? random.nextInt(256) : 0x1f, random.nextInt());
    }
    if (Opcode.atomicAckOffset(opcode) >= 0) {
      packet.original(random.nextLong());
    }
    return packet.bytes();
  }

  @Test
  void randomWorkRequests() {
    var random = new SplittableRandom(44);
    TestQp[] qp = world.pair(QpKind.RC);
    for (int i = 0; i < 5000; i++) {
      Post post =
          Post.of(i, random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(12))
              .remote(random.nextBoolean() ? random.nextLong() : region.address(random.nextInt(REGION)), region.key())
              .immediate(random.nextInt());
      for (int pieces = random.nextInt(4); pieces > 0; pieces--) {
        switch (random.nextInt(4)) {
          case 0 -> post.sge(random.nextLong(), random.nextInt(), random.nextInt());
          case 1 -> post.sge(random.nextLong(), random.nextInt(3000), source.key());
          default -> post.local(source, random.nextInt(REGION), random.nextInt(REGION));
        }
      }
      receives(qp[1], 1, region, REGION);
      qp[0].post(post);
      world.runFor(2_000_000);
      assertEquals(1, qp[0].sends.size(), () -> "completions\n" + world.trace);
      assertEquals(1, qp[0].released);
      for (TestQp each : qp) {
        each.port.engine.destroy(each.context);
        each.port.queuePairs.remove(each);
      }
      qp = world.pair(QpKind.RC);
    }
  }
}
