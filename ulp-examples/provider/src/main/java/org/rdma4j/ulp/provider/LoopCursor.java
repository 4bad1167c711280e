package org.rdma4j.ulp.provider;

import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/** Polls one completion after the other: a queue that is no ring has none that could be read where they lie. */
final class LoopCursor implements CompletionCursor {
  private final LoopCq queue;
  private final WorkCompletion[] current = WorkCompletion.batch(1);

  LoopCursor(LoopCq queue) {
    this.queue = queue;
  }

  @Override
  public boolean start() {
    return next();
  }

  @Override
  public boolean next() {
    return queue.poll(current, 1) == 1;
  }

  @Override
  public void end() {
    // What was seen was taken.
  }

  @Override
  public long wrId() {
    return current[0].wrId();
  }

  @Override
  public WcStatus status() {
    return current[0].status();
  }

  @Override
  public WcOpcode opcode() {
    return current[0].opcode();
  }

  @Override
  public int vendorError() {
    return current[0].vendorError();
  }

  @Override
  public int byteLength() {
    return current[0].byteLength();
  }

  @Override
  public int immediate() {
    return current[0].immediate();
  }

  @Override
  public int invalidatedRkey() {
    return current[0].invalidatedRkey();
  }

  @Override
  public int qpNumber() {
    return current[0].qpNumber();
  }

  @Override
  public int sourceQp() {
    return current[0].sourceQp();
  }

  @Override
  public int flags() {
    return current[0].flags();
  }

  @Override
  public int pkeyIndex() {
    return current[0].pkeyIndex();
  }

  @Override
  public int portNumber() {
    return current[0].portNumber();
  }
}
