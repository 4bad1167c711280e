package org.rdma4j.provider.contract.suite;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;

/** Several threads at once. */
final class ConcurrencyCases {
  private static final int THREADS = 4;
  private static final int ROUNDS = 40;

  private ConcurrencyCases() {}

  static void add(CaseList list) {
    list.add("concurrency.posters", "Threads that post to queue pairs of their own share a completion queue.",
        ConcurrencyCases::posters);
    list.add("concurrency.make-and-end", "Threads make and destroy objects while traffic goes on.",
        ConcurrencyCases::makers);
    list.add("concurrency.err-under-post", "ERR while a thread posts: all that was accepted completes, once.",
        ConcurrencyCases::errors);
    list.add("concurrency.register", "Threads register and destroy memory, and each key opens its own.",
        ConcurrencyCases::registrations);
  }

  /** What threads of a case do. */
  private interface Work {
    void run(int thread) throws Exception;
  }

  private static void together(int threads, Work work) throws InterruptedException {
    AtomicReference<Throwable> first = new AtomicReference<>();
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int number = i;
      all.add(
          Thread.ofPlatform()
              .daemon()
              .name("contract thread " + i)
              .start(
                  () -> {
                    try {
                      work.run(number);
                    } catch (Exception | Error e) {
                      first.compareAndSet(null, e);
                    }
                  }));
    }
    for (Thread each : all) {
      each.join();
    }
    if (first.get() != null) {
      throw new Broken("a thread fails", first.get());
    }
  }

  private static int threads(Side a) {
    return Math.max(1, Math.min(THREADS, a.limit(DeviceLimit.MAX_QP) / 4));
  }

  private static void posters(Bench bench) throws InterruptedException {
    Side a = bench.a();
    Side b = bench.b();
    int threads = threads(a);
    List<QueuePair> qps = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      QueuePair from = a.pd.createQp(a.init(QpType.RC));
      QueuePair to = b.pd.createQp(b.init(QpType.RC));
      a.connect(from, b, to.number(), Way.USUAL);
      b.connect(to, a, from.number(), Way.USUAL);
      qps.add(from);
    }
    Set<Long> seen = new HashSet<>();
    together(
        threads + 1,
        thread -> {
          if (thread == threads) {
            for (int i = 0; i < threads * ROUNDS; i++) {
              WorkCompletion next = a.next();
              Check.equal(WcStatus.SUCCESS, next.status(), "the status of " + next);
              Check.that(seen.add(next.wrId()), "twice: " + next);
            }
          } else {
            post(qps.get(thread), a, b, thread);
          }
        });
    Check.equal(threads * ROUNDS, seen.size(), "the number of completions");
    a.nothing();
    for (int i = 0; i < threads; i++) {
      b.verify(i * 4096L, 1000, i);
    }
  }

  private static void post(QueuePair qp, Side a, Side b, int thread) {
    Bytes.fill(a.memory, thread * 4096L, 1000, thread);
    Patience patience = new Patience();
    for (int i = 0; i < ROUNDS; i++) {
      SendWorkRequest write =
          a.remote(WrOpcode.RDMA_WRITE, thread * 1000L + i, thread * 4096L, 1000, b, thread * 4096L);
      boolean posted = false;
      while (!posted) {
        try {
          qp.postSend(write);
          posted = true;
        } catch (PostException e) {
          Check.equal(Errno.ENOMEM, e.errno(), "the error of posting");
          Check.that(patience.waits(), "the queue stays full");
        }
      }
    }
  }

  private static void makers(Bench bench) throws InterruptedException {
    Side a = Traffic.prepare(bench.a());
    Side b = Traffic.prepare(bench.b());
    new Pair(a, b, Way.USUAL).connect();
    Traffic here = new Traffic(a, "a");
    Traffic there = new Traffic(b, "b");
    here.start();
    there.start();
    here.awaitWarm();
    Side other = bench.a();
    together(
        threads(other),
        thread -> {
          for (int i = 0; i < ROUNDS / 2; i++) {
            ProtectionDomain pd = other.context.allocatePd();
            CompletionQueue cq = other.context.createCq(8, null, 0);
            MemoryRegion mr = pd.registerMemory(other.memory);
            QueuePair qp = pd.createQp(new QpInitAttributes(QpType.RC).sendCq(cq).recvCq(cq));
            qp.modify(other.toInit(QpType.RC, Way.USUAL));
            qp.destroy();
            mr.destroy();
            cq.destroy();
            pd.destroy();
          }
        });
    long before = here.succeeded();
    Patience patience = new Patience();
    while (here.succeeded() == before) {
      Check.that(patience.waits(), "traffic has stopped");
    }
    here.stop();
    there.stop();
    here.join();
    there.join();
  }

  private static void errors(Bench bench) throws InterruptedException {
    for (int round = 0; round < 3; round++) {
      Pair pair = bench.pair(QpType.RC);
      Side a = pair.a();
      Set<Long> accepted = new HashSet<>();
      together(
          2,
          thread -> {
            if (thread == 0) {
              for (long id = 0; id < a.qp().capabilities().maxSendWr() / 2; id++) {
                a.postSend(a.send(id, 0, 8).flags(SendFlag.SIGNALED));
                accepted.add(id);
              }
            } else {
              a.qp().modify(new QpAttributes().state(QpState.ERR));
            }
          });
      while (!accepted.isEmpty()) {
        WorkCompletion next = a.next();
        Check.equal(WcStatus.WR_FLUSH_ERR, next.status(), "the status of " + next);
        Check.that(accepted.remove(next.wrId()), "twice: " + next);
      }
      a.nothing();
    }
  }

  private static void registrations(Bench bench) throws InterruptedException {
    Side a = bench.a();
    Side b = bench.b();
    together(
        threads(a),
        thread -> {
          CompletionQueue cq = a.context.createCq(8, null, 0);
          QueuePair from = a.pd.createQp(a.init(QpType.RC).sendCq(cq).recvCq(cq));
          QueuePair to = b.pd.createQp(b.init(QpType.RC));
          a.connect(from, b, to.number(), Way.USUAL);
          b.connect(to, a, from.number(), Way.USUAL);
          for (int i = 0; i < ROUNDS / 2; i++) {
            long at = thread * 16_384L + i % 4 * 4096L;
            MemoryRegion mr = b.pd.registerMemory(b.memory.asSlice(at, 4096), b.rights());
            Bytes.fill(a.memory, at, 100, i);
            from.postSend(
                a.request(WrOpcode.RDMA_WRITE, i, at, 100).remoteAddress(mr.address()).rkey(mr.rkey()));
            WorkCompletion done = Side.next(cq, "a completion");
            Check.equal(WcStatus.SUCCESS, done.status(), "the status of " + done);
            Bytes.verify(b.memory, at, 100, i, "the region");
            mr.destroy();
          }
          try {
            from.postSend(a.request(WrOpcode.RDMA_WRITE, 99, 0, 1).remoteAddress(1).rkey(0));
          } catch (VerbsException e) {
            throw new Broken("a request to a key that is none is refused when posted", e);
          }
          Check.equal(WcStatus.REM_ACCESS_ERR, Side.next(cq, "a completion").status(), "the status of key 0");
        });
  }
}
