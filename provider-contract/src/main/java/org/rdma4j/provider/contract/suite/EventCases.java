package org.rdma4j.provider.contract.suite;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/** Events of completion queues: which completion raises one, and that none is lost. */
final class EventCases {
  private static final Duration LONG = Duration.ofSeconds(20);
  /** How long nothing may come before nothing is believed to come. */
  private static final Duration SHORT = Duration.ofMillis(30);

  private EventCases() {}

  /** A connection whose receiver has a channel. */
  private record Channelled(Pair pair, CompletionChannel channel, CompletionQueue cq) {
    static Channelled open(Bench bench) {
      Side b = bench.b();
      CompletionChannel channel = b.context.createCompletionChannel();
      CompletionQueue cq = b.context.createCq(32, channel, 0);
      b.with(b.init(QpType.RC).recvCq(cq));
      Pair pair = new Pair(bench.a().with(QpType.RC), b, Way.USUAL);
      pair.connect();
      return new Channelled(pair, channel, cq);
    }

    void send(long id, int flags) {
      pair.b().postReceive(id, 0, 100);
      pair.a().postSend(pair.a().send(id, 0, 8).flags(SendFlag.SIGNALED | flags));
      pair.a().done(id, WcOpcode.SEND);
    }

    void take(long id) {
      Side.done(Side.next(cq, "a completion"), id, WcOpcode.RECV);
    }

    void event() {
      Check.equal(cq, channel.getEvent(LONG), "the queue with an event");
    }

    void noEvent(String why) {
      Check.that(channel.getEvent(SHORT) == null, "an event comes " + why);
    }
  }

  static void add(CaseList list) {
    list.add("cq.event.next", "An armed queue raises an event for the next completion.", EventCases::next);
    list.add("cq.event.unarmed", "A queue that is not armed raises none.", EventCases::unarmed);
    list.add("cq.event.once", "One arming raises one event.", EventCases::once);
    list.add("cq.event.solicited", "A queue armed for solicited completions raises an event for those only.",
        EventCases::solicited);
    list.add("cq.event.error", "A completion in error is solicited.", EventCases::error);
    list.add("cq.event.next-wins", "Arming for solicited ones does not take back arming for the next.",
        EventCases::nextWins);
    list.add("cq.event.missed", "Arming tells where completions are there already.", EventCases::missed);
    list.add("cq.event.handler", "A handler is called for events.", EventCases::handler);
    list.add("cq.event.shared-channel", "Two queues of one channel raise an event each.", EventCases::sharedChannel);
    list.add("cq.event.no-loss", "Arm, poll, wait: no message is missed.", EventCases::noLoss);
    list.add("channel.rules", "A channel with a handler refuses to be waited on, with EBUSY.", EventCases::rules);
  }

  private static void next(Bench bench) {
    Channelled c = Channelled.open(bench);
    for (int i = 0; i < 5; i++) {
      c.cq.requestNotify(CqNotify.NEXT_COMP);
      c.send(i, 0);
      c.event();
      c.take(i);
    }
  }

  private static void unarmed(Bench bench) {
    Channelled c = Channelled.open(bench);
    c.send(1, SendFlag.SOLICITED);
    c.take(1);
    c.noEvent("from a queue that is not armed");
  }

  private static void once(Bench bench) {
    Channelled c = Channelled.open(bench);
    c.cq.requestNotify(CqNotify.NEXT_COMP);
    c.send(1, 0);
    c.event();
    c.send(2, 0);
    c.take(1);
    c.take(2);
    c.noEvent("a second time");
  }

  private static void solicited(Bench bench) {
    Channelled c = Channelled.open(bench);
    c.cq.requestNotify(CqNotify.SOLICITED);
    c.send(1, 0);
    c.take(1);
    c.noEvent("for a completion that is not solicited");
    c.send(2, SendFlag.SOLICITED);
    c.event();
    c.take(2);
  }

