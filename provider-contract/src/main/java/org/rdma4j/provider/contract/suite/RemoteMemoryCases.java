package org.rdma4j.provider.contract.suite;

import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;

/** Reliable connections: the memory of the peer is written and read, with every byte looked at. */
final class RemoteMemoryCases {
  private static final int[] LENGTHS = {0, 1, 7, 8, 63, 64, 65, 255, 256, 1023, 1024, 1025, 3000, 4096, 9001, 65_536};
  private static final int IMMEDIATE = 0x8badf00d;

  private RemoteMemoryCases() {}

  static void add(CaseList list) {
    list.add("rc.write.bytes", "A WRITE of any length brings exactly its bytes, and touches none beside them.",
        RemoteMemoryCases::writes);
    list.add("rc.write.no-receive", "A WRITE takes no receive and tells the peer nothing.",
        RemoteMemoryCases::writeSilent);
    list.add("rc.write.immediate", "A WRITE with immediate takes one receive, whose buffers stay as they are.",
        RemoteMemoryCases::writeImmediate);
    list.add("rc.write.immediate-waits", "A WRITE with immediate waits for its receive as a SEND does.",
        RemoteMemoryCases::writeImmediateWaits);
    list.add("rc.write.inline", "A WRITE takes inline data.", RemoteMemoryCases::writeInline, Need.INLINE);
    list.add("rc.write.gather", "A WRITE gathers from several buffers.", RemoteMemoryCases::writeGather);
    list.add("rc.write.large", "A WRITE of many packets is as right at its end as at its beginning.",
        RemoteMemoryCases::writeLarge);
    list.add("rc.read.bytes", "A READ of any length brings exactly the bytes of the peer, and touches none beside.",
        RemoteMemoryCases::reads, Need.READ);
    list.add("rc.read.scatter", "A READ scatters into several buffers.", RemoteMemoryCases::readScatter, Need.READ);
    list.add("rc.read.after-write", "A READ behind a WRITE sees what was written.", RemoteMemoryCases::readAfterWrite,
        Need.READ);
    list.add("rc.read.fence", "A fenced SEND takes its bytes after the READ before it has brought them.",
        RemoteMemoryCases::fence, Need.READ);
    list.add("rc.read.many", "As many READs as wished may be posted; they end in order.", RemoteMemoryCases::readsMany,
        Need.READ);
  }

  private static void writes(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    Side b = pair.b();
    long id = 0;
    for (int length : LENGTHS) {
      id++;
      a.fill(8, length, (int) id);
      b.memory.asSlice(0, length + 200L).fill((byte) 0);
      a.postSend(a.remote(WrOpcode.RDMA_WRITE, id, 8, length, b, 101));
      a.done(id, WcOpcode.RDMA_WRITE);
      b.untouched(0, 101);
      b.verify(101, length, (int) id);
      b.untouched(101 + length, 64);
    }
  }

  private static void writeSilent(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.b().postReceive(1, 0, 100);
    pair.a().postSend(pair.a().remote(WrOpcode.RDMA_WRITE, 2, 0, 50, pair.b(), 4096));
    pair.a().done(2, WcOpcode.RDMA_WRITE);
    pair.b().nothing();
    pair.a().postSend(pair.a().send(3, 0, 10));
    pair.b().received(1, 10);
    pair.a().done(3, WcOpcode.SEND);
  }

  private static void writeImmediate(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side b = pair.b();
    for (int length : new int[] {0, 1, 2500}) {
      pair.a().fill(0, length, length + 3);
      b.postReceive(1, 0, 100);
      pair.a()
          .postSend(
              pair.a().remote(WrOpcode.RDMA_WRITE_WITH_IMM, 2, 0, length, b, 4096).immediate(IMMEDIATE + length));
      WorkCompletion received = b.done(1, WcOpcode.RECV_RDMA_WITH_IMM);
      Check.equal(WcFlag.WITH_IMM, received.flags() & WcFlag.WITH_IMM, "the flag WITH_IMM of " + received);
      Check.equal(IMMEDIATE + length, received.immediate(), "the immediate data");
      Check.equal(length, received.byteLength(), "byte_len of " + received);
      pair.a().done(2, WcOpcode.RDMA_WRITE);
      b.untouched(0, 100);
      b.verify(4096, length, length + 3);
    }
  }

  private static void writeImmediateWaits(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    pair.a().fill(0, 100, 3);
    pair.a().postSend(pair.a().remote(WrOpcode.RDMA_WRITE_WITH_IMM, 1, 0, 100, pair.b(), 4096).immediate(IMMEDIATE));
    pair.a().nothing();
    pair.b().postReceive(2, 0, 100);
    Check.equal(IMMEDIATE, pair.b().done(2, WcOpcode.RECV_RDMA_WITH_IMM).immediate(), "the immediate data");
    pair.a().done(1, WcOpcode.RDMA_WRITE);
    pair.b().verify(4096, 100, 3);
  }

