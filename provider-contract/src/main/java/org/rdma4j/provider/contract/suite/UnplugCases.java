package org.rdma4j.provider.contract.suite;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.VerbsObject;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/** The first device is taken out while it is in use: what its users see, and that it works when it is back. */
final class UnplugCases {
  private static final int PAIRS = 2;

  private UnplugCases() {}

  static void add(CaseList list) {
    list.add("unplug.under-traffic", "All that was posted completes, once and in order; then posting is EIO.",
        UnplugCases::traffic);
    list.add("unplug.outstanding", "Work that is posted and not done is flushed and stays to be polled.",
        UnplugCases::outstanding);
    list.add("unplug.objects", "Every call on an object of a device that is gone is EIO, and closing works.",
        UnplugCases::objects);
    list.add("unplug.open", "A device that is gone takes no new users: ENODEV.", UnplugCases::open);
    list.add("unplug.waiters", "Who waits for an event of a device that goes is told.", UnplugCases::waiters);
    list.add("unplug.returns", "A device that is back works as before.", UnplugCases::returns);
  }

  /** What is done while the device is out. */
  private interface Body {
    void run() throws InterruptedException;
  }

  /** Takes the device out and brings it back, whatever happens meanwhile. */
  private static void unplugged(Setting setting, Body body) throws InterruptedException {
    setting.takeOut().run();
    try {
      body.run();
    } finally {
      setting.putBack().run();
    }
  }

  private static Setting setting(Bench bench) {
    if (!bench.setting().canUnplug()) {
      throw new Skipped("nobody tells how the device is taken out (Plug)");
    }
    return bench.setting();
  }

  private static void traffic(Bench bench) throws InterruptedException {
    Setting setting = setting(bench);
    List<Side> here = new ArrayList<>();
    List<Side> there = new ArrayList<>();
    List<Traffic> users = new ArrayList<>();
    for (int i = 0; i < PAIRS; i++) {
      Side a = Traffic.prepare(bench.a());
      Side b = Traffic.prepare(bench.b());
      new Pair(a, b, Way.usual().timeout(12, 6)).connect();
      here.add(a);
      there.add(b);
      users.add(new Traffic(a, "a" + i));
      users.add(new Traffic(b, "b" + i));
    }
    users.forEach(Traffic::start);
    for (Traffic each : users) {
      each.awaitWarm();
    }
    unplugged(
        setting,
        () -> {
          for (Traffic each : users) {
            each.join();
            each.assertComplete();
            Check.that(each.succeeded() > 0, each + " had no traffic");
          }
          // One that got all its work done before it was flushed is as good as any.
          Check.that(users.stream().anyMatch(each -> each.flushed() > 0), "nothing was under way: " + users);
          for (Side each : here) {
            Check.equal(AsyncEventType.DEVICE_FATAL, lastEvent(each), "the last event of " + each);
          }
        });
    for (Side each : there) {
      Check.that(each.qp().state() == QpState.ERR, each.qp() + " is in " + each.qp().state() + ", not in ERR");
    }
    works(bench);
  }

  private static AsyncEventType lastEvent(Side side) {
    AsyncEventType last = null;
    try {
      AsyncEvent event = side.context.getAsyncEvent(Duration.ZERO);
      while (event != null) {
        last = event.type();
        event = side.context.getAsyncEvent(Duration.ZERO);
      }
    } catch (VerbsException e) {
      Check.equal(Errno.EIO, e.errno(), "the error when all events are taken");
    }
    return last;
  }

  private static void works(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    for (Pair each : new Pair[] {pair, pair.turned()}) {
      each.a().fill(0, 5000, 3);
      each.b().postReceive(1, 8192, 5000);
      each.a().postSend(each.a().send(2, 0, 5000));
      each.b().received(1, 5000);
      each.a().done(2, WcOpcode.SEND);
      each.b().verify(8192, 5000, 3);
    }
  }

