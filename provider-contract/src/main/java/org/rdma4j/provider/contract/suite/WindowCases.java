package org.rdma4j.provider.contract.suite;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;

/** Keys that come and go by work requests: memory windows, fast registration, invalidation. */
final class WindowCases {
  private static final int PAGE = 4096;
  private static final Set<Access> OPEN =
      EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ);

  private WindowCases() {}

  static void add(CaseList list) {
    list.add("mw.type1.bind", "A window of type 1 opens a part of a region, and only that.", WindowCases::type1,
        Need.WINDOWS_1);
    list.add("mw.type1.rebind", "A window of type 1 moves, and its old key is shut.", WindowCases::type1Moves,
        Need.WINDOWS_1);
    list.add("mw.type1.unbind", "A window of type 1 that is unbound opens nothing.", WindowCases::type1Unbind,
        Need.WINDOWS_1);
    list.add("mw.type2.bind", "A window of type 2 opens a part of a region, and only that.", WindowCases::type2,
        Need.WINDOWS_2);
    list.add("mw.type2.rights", "A window gives no more rights than it was bound with.", WindowCases::rights,
        Need.WINDOWS_2);
    list.add("mw.type2.rebind", "A window of type 2 that is bound is not bound again: MW_BIND_ERR.",
        WindowCases::rebind, Need.WINDOWS_2);
    list.add("mw.type2.invalidate", "After a local invalidate a window is shut, and can be bound again.",
        WindowCases::invalidateWindow, Need.WINDOWS_2);
    list.add("mw.type2.invalidate-remote", "A SEND with invalidate shuts a window, and names its key.",
        WindowCases::invalidateRemotely, Need.WINDOWS_2, Need.FAST_REGISTRATION);
    list.add("mw.region-rights", "A region without MW_BIND is not bound: MW_BIND_ERR.", WindowCases::noBind,
        Need.WINDOWS_2);
    list.add("mw.region-busy", "A region with a bound window is not destroyed: EBUSY.", WindowCases::busy,
        Need.WINDOWS_2);
    list.add("mw.end", "A destroyed window opens nothing.", WindowCases::end, Need.WINDOWS_2);
    list.add("fastreg.bytes", "Pages that lie apart are registered as one, for both sides.", WindowCases::fast,
        Need.FAST_REGISTRATION);
    list.add("fastreg.key", "A new key shuts the old one out.", WindowCases::fastKey, Need.FAST_REGISTRATION);
    list.add("fastreg.invalidate", "A region that is invalidated is shut, and can be registered again.",
        WindowCases::fastInvalidate, Need.FAST_REGISTRATION);
    list.add("fastreg.invalidate-remote", "A SEND with invalidate shuts a fast registration, and names its key.",
        WindowCases::fastInvalidateRemotely, Need.FAST_REGISTRATION);
    list.add("fastreg.rights", "A fast registration gives the rights it was made with.", WindowCases::fastRights,
        Need.FAST_REGISTRATION);
    list.add("fastreg.twice", "A region that is registered is not registered again: LOC_QP_OP_ERR or MW_BIND_ERR.",
        WindowCases::fastTwice, Need.FAST_REGISTRATION);
  }

  private static SendWorkRequest remote(Side a, WrOpcode opcode, int key, long address, int length) {
    return a.request(opcode, 5, 0, length).remoteAddress(address).rkey(key);
  }

  private static void opens(Pair pair, int key, long offset, int length) {
    pair.a().fill(0, length, key);
    pair.a().postSend(
        remote(pair.a(), WrOpcode.RDMA_WRITE, key, pair.b().region.address() + offset, length));
    pair.a().done(5, WcOpcode.RDMA_WRITE);
    pair.b().verify(offset, length, key);
  }

  private static void shuts(Pair pair, WrOpcode opcode, int key, long offset, int length) {
    pair.a().postSend(remote(pair.a(), opcode, key, pair.b().region.address() + offset, length));
    pair.a().failed(5, WcStatus.REM_ACCESS_ERR);
  }

  private static MemoryRegion bindable(Side b) {
    return b.pd.registerMemory(
        b.memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.MW_BIND);
  }

  private static MwBindInfo part(Side b, MemoryRegion region, long offset, long length, Access... rights) {
    return new MwBindInfo(region, b.region.address() + offset, length, rights);
  }

  private static int bound1(Side b, MemoryWindow window, MwBindInfo info) {
    int key = window.bind(b.qp(), 9, SendFlag.SIGNALED, info);
    b.done(9, WcOpcode.BIND_MW);
    return key;
  }

  private static void type1(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    int key = bound1(b, b.pd.allocateMw(MwType.TYPE_1), part(b, bindable(b), PAGE, 2 * PAGE, Access.REMOTE_WRITE));
    opens(pair, key, PAGE, 2 * PAGE);
    shuts(pair, WrOpcode.RDMA_WRITE, key, PAGE - 1, 2);
    pair.reconnect();
    shuts(pair, WrOpcode.RDMA_WRITE, key, 3 * PAGE - 1, 2);
  }

  private static void type1Moves(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryRegion region = bindable(b);
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_1);
    int first = bound1(b, window, part(b, region, 0, PAGE, Access.REMOTE_WRITE));
    opens(pair, first, 0, 100);
    int second = bound1(b, window, part(b, region, PAGE, PAGE, Access.REMOTE_WRITE));
    opens(pair, second, PAGE, 100);
    shuts(pair, WrOpcode.RDMA_WRITE, first, 0, 100);
  }

  private static void type1Unbind(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_1);
    MemoryRegion region = bindable(b);
    int key = bound1(b, window, part(b, region, 0, PAGE, Access.REMOTE_WRITE));
    opens(pair, key, 0, 100);
    bound1(b, window, MwBindInfo.UNBIND);
    shuts(pair, WrOpcode.RDMA_WRITE, key, 0, 100);
    region.destroy();
  }

  private static SendWorkRequest bind(MemoryWindow window, int key, MwBindInfo info) {
    return new SendWorkRequest().wrId(9).flags(SendFlag.SIGNALED).bindMw(window, key, info);
  }

  private static int bound2(Side b, MemoryWindow window, MwBindInfo info) {
    int key = Rkeys.increment(window.rkey());
    b.postSend(bind(window, key, info));
    b.done(9, WcOpcode.BIND_MW);
    Check.equal(key, window.rkey(), "the key of the window");
    return key;
  }

  private static void type2(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    int key = bound2(b, b.pd.allocateMw(MwType.TYPE_2), part(b, bindable(b), 100, PAGE, Access.REMOTE_WRITE));
    opens(pair, key, 100, PAGE);
    shuts(pair, WrOpcode.RDMA_WRITE, key, 100 + PAGE - 1, 2);
  }

  private static void rights(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    int key = bound2(b, b.pd.allocateMw(MwType.TYPE_2), part(b, bindable(b), 0, PAGE, Access.REMOTE_READ));
    b.fill(0, 100, 3);
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_READ, key, b.region.address(), 100));
    pair.a().done(5, WcOpcode.RDMA_READ);
    pair.a().verify(0, 100, 3);
    shuts(pair, WrOpcode.RDMA_WRITE, key, 0, 8);
    b.verify(0, 100, 3);
  }

  private static void rebind(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryRegion region = bindable(b);
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);
    bound2(b, window, part(b, region, 0, PAGE, Access.REMOTE_WRITE));
    b.postSend(bind(window, Rkeys.increment(window.rkey()), part(b, region, 0, PAGE, Access.REMOTE_WRITE)));
    b.failed(9, WcStatus.MW_BIND_ERR);
  }

  private static void localInvalidate(Side b, int key) {
    b.postSend(
        new SendWorkRequest().wrId(8).opcode(WrOpcode.LOCAL_INV).flags(SendFlag.SIGNALED).invalidateRkey(key));
    b.done(8, WcOpcode.LOCAL_INV);
  }

  private static void invalidateWindow(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryRegion region = bindable(b);
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);
    int first = bound2(b, window, part(b, region, 0, PAGE, Access.REMOTE_WRITE));
    opens(pair, first, 0, 100);
    localInvalidate(b, first);
    int second = bound2(b, window, part(b, region, PAGE, PAGE, Access.REMOTE_WRITE));
    opens(pair, second, PAGE, 100);
    shuts(pair, WrOpcode.RDMA_WRITE, first, 0, 100);
  }

  private static void sendInvalidate(Pair pair, int key) {
    pair.b().postReceive(1, 8 * PAGE, 100);
    pair.a().postSend(pair.a().send(2, 0, 30).opcode(WrOpcode.SEND_WITH_INV).invalidateRkey(key));
    pair.a().done(2, WcOpcode.SEND);
    WorkCompletion received = pair.b().received(1, 30);
    Check.equal(
        WcFlag.WITH_INVALIDATE, received.flags() & WcFlag.WITH_INVALIDATE, "the flag WITH_INVALIDATE of " + received);
    Check.equal(key, received.invalidatedRkey(), "the key that was invalidated");
  }

  private static void invalidateRemotely(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    int key = bound2(b, b.pd.allocateMw(MwType.TYPE_2), part(b, bindable(b), 0, PAGE, Access.REMOTE_WRITE));
    opens(pair, key, 0, 100);
    sendInvalidate(pair, key);
    shuts(pair, WrOpcode.RDMA_WRITE, key, 0, 100);
  }

  private static void noBind(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);
    b.postSend(bind(window, Rkeys.increment(window.rkey()), part(b, b.region, 0, PAGE, Access.REMOTE_WRITE)));
    b.failed(9, WcStatus.MW_BIND_ERR);
  }

  private static void busy(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryRegion region = bindable(b);
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);
    bound2(b, window, part(b, region, 0, PAGE, Access.REMOTE_WRITE));
    Check.refused("the end of a region with a window", region::destroy, Errno.EBUSY);
    window.destroy();
    region.destroy();
  }

  private static void end(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);
    int key = bound2(b, window, part(b, bindable(b), 0, PAGE, Access.REMOTE_WRITE));
    opens(pair, key, 0, 100);
    window.destroy();
    shuts(pair, WrOpcode.RDMA_WRITE, key, 0, 100);
  }

  /** Registers pieces of memory under a new key. */
  private static int register(Side b, MemoryRegion region, Set<Access> rights, MemorySegment... pieces) {
    Check.equal(pieces.length, region.map(List.of(pieces)), "the number of pieces mapped");
    region.updateKey(Rkeys.increment(region.rkey()));
    b.postSend(new SendWorkRequest().wrId(7).flags(SendFlag.SIGNALED).regMr(region, region.rkey(), rights));
    b.done(7, WcOpcode.REG_MR);
    return region.rkey();
  }

  private static void fast(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryRegion region = b.pd.allocateMr(8);
    MemorySegment one = b.memory.asSlice(4 * PAGE, 2 * PAGE);
    MemorySegment two = b.memory.asSlice(PAGE, PAGE);
    int key = register(b, region, OPEN, one, two);
    pair.a().fill(0, 3 * PAGE, 6);
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_WRITE, key, region.address(), 3 * PAGE));
    pair.a().done(5, WcOpcode.RDMA_WRITE);
    Bytes.verify(b.memory, 4L * PAGE, 0, 2 * PAGE, 6, "the first piece");
    Bytes.verify(b.memory, PAGE, 2 * PAGE, PAGE, 6, "the second piece");
    pair.a().postReceive(1, 8 * PAGE, 3 * PAGE);
    b.postSend(
        new SendWorkRequest().wrId(2).flags(SendFlag.SIGNALED).addSge(region.address(), 3 * PAGE, region.lkey()));
    b.done(2, WcOpcode.SEND);
    pair.a().received(1, 3 * PAGE);
    pair.a().verify(8 * PAGE, 3 * PAGE, 6);
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_WRITE, key, region.address() + 3 * PAGE - 1, 2));
    pair.a().failed(5, WcStatus.REM_ACCESS_ERR);
  }

  private static void fastKey(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryRegion region = b.pd.allocateMr(2);
    int first = register(b, region, OPEN, b.memory.asSlice(0, PAGE));
    opens(pair, first, 0, 100);
    localInvalidate(b, first);
    int second = register(b, region, OPEN, b.memory.asSlice(0, PAGE));
    opens(pair, second, 0, 100);
    shuts(pair, WrOpcode.RDMA_WRITE, first, 0, 100);
  }

  private static void fastInvalidate(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryRegion region = b.pd.allocateMr(2);
    int key = register(b, region, OPEN, b.memory.asSlice(0, PAGE));
    opens(pair, key, 0, 100);
    localInvalidate(b, key);
    shuts(pair, WrOpcode.RDMA_WRITE, key, 0, 100);
    pair.reconnect();
    opens(pair, register(b, region, OPEN, b.memory.asSlice(0, PAGE)), 0, 100);
  }

  private static void fastInvalidateRemotely(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    int key = register(b, b.pd.allocateMr(2), OPEN, b.memory.asSlice(0, PAGE));
    opens(pair, key, 0, 100);
    sendInvalidate(pair, key);
    shuts(pair, WrOpcode.RDMA_WRITE, key, 0, 100);
  }

  private static void fastRights(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    int key = register(b, b.pd.allocateMr(2), EnumSet.of(Access.REMOTE_READ), b.memory.asSlice(0, PAGE));
    b.fill(0, 100, 2);
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_READ, key, b.region.address(), 100));
    pair.a().done(5, WcOpcode.RDMA_READ);
    pair.a().verify(0, 100, 2);
    shuts(pair, WrOpcode.RDMA_WRITE, key, 0, 100);
  }

  private static void fastTwice(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryRegion region = b.pd.allocateMr(2);
    register(b, region, OPEN, b.memory.asSlice(0, PAGE));
    b.postSend(new SendWorkRequest().wrId(7).flags(SendFlag.SIGNALED).regMr(region, region.rkey(), OPEN));
    b.failed(7, WcStatus.LOC_QP_OP_ERR, WcStatus.MW_BIND_ERR);
  }
}
