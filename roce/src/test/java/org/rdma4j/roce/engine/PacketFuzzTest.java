package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.roce.packet.AtomicEth;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Deth;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.Psn;
import org.rdma4j.roce.packet.Reth;

/**
 * Packets of every opcode and every length for queue pairs of every service and state, forged ones, and real ones that
 * are changed on their way. What a test does is decided by a seed, which is its name: {@code -Drdma.fuzz.seeds=N} plays
 * so many, {@code -Drdma.fuzz.first=N} begins elsewhere than at 1.
 */
class PacketFuzzTest extends HostileTest {
  private static final int PKEY = 0xffff;
  /** Bytes behind the headers of a packet, so that pads of all sizes are cut off somewhere. */
  private static final int BEHIND = 9;
  private static final QpKind[] KINDS = {QpKind.RC, QpKind.RC, QpKind.UC, QpKind.UD};

  static LongStream seeds() {
    long first = Long.getLong("rdma.fuzz.first", 1);
    return LongStream.range(first, first + Long.getLong("rdma.fuzz.seeds", 20));
  }

  @BeforeEach
  void enginesKnowTheirHandlers() {
    world.settle();
  }

  /** Right in its BTH, and anything behind it, most of the time something that names memory. */
  private byte[] forged(SplittableRandom random, TestQp qp, int opcode, int psn) {
    MemorySegment packet = Arena.ofAuto().allocate(128, 8);
    for (int i = Bth.LENGTH; i < 128; i++) {
      packet.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
    }
    Bth.write(packet, 0, opcode, random.nextBoolean(), random.nextInt(4), PKEY, qp.number(), random.nextBoolean(), psn);
    long address = random.nextInt(4) == 0 ? random.nextLong() : region.address(random.nextInt(-8, REGION + 8) & -8);
    int key = random.nextInt(4) == 0 ? random.nextInt() : region.key();
    if (Opcode.rethOffset(opcode) >= 0 && random.nextInt(8) > 0) {
      Reth.write(packet, Opcode.rethOffset(opcode), address, key, random.nextInt(300));
    } else if (Opcode.atomicOffset(opcode) >= 0 && random.nextInt(8) > 0) {
      AtomicEth.write(packet, Opcode.atomicOffset(opcode), address, key, 1, 0);
    } else if (Opcode.dethOffset(opcode) >= 0 && random.nextInt(8) > 0) {
      Deth.write(packet, Opcode.dethOffset(opcode), qp.context.qkey(), random.nextInt());
    }
    return packet.toArray(ValueLayout.JAVA_BYTE);
  }

  private static int longest(int opcode) {
    return Math.max(Bth.LENGTH, Opcode.headerLength(opcode)) + BEHIND;
  }

  @ParameterizedTest
  @EnumSource(TransportState.class)
  void everyOpcodeWithEveryLengthInEveryState(TransportState state) {
    var random = new SplittableRandom(state.ordinal());
    for (QpKind kind : QpKind.values()) {
      TestQp qp = victim(kind, state);
      for (int opcode = 0; opcode < 256; opcode++) {
        for (int length = 0; length <= longest(opcode); length++) {
          deliver(a, b, forged(random, qp, opcode, qp.context.receivePsn()), length);
          if (qp.context.state() != state || qp.receives.size() == 0) {
            retire(qp);
            qp = victim(kind, state);
          }
        }
      }
      retire(qp);
    }
  }

  @ParameterizedTest
  @EnumSource(TransportState.class)
  void everyOpcodeWithEveryLengthMeetsRequestsUnderWay(TransportState state) {
    var random = new SplittableRandom(state.ordinal());
    b.link.filter(everything());
    for (QpKind kind : List.of(QpKind.RC, QpKind.UC, QpKind.UD)) {
      TestQp qp = requester(kind, state);
      for (int opcode = 0; opcode < 256; opcode++) {
        for (int length = 0; length <= longest(opcode); length++) {
          deliver(b, a, forged(random, qp, opcode, Psn.add(qp.context.sendPsn(), random.nextInt(-9, 3))), length);
          if (qp.context.state() != state || kind == QpKind.RC && qp.released > 0) {
            end(qp);
            qp = requester(kind, state);
          }
        }
      }
      end(qp);
    }
  }