  private static void error(Bench bench) {
    Channelled c = Channelled.open(bench);
    c.pair.b().postReceive(1, 0, 100);
    c.cq.requestNotify(CqNotify.SOLICITED);
    c.pair.b().qp().modify(new QpAttributes().state(QpState.ERR));
    c.event();
    Check.equal(WcStatus.WR_FLUSH_ERR, Side.next(c.cq, "a flushed receive").status(), "the status");
  }

  private static void nextWins(Bench bench) {
    Channelled c = Channelled.open(bench);
    c.cq.requestNotify(CqNotify.NEXT_COMP);
    c.cq.requestNotify(CqNotify.SOLICITED);
    c.send(1, 0);
    c.event();
    c.take(1);
  }

  private static void missed(Bench bench) {
    Channelled c = Channelled.open(bench);
    Check.that(!c.cq.requestNotify(CqNotify.NEXT_COMP, true), "an empty queue has something");
    c.send(1, 0);
    c.event();
    Check.that(c.cq.requestNotify(CqNotify.NEXT_COMP, true), "a queue with a completion has nothing");
    c.take(1);
  }

  private static void handler(Bench bench) throws InterruptedException {
    Channelled c = Channelled.open(bench);
    CountDownLatch called = new CountDownLatch(1);
    c.channel.setHandler(
        cq -> {
          if (cq == c.cq) {
            called.countDown();
          }
        });
    c.cq.requestNotify(CqNotify.NEXT_COMP);
    c.send(1, 0);
    Check.that(called.await(LONG.toSeconds(), TimeUnit.SECONDS), "the handler is not called");
    c.channel.setHandler(null);
    c.take(1);
  }

  private static void sharedChannel(Bench bench) {
    Side b = bench.b();
    CompletionChannel channel = b.context.createCompletionChannel();
    CompletionQueue sends = b.context.createCq(8, channel, 0);
    CompletionQueue receives = b.context.createCq(8, channel, 0);
    b.with(b.init(QpType.RC).sendCq(sends).recvCq(receives));
    Pair pair = new Pair(bench.a().with(QpType.RC), b, Way.USUAL);
    pair.connect();
    sends.requestNotify(CqNotify.NEXT_COMP);
    receives.requestNotify(CqNotify.NEXT_COMP);
    b.postReceive(1, 0, 100);
    pair.a().postSend(pair.a().send(1, 0, 8));
    Check.equal(receives, channel.getEvent(LONG), "the queue with an event");
    pair.a().postReceive(2, 0, 100);
    b.postSend(b.send(3, 0, 8));
    Check.equal(sends, channel.getEvent(LONG), "the queue with an event");
  }

  private static void noLoss(Bench bench) {
    Channelled c = Channelled.open(bench);
    int count = 100;
    WorkCompletion[] batch = WorkCompletion.batch(4);
    int posted = 0;
    int received = 0;
    Patience patience = new Patience(2 * Patience.NANOS);
    while (received < count) {
      while (posted < count && posted - received < 8) {
        c.pair.b().postReceive(posted, 0, 8);
        c.pair.a().postSend(c.pair.a().send(posted, 0, 8).flags(posted % 8 == 7 ? SendFlag.SIGNALED : 0));
        posted++;
      }
      c.cq.requestNotify(CqNotify.NEXT_COMP);
      int found = c.cq.poll(batch);
      if (found == 0) {
        Check.that(c.channel.getEvent(LONG) != null, "no event comes though " + (posted - received) + " are under way");
        found = c.cq.poll(batch);
      }
      received += found;
      Check.that(patience.waits(), "only " + received + " of " + count + " arrive");
      c.pair.a().cq.poll(batch);
    }
  }

  private static void rules(Bench bench) {
    Side a = bench.a();
    CompletionChannel channel = a.context.createCompletionChannel();
    Check.that(channel.getEvent(Duration.ZERO) == null, "a new channel has an event");
    channel.setHandler(cq -> {});
    Check.refused("waiting on a channel with a handler", () -> channel.getEvent(Duration.ZERO), Errno.EBUSY);
    channel.destroy();
    Check.invalid("waiting on a destroyed channel", () -> channel.getEvent(Duration.ZERO));
  }
}
