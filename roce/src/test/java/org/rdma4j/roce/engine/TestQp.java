package org.rdma4j.roce.engine;

import java.util.ArrayList;
import java.util.List;

/** A queue pair with lists for rings: what was posted, what was completed, what was reported. */
final class TestQp implements QpHost {
  static final int MAX_SGE = 8;

  final TestPort port;
  final TestReceives receives;
  final QpContext context;
  final List<Post> posted = new ArrayList<>();
  final List<Done> sends = new ArrayList<>();
  final List<Done> received = new ArrayList<>();
  final List<QpEvent> events = new ArrayList<>();
  final List<Integer> invalidated = new ArrayList<>();
  int invalidatedIn;
  FailedCheck invalidateAnswer = FailedCheck.NONE;
  FailedCheck localAnswer = FailedCheck.NONE;
  long released;
  int errors;
  /** How often its send queue failed alone. */
  int sendErrors;
  /** What the host does when the queue pair has failed. */
  Runnable onError = () -> {};
  /** When the last send was completed, in nanoseconds. */
  long sendDoneAt;

  TestQp(TestPort port, QpProfile profile, TestReceives receives) {
    this.port = port;
    this.receives = receives;
    ReceiveSource source =
        switch (profile.kind()) {
          case XRC_INI -> NoReceives.INITIATOR;
          case XRC_TGT -> NoReceives.TARGET;
          default -> receives;
        };
    this.context = port.engine.create(profile, this, source);
  }

  int number() {
    return context.number();
  }

  /** Posts and rings. */
  void post(Post... posts) {
    for (Post post : posts) {
      posted.add(post);
    }
    context.ring();
  }

  void modify(TransportState state) {
    context.modify(state);
  }

  @Override
  public boolean fetchSend(long index, SendWork work) {
    if (index >= posted.size()) {
      return false;
    }
    posted.get((int) index).fill(work);
    return true;
  }

  @Override
  public void releaseSend(long index) {
    if (index < released || index > posted.size()) {
      throw new AssertionError("released " + index + " after " + released + " of " + posted.size());
    }
    released = index;
  }

  @Override
  public void completeSend(Completion completion) {
    sends.add(Done.of(completion, false));
    sendDoneAt = port.clock.nanoTime();
  }

  @Override
  public void completeReceive(Completion completion, boolean solicited) {
    received.add(Done.of(completion, solicited));
  }

  @Override
  public FailedCheck executeLocal(SendWork work) {
    return localAnswer;
  }

  @Override
  public FailedCheck invalidate(int key, int protectionDomain) {
    invalidated.add(key);
    invalidatedIn = protectionDomain;
    return invalidateAnswer;
  }

  /** Of the one XRC domain that a port has. */
  @Override
  public XrcReceiveSource xrcReceives(int srqNumber) {
    return port.xrcQueues.get(srqNumber);
  }

  @Override
  public void event(QpEvent event) {
    events.add(event);
  }

  @Override
  public void entered(TransportState state) {
    if (state == TransportState.SQE) {
      sendErrors++;
      return;
    }
    errors++;
    onError.run();
  }
}