  /** A queue pair at a with requests under way that nobody answers, alone. */
  private TestQp requester(QpKind kind, TransportState state) {
    TestQp[] qp = world.pair(kind, settings -> settings.mtu = 256);
    retire(qp[1]);
    if (kind == QpKind.RC && state.compareTo(TransportState.RTS) >= 0) {
      qp[0].post(
          Post.write(0, region, 0).local(source, 0, 600), Post.read(1, region, 0).local(source, 0, 700),
          Post.fetchAdd(2, region, 0, 1).local(source, 0, 8), Post.send(3).local(source, 0, 10));
      world.settle();
    }
    switch (state) {
      case RESET, INIT, RTR -> {
        qp[0].modify(TransportState.RESET);
        if (state != TransportState.RESET) {
          qp[0].modify(TransportState.INIT);
        }
        if (state == TransportState.RTR) {
          qp[0].modify(TransportState.RTR);
        }
      }
      case RTS -> { }
      default -> qp[0].modify(state);
    }
    world.settle();
    return qp[0];
  }

  private void end(TestQp qp) {
    qp.modify(TransportState.ERR);
    world.settle();
    assertEquals(qp.posted.size(), qp.released, () -> "released of the posted\n" + world.trace);
    retire(qp);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void forgedKeysAndAddressesThatWrap(long seed) {
    var random = new SplittableRandom(seed);
    MemorySegment guarded = Arena.ofAuto().allocate(6 * REGION, 8);
    List<TestMemory> memories = new ArrayList<>();
    long[] starts = {-REGION, 0, Long.MAX_VALUE - REGION / 2, -8, -REGION - 8};
    for (int i = 0; i < starts.length; i++) {
      int size = starts[i] == -8 ? 8 : REGION - 2 * 64;
      MemorySegment part = guarded.asSlice((long) i * REGION + 64, size);
      memories.add(b.register(part, TestPort.PD, TestMemory.ALL).at(starts[i]));
    }
    memories.get(1).bind(0x777777);
    b.deregister(memories.get(2));
    memories.add(region);
    TestQp qp = victim(QpKind.RC);
    for (int i = 0; i < 3000; i++) {
      TestMemory memory = memories.get(random.nextInt(memories.size()));
      int opcode =
          new int[] {
            Opcode.RC_RDMA_WRITE_ONLY, Opcode.RC_RDMA_WRITE_FIRST, Opcode.RC_RDMA_READ_REQUEST, Opcode.RC_FETCH_ADD,
            Opcode.RC_COMPARE_SWAP
          }[random.nextInt(5)];
      boolean writes = opcode == Opcode.RC_RDMA_WRITE_ONLY || opcode == Opcode.RC_RDMA_WRITE_FIRST;
      int payload = opcode == Opcode.RC_RDMA_WRITE_FIRST ? 256 : writes ? 4 * random.nextInt(65) : 0;
      long length =
          switch (random.nextInt(4)) {
            case 0 -> random.nextInt() & 0xffff_ffffL;
            case 1 -> new long[] {0, 1, 8, REGION, 1L << 31, (1L << 31) + 1, 0xffff_ffffL}[random.nextInt(7)];
            default -> opcode == Opcode.RC_RDMA_WRITE_FIRST ? 256 + random.nextInt(256) : Math.max(payload, 1);
          };
      long address =
          switch (random.nextInt(4)) {
            case 0 -> memory.address(random.nextInt(-9, 9));
            case 1 -> memory.address(memory.segment.byteSize() - random.nextInt(-9, 300));
            case 2 -> -random.nextLong(300);
            default -> memory.address(random.nextInt(REGION));
          };
      int key = random.nextInt(6) == 0 ? memory.key() ^ 1 << random.nextInt(32) : memory.key();
      Packets packet = Packets.of(opcode, qp.number(), qp.context.receivePsn(), payload);
      packet = Opcode.rethOffset(opcode) >= 0 ? packet.reth(address, key, length) : packet.atomic(address, key, 1, 0);
      guarded.fill((byte) 0x55);
      inject(packet.bytes());
      for (int at = 0; at < starts.length; at++) {
        long end = (long) at * REGION + 64 + memories.get(at).segment.byteSize();
        assertFilled(guarded, (long) at * REGION, (long) at * REGION + 64);
        assertFilled(guarded, end, (at + 1L) * REGION);
      }
      assertFilled(guarded, REGION, 3 * REGION); // Bound to another queue pair, and taken away.
      if (qp.context.state() != TransportState.RTS || opcode == Opcode.RC_RDMA_WRITE_FIRST) {
        retire(qp);
        qp = victim(QpKind.RC);
      }
    }
    retire(qp);
  }

  private static void assertFilled(MemorySegment segment, long from, long to) {
    for (long i = from; i < to; i++) {
      assertEquals(0x55, segment.get(ValueLayout.JAVA_BYTE, i), "guard");
    }
  }

  /** Bits of packets of real traffic are flipped before the ICRC is made, and some come again cut or stretched. */
  @ParameterizedTest
  @MethodSource("seeds")
  void realTrafficThatIsChangedOnItsWay(long seed) {
    var random = new SplittableRandom(seed);
    List<byte[]> seen = new ArrayList<>();
    for (TestPort port : List.of(a, b)) {
      port.link.filter(
          (packet, at, length) -> {
            if (random.nextInt(8) == 0) {
              seen.add(packet.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE));
            }
            if (random.nextInt(12) == 0) {
              change(random, packet.asSlice(at, Math.min(length, 48)));
            }
            return TestLink.Fate.PASS;
          });
    }
    List<TestQp[]> pairs = new ArrayList<>();
    for (QpKind kind : KINDS) {
      pairs.add(world.pair(kind, settings -> settings.mtu = 256));
    }
    for (int i = 0; i < 400; i++) {
      TestQp[] pair = pairs.get(random.nextInt(pairs.size()));
      int side = random.nextInt(2);
      if (pair[side].receives.size() < 3) {
        pair[side].receives.post(i, side == 0 ? source : region, 0, 1024);
      }
      if (pair[side].posted.size() - pair[side].released < 8) {
        pair[side].post(request(random, pair[side], side, i));
      }
      world.runFor(random.nextInt(200_000));
      for (byte[] bytes : List.copyOf(seen)) {
        int length = random.nextBoolean() ? random.nextInt(bytes.length + 1) : bytes.length;
        boolean toB = random.nextBoolean();
        deliver(toB ? a : b, toB ? b : a, bytes, length);
      }
      seen.clear();
      for (int at = 0; at < pairs.size(); at++) {
        if (pairs.get(at)[0].errors + pairs.get(at)[1].errors > 0) {
          QpKind kind = pairs.get(at)[0].context.kind();
          finish(pairs.get(at));
          pairs.set(at, world.pair(kind, settings -> settings.mtu = 256));
        }
      }
    }
    pairs.forEach(this::finish);
  }

