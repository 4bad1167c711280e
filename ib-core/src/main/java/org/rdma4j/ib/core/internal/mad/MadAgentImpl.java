package org.rdma4j.ib.core.internal.mad;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.Set;
import org.rdma4j.ib.core.mad.MadAddress;
import org.rdma4j.ib.core.mad.MadAgent;
import org.rdma4j.ib.core.mad.MadReceiver;
import org.rdma4j.ib.core.mad.MadRegistration;
import org.rdma4j.ib.core.mad.MadSend;
import org.rdma4j.ib.core.mad.MadSendHandler;

/** An agent of a port. */
final class MadAgentImpl implements MadAgent {
  private final MadEngine engine;
  private final int highTransactionId;
  private final MadRegistration registration;
  private final MadReceiver receiver;

  /** Its MADs that are not complete; guarded by the engine. */
  final Set<PendingMad> pending = new LinkedHashSet<>();

  /** How many calls to its handlers are planned or run; guarded by the engine. */
  int calls;

  boolean closed;

  MadAgentImpl(MadEngine engine, int highTransactionId, MadRegistration registration, MadReceiver receiver) {
    this.engine = engine;
    this.highTransactionId = highTransactionId;
    this.registration = registration;
    this.receiver = receiver;
  }

  MadEngine engine() {
    return engine;
  }

  /** What it wants, or null. */
  MadRegistration registration() {
    return registration;
  }

  MadReceiver receiver() {
    return receiver;
  }

  @Override
  public int highTransactionId() {
    return highTransactionId;
  }

  @Override
  public MadSend send(MemorySegment mad, MadAddress to, long milliseconds, int retries, MadSendHandler handler) {
    return engine.send(this, mad, to, milliseconds, retries, handler);
  }

  @Override
  public void close() {
    engine.unregister(this);
  }
}
