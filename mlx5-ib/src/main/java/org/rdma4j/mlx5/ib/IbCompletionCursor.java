package org.rdma4j.mlx5.ib;

import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/** Completions one by one, each taken when the cursor moves to it. */
final class IbCompletionCursor implements CompletionCursor {
  private final IbCompletionQueue queue;
  private final WorkCompletion[] batch = WorkCompletion.batch(1);
  private final WorkCompletion current = batch[0];

  IbCompletionCursor(IbCompletionQueue queue) {
    this.queue = queue;
  }

  @Override
  public boolean start() {
    return queue.poll(batch, 1) == 1;
  }

  @Override
  public boolean next() {
    return queue.takeAny(batch, 1) == 1;
  }

  @Override
  public void end() {
    // Each was given back when it was taken.
  }

  @Override
  public long wrId() {
    return current.wrId();
  }

  @Override
  public WcStatus status() {
    return current.status();
  }

  @Override
  public WcOpcode opcode() {
    return current.opcode();
  }

  @Override
  public int vendorError() {
    return current.vendorError();
  }

  @Override
  public int byteLength() {
    return current.byteLength();
  }

  @Override
  public int immediate() {
    return current.immediate();
  }

  @Override
  public int invalidatedRkey() {
    return current.invalidatedRkey();
  }

  @Override
  public int qpNumber() {
    return current.qpNumber();
  }

  @Override
  public int sourceQp() {
    return current.sourceQp();
  }

  @Override
  public int flags() {
    return current.flags();
  }

  @Override
  public int pkeyIndex() {
    return current.pkeyIndex();
  }

  @Override
  public int portNumber() {
    return current.portNumber();
  }
}
