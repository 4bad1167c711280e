package org.rdma4j.provider.contract.suite;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.Gid;

/** Unreliable connections, datagrams and multicast. Messages may be lost on the way; here none should be. */
final class UnreliableCases {
  private static final int[] LENGTHS = {0, 1, 64, 1023, 1024, 1025, 5000, 20_000};
  private static final int IMMEDIATE = 0x1234_5678;
  private static final int LID = 0xc001;

  private UnreliableCases() {}

  static void add(CaseList list) {
    list.add("uc.send.bytes", "A SEND of UC brings exactly its bytes.", UnreliableCases::ucSends, Need.UC);
    list.add("uc.send.immediate", "A SEND of UC with immediate brings its 32 bits.", UnreliableCases::ucImmediate,
        Need.UC);
    list.add("uc.write.bytes", "A WRITE of UC brings exactly its bytes.", UnreliableCases::ucWrites, Need.UC);
    list.add("uc.write.immediate", "A WRITE of UC with immediate takes a receive.", UnreliableCases::ucWriteImmediate,
        Need.UC);
    list.add("uc.no-receive", "A SEND of UC without a receive is lost, and the sender does not care.",
        UnreliableCases::ucLost, Need.UC);
    list.add("uc.read-refused", "UC has no READs: refused with EINVAL, or LOC_QP_OP_ERR.",
        UnreliableCases::ucRead, Need.UC);
    list.add("ud.send.bytes", "A datagram brings its bytes behind 40 of the route, and tells its sender.",
        UnreliableCases::udSends, Need.UD);
    list.add("ud.send.immediate", "A datagram with immediate brings its 32 bits.", UnreliableCases::udImmediate,
        Need.UD);
    list.add("ud.send.inline", "A datagram takes inline data.", UnreliableCases::udInline, Need.UD, Need.INLINE);
    list.add("ud.grh", "The 40 bytes before a datagram name the GIDs of both sides.", UnreliableCases::udRoute,
        Need.UD);
    list.add("ud.qkey.wrong", "A datagram with a wrong Q_Key is not delivered.", UnreliableCases::udQkey, Need.UD);
    list.add("ud.qkey.own", "With the highest bit set in the request, the queue pair's own Q_Key is sent.",
        UnreliableCases::udOwnQkey, Need.UD);
    list.add("ud.no-receive", "A datagram without a receive is lost, and the sender does not care.",
        UnreliableCases::udLost, Need.UD);
    list.add("ud.too-long", "A datagram longer than the MTU is not delivered, and never in part.",
        UnreliableCases::udTooLong, Need.UD);
    list.add("ud.needs-handle", "A datagram without an address handle is refused with EINVAL.",
        UnreliableCases::udHandle, Need.UD);
    list.add("ud.many-peers", "One queue pair sends to several, and receives from several.",
        UnreliableCases::udPeers, Need.UD);
    list.add("ud.write-refused", "Datagrams have no WRITEs: refused with EINVAL, or LOC_QP_OP_ERR.",
        UnreliableCases::udWrite, Need.UD);
    list.add("multicast.members", "What is sent to a group reaches each member, and nobody else.",
        UnreliableCases::members, Need.UD, Need.MULTICAST);
    list.add("multicast.leave", "Who has left a group gets nothing of it any more.", UnreliableCases::leave, Need.UD,
        Need.MULTICAST);
    list.add("multicast.rules", "Only UD joins, only groups are joined, and a member is not destroyed.",
        UnreliableCases::rules, Need.UD, Need.MULTICAST);
  }

  private static void ucSends(Bench bench) {
    Pair pair = bench.pair(QpType.UC);
    for (int length : LENGTHS) {
      pair.a().fill(0, length, length + 1);
      pair.b().postReceive(1, 0, length + 64);
      pair.a().postSend(pair.a().send(2, 0, length));
      pair.a().done(2, WcOpcode.SEND);
      pair.b().received(1, length);
      pair.b().verify(0, length, length + 1);
    }
  }

  private static void ucImmediate(Bench bench) {
    Pair pair = bench.pair(QpType.UC);
    pair.b().postReceive(1, 0, 100);
    pair.a().postSend(pair.a().send(2, 0, 10).opcode(WrOpcode.SEND_WITH_IMM).immediate(IMMEDIATE));
    pair.a().done(2, WcOpcode.SEND);
    Check.equal(IMMEDIATE, pair.b().received(1, 10).immediate(), "the immediate data");
  }