  private void finish(TestQp[] pair) {
    for (TestQp qp : pair) {
      end(qp);
    }
  }

  private Post request(SplittableRandom random, TestQp qp, int side, int id) {
    TestMemory local = side == 0 ? source : region;
    TestMemory remote = side == 0 ? region : source;
    QpKind kind = qp.context.kind();
    int length = random.nextInt(kind == QpKind.UD ? 900 : 1500);
    if (kind == QpKind.UD) {
      int number = qp.number() + (side == 0 ? 0x10 : -0x10); // Whoever it may be.
      return Post.send(id).local(local, 0, length).to((side == 0 ? a : b).routeTo(side == 0 ? b : a), number, QKEY);
    }
    return switch (random.nextInt(kind == QpKind.RC ? 5 : 2)) {
      case 0 -> Post.send(id).local(local, 0, length);
      case 1 -> Post.write(id, remote, 0).local(local, 0, length);
      case 2 -> Post.read(id, remote, 0).local(local, 0, length);
      case 3 -> Post.fetchAdd(id, remote, 8, 1).local(local, 0, 8);
      default -> Post.compareSwap(id, remote, 16, 0, id).local(local, 0, 8);
    };
  }

  private static void change(SplittableRandom random, MemorySegment header) {
    for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
      long at = random.nextLong(header.byteSize());
      byte old = header.get(ValueLayout.JAVA_BYTE, at);
      header.set(ValueLayout.JAVA_BYTE, at, (byte) (old ^ 1 << random.nextInt(8)));
    }
  }
}
