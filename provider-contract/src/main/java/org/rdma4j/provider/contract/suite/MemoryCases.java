package org.rdma4j.provider.contract.suite;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MrUpdate;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WrOpcode;

/** Registered memory: who may touch what, and that nobody else does. */
final class MemoryCases {
  private static final int PAGE = 4096;
  private static final long ELSEWHERE = 0x7000_0000_0000L;

  private MemoryCases() {}

  static void add(CaseList list) {
    list.add("mr.register.refused", "Memory that cannot be registered is refused with EINVAL.", MemoryCases::refused);
    list.add("mr.register.read-only", "Read-only memory is registered without LOCAL_WRITE; with it is EACCES.",
        MemoryCases::readOnly);
    list.add("mr.overlap", "Memory can be registered many times, each with its own key and rights.",
        MemoryCases::overlap);
    list.add("mr.iova", "A region can have an address of its owner's choice.", MemoryCases::iova);
    list.add("mr.zero-based", "A region can count its addresses from 0.", MemoryCases::zeroBased);
    list.add("mr.unaligned", "A region may begin and end anywhere.", MemoryCases::unaligned);
    list.add("mr.access.local-write-denied", "A receive into memory without LOCAL_WRITE fails, and writes nothing.",
        MemoryCases::localWrite);
    list.add("mr.access.remote-write-denied", "A WRITE to a region without REMOTE_WRITE fails, and writes nothing.",
        bench -> denied(bench, WrOpcode.RDMA_WRITE, Access.REMOTE_WRITE));
    list.add("mr.access.remote-read-denied", "A READ of a region without REMOTE_READ fails, and brings nothing.",
        bench -> denied(bench, WrOpcode.RDMA_READ, Access.REMOTE_READ), Need.READ);
    list.add("mr.access.remote-atomic-denied", "An atomic on a region without REMOTE_ATOMIC fails, changing nothing.",
        bench -> denied(bench, WrOpcode.ATOMIC_FETCH_AND_ADD, Access.REMOTE_ATOMIC), Need.ATOMICS);
    list.add("mr.range.end", "A WRITE of one byte beyond the end fails, and writes nothing.",
        bench -> range(bench, WrOpcode.RDMA_WRITE, PAGE - 100, 101));
    list.add("mr.range.begin", "A WRITE of one byte before the beginning fails, and writes nothing.",
        bench -> range(bench, WrOpcode.RDMA_WRITE, -1, 100));
    list.add("mr.range.read", "A READ of one byte beyond the end fails, and brings nothing.",
        bench -> range(bench, WrOpcode.RDMA_READ, PAGE - 100, 101), Need.READ);
    list.add("mr.range.overflow", "An address that wraps around fails.",
        bench -> range(bench, WrOpcode.RDMA_WRITE, Long.MAX_VALUE, 100));
    list.add("mr.rkey.wrong", "A WRITE with a key that nobody has fails, and writes nothing.", MemoryCases::wrongRkey);
    list.add("mr.rkey.other-domain", "A key of another protection domain does not open memory to peers.",
        MemoryCases::otherDomainRemote);
    list.add("mr.lkey.wrong", "A SEND with a local key that is wrong fails with LOC_PROT_ERR.", MemoryCases::wrongLkey);
    list.add("mr.lkey.range", "A SEND beyond the end of local memory fails with LOC_PROT_ERR.",
        MemoryCases::localRange);
    list.add("mr.lkey.other-domain", "A local key of another protection domain fails with LOC_PROT_ERR.",
        MemoryCases::otherDomainLocal);
    list.add("mr.end.rkey", "A destroyed region is closed to peers at once.", MemoryCases::destroyedRemote);
    list.add("mr.end.lkey", "A destroyed region is closed to its own side at once.", MemoryCases::destroyedLocal);
    list.add("mr.end.arena", "Memory whose arena is closed ends in an error, never in a crash.", MemoryCases::closed);
    list.add("mr.rereg.rights", "Re-registering takes rights away and gives them.", MemoryCases::reregisterRights);
    list.add("mr.rereg.memory", "Re-registering moves a region to other memory, under other keys.",
        MemoryCases::reregisterMemory);
  }