  private static void ucWrites(Bench bench) {
    Pair pair = bench.pair(QpType.UC);
    for (int length : LENGTHS) {
      pair.a().fill(0, length, length + 2);
      pair.b().postReceive(1, 100_000, 64);
      // The receive of the SEND behind it tells that the WRITE is through.
      SendWorkRequest send = pair.a().send(3, 0, 1);
      pair.a().postSend(pair.a().remote(WrOpcode.RDMA_WRITE, 2, 0, length, pair.b(), 0).next(send));
      pair.a().done(2, WcOpcode.RDMA_WRITE);
      pair.a().done(3, WcOpcode.SEND);
      pair.b().received(1, 1);
      pair.b().verify(0, length, length + 2);
    }
  }

  private static void ucWriteImmediate(Bench bench) {
    Pair pair = bench.pair(QpType.UC);
    pair.a().fill(0, 3000, 5);
    pair.b().postReceive(1, 100_000, 64);
    pair.a()
        .postSend(
            pair.a().remote(WrOpcode.RDMA_WRITE_WITH_IMM, 2, 0, 3000, pair.b(), 0).immediate(IMMEDIATE));
    pair.a().done(2, WcOpcode.RDMA_WRITE);
    WorkCompletion received = pair.b().done(1, WcOpcode.RECV_RDMA_WITH_IMM);
    Check.equal(IMMEDIATE, received.immediate(), "the immediate data");
    pair.b().verify(0, 3000, 5);
  }

  private static void ucLost(Bench bench) {
    Pair pair = bench.pair(QpType.UC);
    pair.a().postSend(pair.a().send(1, 0, 10));
    pair.a().done(1, WcOpcode.SEND);
    // UC tells the sender nothing: the first may still be under way and take the receive.
    pair.b().postReceive(2, 0, 100);
    pair.a().fill(0, 50, 3);
    pair.a().postSend(pair.a().send(3, 0, 50));
    pair.a().done(3, WcOpcode.SEND);
    WorkCompletion received = pair.b().done(2, WcOpcode.RECV);
    Check.that(received.byteLength() == 50 || received.byteLength() == 10, "byte_len of " + received);
  }

  private static void refused(Side a, SendWorkRequest request) {
    try {
      a.postSend(request);
    } catch (PostException e) {
      Check.equal(Errno.EINVAL, e.errno(), "the error");
      return;
    }
    a.failed(request.wrId(), WcStatus.LOC_QP_OP_ERR);
  }

  private static void ucRead(Bench bench) {
    Pair pair = bench.pair(QpType.UC);
    refused(pair.a(), pair.a().remote(WrOpcode.RDMA_READ, 1, 0, 10, pair.b(), 0));
  }

  private static WorkCompletion datagram(Pair pair, SendWorkRequest send, int length) {
    pair.b().postReceive(1, 0, 4096);
    pair.a().postSend(Datagrams.to(pair, send));
    pair.a().done(send.wrId(), WcOpcode.SEND);
    WorkCompletion received = pair.b().received(1, length + Side.GRH);
    Check.equal(pair.a().qp().number(), received.sourceQp(), "the source of " + received);
    Check.equal(WcFlag.GRH, received.flags() & WcFlag.GRH, "the flag GRH of " + received);
    return received;
  }

  private static void udSends(Bench bench) {
    Pair pair = bench.pair(QpType.UD);
    int most =
        Side.common(pair.a().device.port(pair.a().port).activeMtu(), pair.b().device.port(pair.b().port).activeMtu())
            .bytes();
    for (int length : new int[] {0, 1, 64, 255, 256, Math.min(4000, most)}) {
      pair.a().fill(0, length, length + 1);
      datagram(pair, pair.a().send(2, 0, length), length);
      pair.b().verify(Side.GRH, length, length + 1);
    }
  }

  private static void udImmediate(Bench bench) {
    Pair pair = bench.pair(QpType.UD);
    SendWorkRequest send = pair.a().send(2, 0, 10).opcode(WrOpcode.SEND_WITH_IMM).immediate(IMMEDIATE);
    WorkCompletion received = datagram(pair, send, 10);
    Check.equal(WcFlag.WITH_IMM, received.flags() & WcFlag.WITH_IMM, "the flag WITH_IMM of " + received);
    Check.equal(IMMEDIATE, received.immediate(), "the immediate data");
  }

