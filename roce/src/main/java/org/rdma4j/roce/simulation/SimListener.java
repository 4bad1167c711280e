package org.rdma4j.roce.simulation;

import org.rdma4j.roce.engine.Completion;
import org.rdma4j.roce.engine.CompletionStatus;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.roce.engine.QpContext;
import org.rdma4j.roce.engine.QpEvent;
import org.rdma4j.roce.engine.QpHost;
import org.rdma4j.roce.engine.QpProfile;
import org.rdma4j.roce.engine.SendWork;
import org.rdma4j.roce.engine.TransportState;

/** A further member of a multicast group: receives what a flow sends to its group, and sends nothing. */
final class SimListener implements QpHost {
  final QpContext context;
  private final SimFlow flow;
  private final SimReceives receives;
  private int heard;

  SimListener(SimFlow flow, SimReceives receives, QpProfile profile) {
    this.flow = flow;
    this.receives = receives;
    this.context = flow.to.port.engine.create(profile, this, receives);
  }

  /** Keeps as many receives posted as there are places for. */
  void listen() {
    boolean more = context.state() != TransportState.ERR;
    while (more) {
      more = receives.post();
    }
  }

  /** Messages received. */
  int heard() {
    return heard;
  }

  void end() {
    context.modify(TransportState.ERR);
    if (receives.taken() != 0 || receives.postedNow() != 0) {
      throw new AssertionError("receives of a member of a group are left");
    }
    flow.to.port.engine.destroy(context);
  }

  @Override
  public void completeReceive(Completion completion, boolean solicited) {
    int slot = receives.complete(completion.id);
    if (completion.status == CompletionStatus.SUCCESS) {
      heard++;
      flow.checkHeard(completion, receives, slot);
    } else if (context.state() != TransportState.ERR) {
      throw new AssertionError("receive of a member of a group ended so: " + completion.status);
    }
  }

  @Override
  public boolean fetchSend(long index, SendWork work) {
    return false;
  }

  @Override
  public void releaseSend(long index) {
    throw new AssertionError("a send that was never posted has ended");
  }

  @Override
  public void completeSend(Completion completion) {
    throw new AssertionError("a send that was never posted is complete");
  }

  @Override
  public FailedCheck executeLocal(SendWork work) {
    throw new AssertionError("a request that was never posted is executed");
  }

  @Override
  public FailedCheck invalidate(int key, int protectionDomain) {
    throw new AssertionError("a datagram invalidates");
  }

  @Override
  public void event(QpEvent event) {
    throw new AssertionError("event " + event + " at a member of a group");
  }

  @Override
  public void entered(TransportState state) {
    throw new AssertionError("a member of a group failed: " + state);
  }
}