  private static void refused(Bench bench) {
    Side a = bench.a();
    Check.invalid("memory of the heap", () -> a.pd.registerMemory(MemorySegment.ofArray(new byte[64])));
    Check.invalid("no memory", () -> a.pd.registerMemory(a.memory.asSlice(0, 0)));
    try (Arena confined = Arena.ofConfined()) {
      MemorySegment memory = confined.allocate(64);
      Check.invalid("memory of a confined arena", () -> a.pd.registerMemory(memory));
    }
    Arena over = Arena.ofShared();
    MemorySegment gone = over.allocate(64);
    over.close();
    Check.invalid("memory of a closed arena", () -> a.pd.registerMemory(gone));
    Check.invalid("REMOTE_WRITE without LOCAL_WRITE", () -> a.pd.registerMemory(a.memory, Access.REMOTE_WRITE));
    Check.invalid("REMOTE_ATOMIC without LOCAL_WRITE", () -> a.pd.registerMemory(a.memory, Access.REMOTE_ATOMIC));
  }

  private static void readOnly(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    MemorySegment memory = a.memory.asReadOnly();
    Check.refused(
        "LOCAL_WRITE on read-only memory", () -> a.pd.registerMemory(memory, Access.LOCAL_WRITE), Errno.EACCES);
    MemoryRegion region = a.pd.registerMemory(memory);
    a.fill(0, 100, 3);
    pair.b().postReceive(1, 0, 100);
    a.postSend(local(region, 0, 100, 2));
    pair.b().received(1, 100);
    a.done(2, WcOpcode.SEND);
    pair.b().verify(0, 100, 3);
  }

  private static SendWorkRequest local(MemoryRegion region, long offset, int length, long id) {
    return new SendWorkRequest()
        .wrId(id)
        .flags(SendFlag.SIGNALED)
        .addSge(region.address() + offset, length, region.lkey());
  }

  private static SendWorkRequest remote(Side a, WrOpcode opcode, MemoryRegion region, long offset, int length) {
    return a.request(opcode, 5, 0, length).remoteAddress(region.address() + offset).rkey(region.rkey()).compareAdd(1);
  }