  private static void udInline(Bench bench) {
    Pair pair = bench.pair(QpType.UD);
    int length = pair.a().qp().capabilities().maxInlineData();
    pair.a().fill(0, length, 4);
    SendWorkRequest send = pair.a().send(2, 0, length).flags(SendFlag.SIGNALED | SendFlag.INLINE);
    datagram(pair, send, length);
    pair.b().verify(Side.GRH, length, 4);
  }

  private static void udRoute(Bench bench) {
    Pair pair = bench.pair(QpType.UD);
    datagram(pair, pair.a().send(2, 0, 10), 10);
    MemorySegment route = pair.b().memory.asSlice(0, Side.GRH);
    Gid from = pair.a().gid.gid();
    Gid to = pair.b().gid.gid();
    if (from.isIpv4Mapped()) {
      // RoCE v2: an IPv4 header in the last 20 bytes, whose last 8 are the addresses.
      byte[] last = route.asSlice(32, 8).toArray(ValueLayout.JAVA_BYTE);
      byte[] expected = new byte[8];
      System.arraycopy(from.toInetAddress().getAddress(), 0, expected, 0, 4);
      System.arraycopy(to.toInetAddress().getAddress(), 0, expected, 4, 4);
      Check.that(Arrays.equals(expected, last), "the addresses are " + Arrays.toString(last));
    } else {
      Check.equal(from, Gid.readFrom(route, 8), "the source");
      Check.equal(to, Gid.readFrom(route, 24), "the destination");
    }
  }

  /** What is sent first does not arrive; what is sent then does. */
  private static void onlySecond(Pair pair, SendWorkRequest first, boolean completes) {
    pair.b().postReceive(1, 0, 4096);
    pair.b().postReceive(3, 8192, 4096);
    pair.a().postSend(first);
    if (completes) {
      pair.a().done(first.wrId(), WcOpcode.SEND);
    }
    pair.a().fill(0, 30, 9);
    pair.a().postSend(Datagrams.to(pair, pair.a().send(2, 0, 30)));
    pair.a().done(2, WcOpcode.SEND);
    pair.b().received(1, 30 + Side.GRH);
    pair.b().verify(Side.GRH, 30, 9);
    pair.b().nothing();
  }

  private static void udQkey(Bench bench) {
    Pair pair = bench.pair(QpType.UD);
    onlySecond(pair, Datagrams.to(pair, pair.a().send(7, 0, 10)).remoteQkey(Side.QKEY + 1), true);
  }

  private static void udOwnQkey(Bench bench) {
    Pair pair = bench.pair(QpType.UD);
    pair.b().postReceive(1, 0, 100);
    pair.a().postSend(Datagrams.to(pair, pair.a().send(2, 0, 10)).remoteQkey(0x8000_0000));
    pair.a().done(2, WcOpcode.SEND);
    pair.b().received(1, 10 + Side.GRH);
  }

  private static void udLost(Bench bench) {
    Pair pair = bench.pair(QpType.UD);
    pair.a().postSend(Datagrams.to(pair, pair.a().send(1, 0, 10)));
    pair.a().done(1, WcOpcode.SEND);
    pair.b().nothing();
    datagram(pair, pair.a().send(2, 0, 10), 10);
  }

  private static void udTooLong(Bench bench) {
    Pair pair = bench.pair(QpType.UD);
    SendWorkRequest send = Datagrams.to(pair, pair.a().send(7, 0, 8192));
    try {
      pair.a().postSend(send);
    } catch (VerbsException e) {
      Check.equal(Errno.EINVAL, e.errno(), "the error");
      return;
    }
    // The specification wants LOC_LEN_ERR; Linux drops it and calls it sent.
    WorkCompletion ended = pair.a().next();
    Check.that(
        ended.status() == WcStatus.LOC_LEN_ERR || ended.status() == WcStatus.SUCCESS, "the completion is " + ended);
    pair.b().nothing();
    if (ended.status() == WcStatus.SUCCESS) {
      datagram(pair, pair.a().send(2, 0, 10), 10);
    }
  }

