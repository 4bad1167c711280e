package org.rdma4j.roce.simulation;

import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.roce.engine.WorkOpcode;

/**
 * A key that the owner of a flow's target gives to the other side for a while, by binding a memory window of type 2 or
 * by a fast registration, and takes back by a local invalidate, or has taken back by a SEND with invalidate. Asked for
 * and taken back by requests of the opposite flow, so that these run among all others.
 */
final class SimGrant {
  /** How far it is. */
  private enum State {
    FREE,
    ASKED,
    VALID,
    ENDING
  }

  /** {@link WorkOpcode#BIND_MW} or {@link WorkOpcode#REG_MR}. */
  final int opcode;
  private final SimFlow flow;
  private final int slot;
  private State state = State.FREE;
  private int generation;
  private int key;
  private int begin;
  private int end;
  private int users;

  SimGrant(SimFlow flow, int opcode) {
    this.flow = flow;
    this.opcode = opcode;
    this.slot = flow.to.port.reserve();
  }

  int key() {
    return key;
  }

  boolean isFree() {
    return state == State.FREE;
  }

  /** Whether its owner may take it back: it is used by nobody. */
  boolean isIdle() {
    return state == State.VALID && users == 0;
  }

  /** Whether new requests may use it, for this range. */
  boolean covers(int from, int to) {
    return state == State.VALID && from >= begin && to <= end;
  }

  boolean isValid() {
    return state == State.VALID;
  }

  /** A request that does something with it is posted. */
  void posted(SimOp op) {
    switch (op.opcode) {
      case WorkOpcode.BIND_MW, WorkOpcode.REG_MR -> {
        state = State.ASKED;
        begin = op.targetAt;
        end = op.targetAt + op.length;
      }
      case WorkOpcode.LOCAL_INV, WorkOpcode.SEND_WITH_INV -> state = State.ENDING;
      default -> users++;
    }
  }

  /** A request that was posted has ended, however it did. */
  void released(SimOp op) {
    if (!WorkOpcode.isLocal(op.opcode) && op.opcode != WorkOpcode.SEND_WITH_INV) {
      users--;
    }
  }

  /** The engine has come to a local request of the owner. */
  FailedCheck execute(SimOp op) {
    if (op.opcode == WorkOpcode.LOCAL_INV) {
      return takeBack();
    }
    if (state != State.ASKED) {
      throw new AssertionError("bound in state " + state + ": " + op);
    }
    state = State.VALID;
    int qp = opcode == WorkOpcode.BIND_MW ? flow.to.context.number() : 0;
    key = flow.to.port.grant(slot, ++generation, flow.target, begin, end - begin, qp);
    return FailedCheck.NONE;
  }

  /** The other side has given it back. */
  FailedCheck invalidate() {
    return takeBack();
  }

  private FailedCheck takeBack() {
    if (state != State.ENDING) {
      throw new AssertionError("key 0x" + Integer.toHexString(key) + " taken back in state " + state);
    }
    state = State.FREE;
    flow.to.port.withdraw(slot);
    return FailedCheck.NONE;
  }
}