  private static void overlap(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryRegion open = b.pd.registerMemory(b.memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    MemoryRegion shut = b.pd.registerMemory(b.memory, Access.LOCAL_WRITE);
    MemoryRegion part = b.pd.registerMemory(b.memory.asSlice(PAGE, PAGE), Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    Check.that(open.lkey() != shut.lkey() && open.lkey() != part.lkey(), "two regions have one key");
    pair.a().fill(0, 100, 1);
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_WRITE, open, 50, 100));
    pair.a().done(5, WcOpcode.RDMA_WRITE);
    b.verify(50, 100, 1);
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_WRITE, part, 50, 100));
    pair.a().done(5, WcOpcode.RDMA_WRITE);
    b.verify(PAGE + 50, 100, 1);
    part.destroy();
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_WRITE, open, PAGE + 1000, 100));
    pair.a().done(5, WcOpcode.RDMA_WRITE);
    b.verify(PAGE + 1000, 100, 1);
  }

  private static void through(Pair pair, MemoryRegion region, MemorySegment memory) {
    Side a = pair.a();
    int length = (int) Math.min(3000, memory.byteSize());
    a.fill(0, length, 7);
    long at = memory.byteSize() - length;
    a.postSend(remote(a, WrOpcode.RDMA_WRITE, region, at, length));
    a.done(5, WcOpcode.RDMA_WRITE);
    Bytes.verify(memory, at, length, 7, "the region");
    a.fill(0, length, 8);
    pair.b().qp().postReceive(
        new ReceiveWorkRequest().wrId(6).addSge(region.address(), length, region.lkey()));
    a.postSend(a.send(5, 0, length));
    a.done(5, WcOpcode.SEND);
    pair.b().received(6, length);
    Bytes.verify(memory, 0, length, 8, "the region");
  }

  private static void iova(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemorySegment memory = b.memory.asSlice(123, 20_000);
    // Hardware translates whole pages: both addresses have the same offset in theirs.
    long iova = ELSEWHERE + (memory.address() & (PAGE - 1));
    MemoryRegion region =
        b.pd.registerMemory(memory, iova, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE));
    Check.equal(iova, region.address(), "the address of the region");
    through(pair, region, memory);
  }

  private static void zeroBased(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemorySegment memory = b.memory.asSlice(0, 20_000);
    MemoryRegion region;
    try {
      region = b.pd.registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.ZERO_BASED);
    } catch (VerbsException e) {
      if (e.errno() == Errno.EOPNOTSUPP) {
        throw new Skipped(b + " has no zero based regions");
      }
      throw e;
    }
    Check.equal(0L, region.address(), "the address of the region");
    through(pair, region, memory);
  }

  private static void unaligned(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    for (int[] each : new int[][] {{1, 1}, {4095, 2}, {777, 9000}, {8191, 4097}}) {
      MemorySegment memory = b.memory.asSlice(each[0], each[1]);
      MemoryRegion region = b.pd.registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
      through(pair, region, memory);
      region.destroy();
    }
  }

  private static void localWrite(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryRegion region = b.pd.registerMemory(b.memory);
    pair.a().fill(0, 100, 1);
    b.qp().postReceive(new ReceiveWorkRequest().wrId(1).addSge(region.address(), 100, region.lkey()));
    pair.a().postSend(pair.a().send(2, 0, 100));
    b.failed(1, WcStatus.LOC_PROT_ERR);
    pair.a().failed(2, WcStatus.REM_OP_ERR);
    b.untouched(0, 200);
  }

  private static void refusedRemotely(Pair pair, WcStatus... allowed) {
    pair.a().failed(5, allowed.length == 0 ? new WcStatus[] {WcStatus.REM_ACCESS_ERR} : allowed);
    pair.b().untouched(0, 4 * PAGE);
    pair.a().nothing();
  }

  private static void denied(Bench bench, WrOpcode opcode, Access right) {
    Pair pair = bench.pair(QpType.RC);
    EnumSet<Access> rights = EnumSet.noneOf(Access.class);
    rights.addAll(Set.of(pair.b().rights()));
    rights.remove(right);
    MemorySegment memory = pair.b().memory;
    MemoryRegion region = pair.b().pd.registerMemory(memory, memory.address(), rights);
    pair.a().fill(0, 8, 1);
    pair.a().postSend(remote(pair.a(), opcode, region, 0, Long.BYTES));
    refusedRemotely(pair);
    pair.a().verify(0, 8, 1);
  }

  private static void range(Bench bench, WrOpcode opcode, long offset, int length) {
    Pair pair = bench.pair(QpType.RC);
    MemoryRegion region =
        pair.b().pd.registerMemory(
            pair.b().memory.asSlice(PAGE, PAGE), Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ);
    pair.a().fill(0, length, 1);
    pair.a().postSend(remote(pair.a(), opcode, region, offset, length));
    refusedRemotely(pair);
    pair.a().verify(0, length, 1);
  }

  private static void wrongRkey(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.a().fill(0, 64, 1);
    SendWorkRequest write = remote(pair.a(), WrOpcode.RDMA_WRITE, pair.b().region, 0, 64);
    pair.a().postSend(write.rkey(pair.b().region.rkey() ^ 0x100));
    refusedRemotely(pair);
    pair.reconnect();
    pair.a().postSend(write.rkey(pair.b().region.rkey() ^ 1));
    refusedRemotely(pair);
  }

  private static void otherDomainRemote(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryRegion region = b.context.allocatePd().registerMemory(b.memory, b.rights());
    pair.a().fill(0, 64, 1);
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_WRITE, region, 0, 64));
    refusedRemotely(pair);
  }

  private static void wrongLkey(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.b().postReceive(1, 0, 100);
    Side a = pair.a();
    SendWorkRequest send = new SendWorkRequest().wrId(2).flags(SendFlag.SIGNALED);
    a.postSend(send.addSge(a.region.address(), 8, a.region.lkey() ^ 0x100));
    a.failed(2, WcStatus.LOC_PROT_ERR);
    pair.b().untouched(0, 100);
  }

  private static void localRange(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    pair.b().postReceive(1, 0, 100);
    a.postSend(a.send(2, Side.BYTES - 50, 51));
    a.failed(2, WcStatus.LOC_PROT_ERR);
    pair.b().untouched(0, 100);
  }

  private static void otherDomainLocal(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    pair.b().postReceive(1, 0, 100);
    a.postSend(local(a.context.allocatePd().registerMemory(a.memory, a.rights()), 0, 8, 2));
    a.failed(2, WcStatus.LOC_PROT_ERR);
    pair.b().untouched(0, 100);
  }

  private static void destroyedRemote(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    MemoryRegion region = pair.b().pd.registerMemory(pair.b().memory, pair.b().rights());
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_WRITE, region, 0, 8));
    pair.a().done(5, WcOpcode.RDMA_WRITE);
    SendWorkRequest late = remote(pair.a(), WrOpcode.RDMA_WRITE, region, 0, 64);
    region.destroy();
    pair.a().fill(0, 64, 1);
    pair.a().postSend(late);
    refusedRemotely(pair);
  }

  private static void destroyedLocal(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    MemoryRegion region = a.pd.registerMemory(a.memory, a.rights());
    SendWorkRequest late = local(region, 0, 8, 2);
    region.destroy();
    pair.b().postReceive(1, 0, 100);
    a.postSend(late);
    a.failed(2, WcStatus.LOC_PROT_ERR);
  }

  private static void closed(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Arena arena = Arena.ofShared();
    MemorySegment memory = arena.allocate(PAGE, PAGE);
    MemoryRegion region = pair.b().pd.registerMemory(memory, pair.b().rights());
    pair.a().fill(0, 64, 1);
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_WRITE, region, 0, 64));
    pair.a().done(5, WcOpcode.RDMA_WRITE);
    Check.equal(0x20, (int) memory.get(ValueLayout.JAVA_BYTE, 0), "the first byte");
    arena.close();
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_WRITE, region, 0, 64));
    pair.a().failed(5, WcStatus.REM_ACCESS_ERR, WcStatus.REM_OP_ERR);
    region.destroy();
  }

  private static void reregister(MemoryRegion region, MrUpdate update) {
    try {
      region.reregister(update);
    } catch (VerbsException e) {
      if (e.errno() == Errno.EOPNOTSUPP) {
        throw new Skipped("re-registration: " + e.getMessage());
      }
      throw e;
    }
  }

  private static void reregisterRights(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryRegion region = b.pd.registerMemory(b.memory, Access.LOCAL_WRITE);
    reregister(region, new MrUpdate().access(Access.LOCAL_WRITE, Access.REMOTE_WRITE));
    pair.a().fill(0, 64, 2);
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_WRITE, region, 8 * PAGE, 64));
    pair.a().done(5, WcOpcode.RDMA_WRITE);
    b.verify(8 * PAGE, 64, 2);
    region.reregister(new MrUpdate().access(Access.LOCAL_WRITE));
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_WRITE, region, 0, 64));
    refusedRemotely(pair);
  }

  private static void reregisterMemory(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    MemoryRegion region =
        b.pd.registerMemory(b.memory.asSlice(0, PAGE), Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    int old = region.rkey();
    SendWorkRequest late = remote(pair.a(), WrOpcode.RDMA_WRITE, region, 0, 64);
    reregister(region, new MrUpdate().translation(b.memory.asSlice(8 * PAGE, PAGE)));
    Check.that(region.rkey() != old, "the remote key is the old one");
    pair.a().fill(0, 64, 2);
    pair.a().postSend(remote(pair.a(), WrOpcode.RDMA_WRITE, region, 0, 64));
    pair.a().done(5, WcOpcode.RDMA_WRITE);
    b.verify(8 * PAGE, 64, 2);
    pair.a().postSend(late);
    refusedRemotely(pair);
  }
}