  private static void writeInline(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    int length = pair.a().qp().capabilities().maxInlineData();
    pair.a().fill(0, length, 6);
    SendWorkRequest write = pair.a().remote(WrOpcode.RDMA_WRITE, 1, 0, length, pair.b(), 64);
    pair.a().postSend(write.flags(SendFlag.SIGNALED | SendFlag.INLINE));
    pair.a().fill(0, length, 7);
    pair.a().done(1, WcOpcode.RDMA_WRITE);
    pair.b().verify(64, length, 6);
  }

  private static void writeGather(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    int parts = a.qp().capabilities().maxSendSge();
    SendWorkRequest write =
        new SendWorkRequest()
            .wrId(1)
            .opcode(WrOpcode.RDMA_WRITE)
            .flags(SendFlag.SIGNALED)
            .remoteAddress(pair.b().region.address())
            .rkey(pair.b().region.rkey());
    for (int i = 0; i < parts; i++) {
      a.fill(i * 4096L, 777, i);
      write.addSge(a.region.address() + i * 4096L, 777, a.region.lkey());
    }
    a.postSend(write);
    a.done(1, WcOpcode.RDMA_WRITE);
    for (int i = 0; i < parts; i++) {
      pair.b().verify(i * 777L, 777, i);
    }
    pair.b().untouched(parts * 777L, 64);
  }

  private static void writeLarge(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    int length = (int) Math.min(Side.BYTES, pair.a().device.port(pair.a().port).maxMessageSize());
    pair.a().fill(0, length, 12);
    pair.a().postSend(pair.a().remote(WrOpcode.RDMA_WRITE, 1, 0, length, pair.b(), 0));
    pair.a().done(1, WcOpcode.RDMA_WRITE);
    pair.b().verify(0, length, 12);
  }

  private static void reads(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    Side b = pair.b();
    long id = 0;
    for (int length : LENGTHS) {
      id++;
      b.fill(77, length, (int) id);
      a.memory.asSlice(0, length + 200L).fill((byte) 0);
      a.postSend(a.remote(WrOpcode.RDMA_READ, id, 33, length, b, 77));
      a.done(id, WcOpcode.RDMA_READ);
      a.untouched(0, 33);
      a.verify(33, length, (int) id);
      a.untouched(33 + length, 64);
    }
    b.nothing();
  }

  private static void readScatter(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    int parts = Math.min(a.qp().capabilities().maxSendSge(), Math.max(1, a.limit(DeviceLimit.MAX_SGE_RD)));
    pair.b().fill(0, parts * 1300, 9);
    SendWorkRequest read =
        new SendWorkRequest()
            .wrId(1)
            .opcode(WrOpcode.RDMA_READ)
            .flags(SendFlag.SIGNALED)
            .remoteAddress(pair.b().region.address())
            .rkey(pair.b().region.rkey());
    for (int i = 0; i < parts; i++) {
      read.addSge(a.region.address() + i * 8192L, 1300, a.region.lkey());
    }
    a.postSend(read);
    a.done(1, WcOpcode.RDMA_READ);
    for (int i = 0; i < parts; i++) {
      Bytes.verify(a.memory, i * 8192L, i * 1300, 1300, 9, "buffer " + i);
      a.untouched(i * 8192L + 1300, 64);
    }
  }

  private static void readAfterWrite(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    for (int i = 0; i < 20; i++) {
      pair.a().fill(0, 3000, i);
      SendWorkRequest read = pair.a().remote(WrOpcode.RDMA_READ, 2, 8192, 3000, pair.b(), 0);
      pair.a().postSend(pair.a().remote(WrOpcode.RDMA_WRITE, 1, 0, 3000, pair.b(), 0).next(read));
      pair.a().done(1, WcOpcode.RDMA_WRITE);
      pair.a().done(2, WcOpcode.RDMA_READ);
      pair.a().verify(8192, 3000, i);
    }
  }

  private static void fence(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    for (int i = 0; i < 20; i++) {
      pair.b().fill(0, 4000, i);
      pair.b().postReceive(1, 8192, 4000);
      SendWorkRequest send = pair.a().send(3, 0, 4000).flags(SendFlag.SIGNALED | SendFlag.FENCE);
      pair.a().postSend(pair.a().remote(WrOpcode.RDMA_READ, 2, 0, 4000, pair.b(), 0).next(send));
      pair.a().done(2, WcOpcode.RDMA_READ);
      pair.a().done(3, WcOpcode.SEND);
      pair.b().received(1, 4000);
      pair.b().verify(8192, 4000, i);
    }
  }

  private static void readsMany(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    int count = Math.min(32, pair.a().qp().capabilities().maxSendWr());
    pair.b().fill(0, count * 1500, 2);
    for (int i = 0; i < count; i++) {
      pair.a().postSend(pair.a().remote(WrOpcode.RDMA_READ, i, i * 1500L, 1500, pair.b(), i * 1500L));
    }
    for (int i = 0; i < count; i++) {
      pair.a().done(i, WcOpcode.RDMA_READ);
    }
    pair.a().verify(0, count * 1500, 2);
  }
}