  private static void outstanding(Bench bench) throws InterruptedException {
    Setting setting = setting(bench);
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    for (int i = 0; i < 5; i++) {
      a.postReceive(100 + i, 0, 100);
      a.postSend(a.send(i, 0, 100)); // The peer has no receive.
    }
    unplugged(
        setting,
        () -> {
          int sends = 0;
          int receives = 0;
          while (sends + receives < 10) {
            WorkCompletion next = a.next();
            // Where the peer goes too it may go first, and then the oldest send has no answer.
            boolean unanswered = next.wrId() == 0 && next.status() == WcStatus.RETRY_EXC_ERR;
            Check.that(next.status() == WcStatus.WR_FLUSH_ERR || unanswered, "not flushed: " + next);
            long expected = next.wrId() < 100 ? sends++ : 100 + receives++;
            Check.equal(expected, next.wrId(), "wr_id, in the order of posting,");
          }
          gone("polling when all is taken", () -> a.cq.poll(WorkCompletion.batch(1)));
          gone("posting a send", () -> a.postSend(a.send(9, 0, 8)));
          gone("posting a receive", () -> a.postReceive(9, 0, 8));
          gone("arming", () -> a.cq.requestNotify(CqNotify.NEXT_COMP));
        });
  }

  private static void gone(String what, Runnable call) {
    Check.refused(what, call, Errno.EIO);
  }

  private static void objects(Bench bench) throws InterruptedException {
    Setting setting = setting(bench);
    Pair pair = bench.pair(QpType.RC);
    Side a = pair.a();
    unplugged(
        setting,
        () -> {
          gone("a query", () -> a.qp().query());
          gone("a change", () -> a.qp().modify(new QpAttributes().state(QpState.ERR)));
          gone("a registration", () -> a.pd.registerMemory(a.memory));
          gone("a new queue pair", () -> a.pd.createQp(a.init(QpType.RC)));
          Check.refused("a new protection domain", a.context::allocatePd, Errno.EIO, Errno.ENODEV);
          Check.that(a.context.isClosed(), "the context does not say that it is over");
          Check.equal(QpState.ERR, a.qp().state(), "the state of the queue pair");
          a.qp().lastFailure();
          for (VerbsObject each : new VerbsObject[] {a.qp(), a.cq, a.region, a.pd}) {
            each.close();
          }
          a.context.close();
        });
    works(bench);
  }

  private static void open(Bench bench) throws InterruptedException {
    Setting setting = setting(bench);
    RdmaDevice before = bench.deviceA();
    before.open().close();
    unplugged(
        setting,
        () -> {
          Check.refused("opening a device that is gone", before::open, Errno.ENODEV);
          Check.refused("the query of a port", () -> before.port(1), Errno.ENODEV);
        });
    works(bench);
  }

  private static void waiters(Bench bench) throws InterruptedException {
    Setting setting = setting(bench);
    Side a = bench.a();
    CompletionChannel channel = a.context.createCompletionChannel();
    CompletionQueue cq = a.context.createCq(4, channel, 0);
    cq.requestNotify(CqNotify.NEXT_COMP);
    AtomicReference<Errno> told = new AtomicReference<>();
    Thread waiter =
        Thread.ofPlatform()
            .daemon()
            .name("contract waiter")
            .start(
                () -> {
                  try {
                    while (channel.getEvent(Duration.ofSeconds(60)) == cq) {
                      cq.poll(WorkCompletion.batch(1));
                    }
                  } catch (VerbsException e) {
                    told.set(e.errno());
                  }
                });
    unplugged(
        setting,
        () -> {
          Check.that(waiter.join(Duration.ofNanos(Patience.NANOS)), "a thread that waits for an event is not told");
          Check.equal(Errno.EIO, told.get(), "what a thread that waits is told");
          Check.equal(AsyncEventType.DEVICE_FATAL, lastEvent(a), "the last event");
        });
  }

  private static void returns(Bench bench) throws InterruptedException {
    Setting setting = setting(bench);
    String name = bench.deviceA().name();
    for (int i = 0; i < 3; i++) {
      unplugged(setting, () -> {});
      Check.equal(name, bench.deviceA().name(), "the name of the device that is back");
      works(bench);
    }
  }
}
