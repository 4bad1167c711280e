package org.rdma4j.roce.simulation;

import java.util.EnumMap;
import java.util.Map;
import org.rdma4j.roce.engine.Completion;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.roce.engine.NoReceives;
import org.rdma4j.roce.engine.QpContext;
import org.rdma4j.roce.engine.QpEvent;
import org.rdma4j.roce.engine.QpHost;
import org.rdma4j.roce.engine.QpProfile;
import org.rdma4j.roce.engine.ReceiveSource;
import org.rdma4j.roce.engine.SendWork;
import org.rdma4j.roce.engine.TransportState;
import org.rdma4j.roce.engine.XrcReceiveSource;

/** One queue pair of a simulation: sends one flow and receives another. */
final class SimQp implements QpHost {
  /** What nobody may invalidate. */
  static final int NO_KEY = -1;
  /** Number of the one shared queue that targets of a port have. */
  static final int XRC_SRQ = 0x2_0001;

  final SimPort port;
  final SimReceives receives;
  final QpContext context;
  final boolean signalsAll;
  final Map<QpEvent, Integer> events = new EnumMap<>(QpEvent.class);
  SimFlow out;
  SimFlow in;
  SimQp peer;
  /** The shared queue, of a target. */
  XrcReceiveSource extended;
  /** Moved to the error state by its owner. */
  boolean forced;
  /** Entered the error state by itself. */
  boolean failed;
  /** A drain was asked for and its event has not come. */
  boolean draining;
  Runnable onFailure = () -> {};
  Runnable onSendFailure = () -> {};
  private int invalidations;
  private int lastInvalidated;

  SimQp(SimPort port, QpProfile profile, SimReceives receives) {
    this.port = port;
    this.receives = receives;
    this.signalsAll = profile.signalsAll();
    ReceiveSource source =
        switch (profile.kind()) {
          case XRC_INI -> NoReceives.INITIATOR;
          case XRC_TGT -> NoReceives.TARGET;
          default -> receives;
        };
    this.context = port.engine.create(profile, this, source);
  }

  boolean isUsable() {
    return !forced && !failed;
  }

  void force() {
    if (isUsable()) {
      forced = true;
      draining = false;
      context.modify(TransportState.ERR);
    }
  }

  @Override
  public boolean fetchSend(long index, SendWork work) {
    return out.fetch(index, work);
  }

  @Override
  public void releaseSend(long index) {
    out.release(index);
  }

  @Override
  public void completeSend(Completion completion) {
    out.complete(completion);
  }

  @Override
  public void completeReceive(Completion completion, boolean solicited) {
    in.receive(completion, solicited);
  }

  @Override
  public FailedCheck executeLocal(SendWork work) {
    return out.execute((int) work.id);
  }

  @Override
  public FailedCheck invalidate(int key, int protectionDomain) {
    if (key == NO_KEY) {
      return FailedCheck.INVALIDATE;
    }
    invalidations++;
    lastInvalidated = key;
    return in.invalidate(key);
  }

  @Override
  public XrcReceiveSource xrcReceives(int srqNumber) {
    return srqNumber == XRC_SRQ ? extended : null;
  }

  /** Whether this key, and no other, was invalidated since the last time. */
  boolean tookInvalidation(int key) {
    boolean right = invalidations == 1 && lastInvalidated == key;
    invalidations = 0;
    return right;
  }

  int invalidations() {
    return invalidations;
  }

  @Override
  public void event(QpEvent event) {
    events.merge(event, 1, Integer::sum);
    if (event == QpEvent.SEND_QUEUE_DRAINED) {
      if (!draining) {
        throw new AssertionError("drained without being asked");
      }
      draining = false;
      if (context.kind().isReliable() && context.unacknowledgedPsn() != context.sendPsn()) {
        throw new AssertionError("drained while requests are not answered: " + this);
      }
    }
  }

  /** Goes on after a drain or after the send queue has failed. */
  void resume() {
    if (isUsable()) {
      context.modify(TransportState.RTS);
      out.resumed();
    }
  }

  @Override
  public void entered(TransportState state) {
    if (state == TransportState.SQE) {
      draining = false;
      onSendFailure.run();
      return;
    }
    if (forced || failed) {
      throw new AssertionError("entered the error state twice");
    }
    failed = true;
    draining = false;
    onFailure.run();
  }

  @Override
  public String toString() {
    return context.kind() + " qp 0x" + Integer.toHexString(context.number());
  }
}