  private static void udHandle(Bench bench) {
    Pair pair = bench.pair(QpType.UD);
    Check.invalid("a datagram to nowhere", () -> pair.a().postSend(pair.a().send(1, 0, 8)));
  }

  private static void udPeers(Bench bench) {
    Pair one = bench.pair(QpType.UD);
    Side b = bench.b().with(QpType.UD);
    Pair two = new Pair(one.a(), b, Way.USUAL);
    b.connect(b.qp(), one.a(), 0, Way.USUAL);
    for (int i = 0; i < 3; i++) {
      one.a().fill(0, 100, i);
      datagram(one, one.a().send(2, 0, 100), 100);
      one.b().verify(Side.GRH, 100, i);
      datagram(two, two.a().send(2, 0, 100), 100);
      two.b().verify(Side.GRH, 100, i);
      datagram(one.turned(), one.b().send(2, 0, 100), 100);
      datagram(two.turned(), two.b().send(2, 0, 100), 100);
    }
  }

  private static void udWrite(Bench bench) {
    Pair pair = bench.pair(QpType.UD);
    refused(pair.a(), Datagrams.to(pair, pair.a().remote(WrOpcode.RDMA_WRITE, 1, 0, 10, pair.b(), 0)));
  }

  private static Gid group(Bench bench, Side side) {
    int last = 1 + bench.random().nextInt(250);
    return side.gid.gid().isIpv4Mapped() ? Gid.parse("::ffff:239.7.3." + last) : Gid.parse("ff15::7:3:" + last);
  }

  private static void toGroup(Pair pair, Gid group, long id, int seed) {
    Side a = pair.a();
    a.fill(0, 100, seed);
    AddressHandle handle = a.pd.createAh(new AhAttributes(a.port, group, a.sgid()));
    a.postSend(a.send(id, 0, 100).ah(handle).remoteQpn(0xff_ffff).remoteQkey(Side.QKEY));
    a.done(id, WcOpcode.SEND);
  }

  private static void members(Bench bench) {
    Pair pair = bench.pair(QpType.UD);
    Side other = bench.b().with(QpType.UD);
    other.connect(other.qp(), pair.a(), 0, Way.USUAL);
    Gid group = group(bench, pair.a());
    Side outside = bench.b().with(QpType.UD);
    outside.connect(outside.qp(), pair.a(), 0, Way.USUAL);
    pair.b().qp().attachMulticast(group, LID);
    other.qp().attachMulticast(group, LID);
    for (Side each : new Side[] {pair.b(), other, outside}) {
      each.postReceive(1, 0, 1024);
    }
    toGroup(pair, group, 2, 6);
    for (Side each : new Side[] {pair.b(), other}) {
      each.received(1, 100 + Side.GRH);
      each.verify(Side.GRH, 100, 6);
      each.qp().detachMulticast(group, LID);
    }
    outside.nothing();
  }

  private static void leave(Bench bench) {
    Pair pair = bench.pair(QpType.UD);
    Gid group = group(bench, pair.a());
    pair.b().qp().attachMulticast(group, LID);
    pair.b().postReceive(1, 0, 1024);
    pair.b().postReceive(2, 0, 1024);
    toGroup(pair, group, 3, 1);
    pair.b().received(1, 100 + Side.GRH);
    pair.b().qp().detachMulticast(group, LID);
    toGroup(pair, group, 4, 2);
    pair.a().postSend(Datagrams.to(pair, pair.a().send(5, 0, 33)));
    pair.a().done(5, WcOpcode.SEND);
    pair.b().received(2, 33 + Side.GRH);
  }

  private static void rules(Bench bench) {
    Pair pair = bench.pair(QpType.UD);
    Side b = pair.b();
    Gid group = group(bench, pair.a());
    Check.invalid("a group that is none", () -> b.qp().attachMulticast(pair.a().gid.gid(), LID));
    Check.invalid("leaving a group it is not in", () -> b.qp().detachMulticast(group, LID));
    Side rc = bench.b().with(QpType.RC);
    Check.invalid("a group for RC", () -> rc.qp().attachMulticast(group, LID));
    b.qp().attachMulticast(group, LID);
    b.qp().attachMulticast(group, LID);
    Check.refused("the end of a member", () -> b.qp().destroy(), Errno.EBUSY);
    b.qp().detachMulticast(group, LID);
    b.qp().destroy();
  }
}
