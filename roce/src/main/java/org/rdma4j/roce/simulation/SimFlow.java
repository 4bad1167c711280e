package org.rdma4j.roce.simulation;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.rdma4j.roce.engine.Completion;
import org.rdma4j.roce.engine.CompletionStatus;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.roce.engine.MulticastGroups;
import org.rdma4j.roce.engine.QpKind;
import org.rdma4j.roce.engine.SendWork;
import org.rdma4j.roce.engine.TransportState;
import org.rdma4j.roce.engine.WorkOpcode;
import org.rdma4j.roce.link.Route;

/**
 * What one queue pair asks of another, and a model of what must come of it: the region of the target as it is after
 * the requests that are known to be complete, the results they must have had, the receives they must have filled.
 */
final class SimFlow {
  private static final int GRH = 40;
  /** So many pieces of 1 GiB are longer than a message may be. */
  private static final int MANY = 3;

  final int id;
  final Simulation simulation;
  final SplittableRandom random;
  final SimQp from;
  final SimQp to;
  final List<SimOp> ops = new ArrayList<>();
  /** Memory at the target that this flow alone changes. */
  final SimMemory target;
  /** Way to a multicast group that the target and a further queue pair are in, or null. */
  Route group;
  SimListener listener;
  /** Requests that are posted before the flow ends, those left out included. */
  int wanted;
  /** The target's memory is taken away some time. */
  boolean revoked;
  /** Keys to parts of the target. */
  final List<SimGrant> grants;
  private final SimMemory results;
  private final MemorySegment model;
  private final List<SimOp> takers = new ArrayList<>();
  private int drawn;
  /** Slots of the send queue that the engine has given back. */
  private int freed;

  /** Requests that have ended: their slots are back, and completions of theirs would have come. */
  private int released;
  private int received;
  /** The last request that arrived of those sent to the target alone, and of those to the group: two ways. */
  private final int[] lastReceivedOp = {-1, -1};
  private int flushedShared;
  private SimOp failed;
  private boolean failedBefore;

  SimFlow(
      int id, Simulation simulation, SplittableRandom random, SimQp from, SimQp to, SimMemory target,
      SimMemory results, MemorySegment model) {
    this.id = id;
    this.random = random;
    this.simulation = simulation;
    this.from = from;
    this.to = to;
    this.target = target;
    this.results = results;
    this.model = model.fill((byte) 0);
    target.segment.fill((byte) 0);
    from.out = this;
    to.in = this;
    grants = List.of(new SimGrant(this, WorkOpcode.BIND_MW), new SimGrant(this, WorkOpcode.REG_MR));
  }

  /** Draws the next request, and posts it unless it is left out. */
  void post(SimPlan plan) {
    SimOp op = SimTraffic.next(this, plan);
    if (simulation.parts.has(new Part(Part.Kind.OPERATION, id, drawn++))) {
      ops.add(op);
      simulation.trace.note(() -> from + " posts " + op.describe());
      if (op.takesReceive()) {
        takers.add(op);
      }
      if (op.sharedCounter) {
        simulation.addsToCounter(to.port);
      }
      if (op.grant != null && op.flaw == SimOp.Flaw.NONE) {
        op.grant.posted(op);
      }
    }
    if (!from.isUsable()) {
      end(); // One more is enough to see that it is flushed.
    }
  }

  /** The engine has come to a local request. */
  FailedCheck execute(int index) {
    SimOp op = ops.get(index);
    check(++op.executedTimes == 1, () -> "executed again: " + op);
    settle(freed);
    for (SimOp earlier : ops.subList(released, index)) {
      boolean waits = op.fence && WorkOpcode.hasResponse(earlier.opcode) && earlier.flaw == SimOp.Flaw.NONE;
      check(!waits, () -> op + " did not wait for " + earlier);
    }
    simulation.trace.note(() -> from + " executes " + op.describe());
    return switch (op.flaw) {
      case NONE -> op.grant.execute(op);
      case BIND -> FailedCheck.BIND_RANGE;
      default -> FailedCheck.LOCAL_INVALIDATE;
    };
  }

  /** The responder takes back a key at the request of this flow. */
  FailedCheck invalidate(int key) {
    SimOp op = nextTaker();
    return op == null || op.grant == null || op.grant.key() != key ? FailedCheck.NONE : op.grant.invalidate();
  }

  /** Posts nothing more. */
  void end() {
    wanted = drawn;
  }

  boolean mayPost() {
    return drawn < wanted && outstanding() < Simulation.DEPTH;
  }

  boolean isDone() {
    return drawn == wanted && outstanding() == 0;
  }

  int outstanding() {
    settle(freed);
    return ops.size() - released;
  }

  int resultBytes() {
    return (int) (results.segment.byteSize() / Simulation.DEPTH);
  }

  /** Whether the target's queue pair may end because of what this flow asks. */
  boolean mayFailResponder() {
    return revoked || to.receives.isBad() || ops.stream().anyMatch(op -> op.flaw.isRemote());
  }

  boolean fetch(long index, SendWork work) {
    if (index >= ops.size()) {
      return false;
    }
    SimOp op = ops.get((int) index);
    work.id = op.index;
    work.opcode = op.flaw == SimOp.Flaw.MALFORMED ? 77 : op.opcode;
    work.fence = op.fence;
    work.signaled = op.signaled;
    work.solicited = op.solicited;
    work.immediate = op.immediate;
    work.compareAdd = op.compareAdd;
    work.swap = op.swap;
    work.placement = op.placement;
    work.selectivity = op.selectivity;
    work.flushLength = op.length;
    work.xrcSrq = SimQp.XRC_SRQ;
    work.route = op.toGroup ? group : simulation.routeOf(from);
    work.remoteQp = op.toGroup ? MulticastGroups.QP_NUMBER : to.context.number();
    work.remoteQkey = Simulation.QKEY;
    nameRemote(op, work);
    if (op.inline) {
      work.inlineMemory = simulation.pattern;
      work.inlineOffset = op.patternAt;
      work.inlineLength = op.length;
    } else if (op.flaw == SimOp.Flaw.OVERSIZE) {
      for (int i = 0; i < MANY; i++) {
        work.sge.add(results.address(0), 1 << 30, results.key());
      }
    } else if (op.readsTarget()) {
      nameLocal(op, work, results, op.resultAt);
    } else if (op.opcode != WorkOpcode.FLUSH) {
      nameLocal(op, work, simulation.patternAt(from.port), op.patternAt);
    }
    return true;
  }

  private void nameRemote(SimOp op, SendWork work) {
    SimMemory memory =
        op.sharedCounter ? simulation.counterAt(to.port) : op.readsPattern ? simulation.patternAt(to.port) : target;
    long offset = op.sharedCounter ? 0 : op.readsPattern ? op.patternAt : op.targetAt;
    work.remoteAddress = memory.address(offset);
    work.remoteKey = op.grant == null ? memory.key() : op.grant.key();
    if (op.flaw == SimOp.Flaw.REMOTE_KEY) {
      work.remoteKey ^= 1;
    } else if (op.flaw == SimOp.Flaw.REMOTE_RANGE) {
      work.remoteAddress = memory.address(memory.segment.byteSize() - op.length + 1);
    }
  }

  private static void nameLocal(SimOp op, SendWork work, SimMemory memory, long offset) {
    int key = op.flaw == SimOp.Flaw.LOCAL_KEY ? memory.key() ^ 1 : memory.key();
    long address = memory.address(offset);
    work.sge.add(address, op.firstCut, key);
    if (op.firstCut < op.length) {
      work.sge.add(address + op.firstCut, op.secondCut - op.firstCut, key);
    }
    if (op.secondCut < op.length) {
      work.sge.add(address + op.secondCut, op.length - op.secondCut, key);
    }
  }

  void complete(Completion completion) {
    SimOp op = ops.get((int) completion.id);
    check(op.index < freed, () -> "completed before its slot is free: " + op);
    settle(op.index);
    check(op.index == released, () -> "completed " + op + " when " + released + " is next");
    check(op.status == null, "completed twice");
    check(completion.qpNumber == from.context.number(), "number of the queue pair");
    op.status = completion.status;
    simulation.trace.note(() -> from + " completes #" + op.index + " " + describe(completion));
    if (failed != null) {
      check(completion.status == CompletionStatus.FLUSHED, () -> op + " after " + failed);
    } else if (completion.status == CompletionStatus.SUCCESS) {
      check(op.signaled, () -> "completed though it is not signaled and did not fail: " + op);
      check(completion.byteLength == op.length, () -> "byte length " + completion.byteLength + " of " + op);
    } else {
      failed = op;
      failedBefore = true;
    }
    settle(op.index + 1);
  }

  /** The send queue goes on after it had failed alone. */
  void resumed() {
    failed = null;
  }

  /** A slot is free before its completion is there: who sees the completion may post. */
  void release(long index) {
    check(index >= freed && index <= ops.size(), () -> "released " + index + " after " + freed);
    settle((int) index - 1);
    freed = (int) index;
  }

  /** What has no completion by now gets none. */
  private void settle(int end) {
    for (; released < end; released++) {
      SimOp op = ops.get(released);
      if (op.grant != null && op.flaw == SimOp.Flaw.NONE) {
        op.grant.released(op);
      }
      if (op.status == null) {
        check(!op.signaled && failed == null, () -> "released without a completion: " + op);
        op.status = CompletionStatus.SUCCESS;
      }
      if (op.status == CompletionStatus.SUCCESS) {
        check(op.flaw == SimOp.Flaw.NONE, () -> "succeeded: " + op);
        checkResult(op);
        apply(op, 0, op.length);
        simulation.inspector.accept(op);
      }
    }
  }

  private void checkResult(SimOp op) {
    check(op.executedTimes == (op.isLocal() ? 1 : 0), () -> "executed " + op.executedTimes + " times: " + op);
    if (op.opcode == WorkOpcode.RDMA_READ) {
      MemorySegment expected = op.readsPattern ? simulation.pattern : model;
      check(same(results.segment, op.resultAt, expected, op.readsPattern ? op.patternAt : op.targetAt, op.length),
          () -> "bytes read by " + op);
    } else if (WorkOpcode.isAtomic(op.opcode)) {
      long original = results.segment.get(JAVA_LONG, op.resultAt);
      if (op.sharedCounter) {
        simulation.sharedCounterWas(to.port, original);
      } else {
        long expected = model.get(JAVA_LONG, op.targetAt);
        check(original == expected, () -> "atomic found " + original + " and not " + expected + ": " + op);
      }
    }
  }

  /** Does to the model what the request does to the target, or a part of it. */
  private void apply(SimOp op, int begin, int end) {
    if (op.isWrite()) {
      MemorySegment.copy(simulation.pattern, op.patternAt + begin, model, op.targetAt + begin, end - begin);
    } else if (op.changesTarget()) {
      long old = model.get(JAVA_LONG, op.targetAt);
      boolean swaps = op.opcode == WorkOpcode.ATOMIC_CMP_AND_SWP;
      model.set(JAVA_LONG, op.targetAt, !swaps ? old + op.compareAdd : old == op.compareAdd ? op.swap : old);
    }
  }

  void receive(Completion completion, boolean solicited) {
    int slot = to.receives.complete(completion.id);
    check(completion.qpNumber == to.context.number(), "number of the queue pair");
    simulation.trace.note(() -> to + " receives " + describe(completion));
    simulation.tally.add(
        Tally.COMPLETIONS, "receive " + to.context.kind() + " " + completion.status, 1);
    if (completion.status != CompletionStatus.SUCCESS) {
      receiveFailed(completion);
      return;
    }
    SimOp op = from.context.kind().isReliable() ? nextTaker() : findTaker(completion, slot, solicited);
    check(op != null, () -> "received what was never sent: " + describe(completion));
    boolean write = op.opcode == WorkOpcode.RDMA_WRITE_WITH_IMM;
    check(
        completion.opcode == (write ? Completion.OPCODE_RECEIVE_RDMA_WITH_IMM : Completion.OPCODE_RECEIVE),
        () -> "opcode " + completion.opcode + " for " + op);
    int header = header();
    check(completion.byteLength == op.length + header, () -> "length " + completion.byteLength + " received for " + op);
    check(solicited == op.solicited, () -> "solicited " + op);
    check(!op.isSend() || arrived(op, slot), () -> "bytes received for " + op);
    // A receive of an unreliable connection may hold the rest of a message that was given up.
    boolean clean = to.receives.isClean(slot, op.isSend() ? op.length + header : 0);
    check(clean || from.context.kind() == QpKind.UC, () -> "bytes behind " + op);
    if (op.hasImmediate()) {
      check(carries(completion, Completion.WITH_IMMEDIATE, op), () -> "immediate of " + op);
    } else if (op.opcode == WorkOpcode.SEND_WITH_INV) {
      check(carries(completion, Completion.WITH_INVALIDATE, op), () -> "key invalidated by " + op);
      check(to.tookInvalidation(op.immediate), () -> "invalidated at the time of the completion: " + op);
    }
    op.receivedTimes++;
    received++;
  }

  private static boolean carries(Completion completion, int flag, SimOp op) {
    return (completion.flags & flag) != 0 && completion.immediate == op.immediate;
  }

  private int header() {
    return from.context.kind() == QpKind.UD ? GRH : 0;
  }

  private boolean arrived(SimOp op, int slot) {
    return arrived(op, to.receives, slot);
  }

  private boolean arrived(SimOp op, SimReceives queue, int slot) {
    return same(queue.memory().segment, queue.offset(slot) + header(), simulation.pattern, op.patternAt, op.length);
  }

  private void receiveFailed(Completion completion) {
    boolean right =
        switch (completion.status) {
          // Of a shared queue only what a message had begun to fill.
          case FLUSHED ->
              to.context.state() == TransportState.ERR && (!to.receives.isShared() || ++flushedShared == 1);
          case LOCAL_LENGTH_ERROR -> received < takers.size() && takers.get(received).flaw == SimOp.Flaw.TOO_LONG;
          case REMOTE_INVALID_REQUEST, REMOTE_ACCESS_ERROR -> mayFailResponder();
          case LOCAL_PROTECTION_ERROR -> to.receives.isBad();
          default -> false;
        };
    check(right, () -> "receive ended so: " + describe(completion));
  }

  private SimOp nextTaker() {
    return received < takers.size() ? takers.get(received) : null;
  }

  /** What arrives unreliably names itself by its immediate data or its bytes. */
  private SimOp findTaker(Completion completion, int slot, boolean solicited) {
    boolean immediate = (completion.flags & Completion.WITH_IMMEDIATE) != 0;
    SimOp found = null;
    for (SimOp op : takers) {
      if (op.hasImmediate() == immediate
          && op.solicited == solicited
          && op.length + header() == completion.byteLength
          && (immediate ? op.immediate == completion.immediate : arrived(op, slot))
          && (found == null || found.receivedTimes > 0)) {
        found = op;
      }
    }
    if (found != null && simulation.keepsOrder() && found.length > 8) {
      check(found.receivedTimes == 0, "received again: " + found);
      int way = found.toGroup ? 1 : 0;
      check(found.index > lastReceivedOp[way], "received after #" + lastReceivedOp[way] + ": " + found);
      lastReceivedOp[way] = found.index;
    }
    return found;
  }

  /** A further member of the group has received something. */
  void checkHeard(Completion completion, SimReceives queue, int slot) {
    int payload = completion.byteLength - GRH;
    boolean sent =
        ops.stream()
            .anyMatch(
                op ->
                    op.toGroup && op.length == payload && arrived(op, queue, slot)
                        && (!op.hasImmediate() || carries(completion, Completion.WITH_IMMEDIATE, op)));
    check(sent, () -> "a member of the group received what was never sent: " + describe(completion));
    simulation.tally.add(Tally.COMPLETIONS, "receive UD member of a group " + completion.status, 1);
  }

  private void checkGroup() {
    long sent = ops.stream().filter(op -> op.toGroup && op.status == CompletionStatus.SUCCESS).count();
    check(listener.heard() >= sent || !simulation.isPerfect() || !simulation.nothingDropped(),
        () -> "a member of the group received " + listener.heard() + " of " + sent);
    check(listener.heard() <= sent || !simulation.keepsOrder() || failedBefore,
        () -> "a member of the group received " + listener.heard() + " of " + sent);
  }

  /** What must hold when nothing is under way any more. */
  void checkEnd() {
    settle(freed);
    check(released == ops.size(), "released " + released + " of " + ops.size());
    if (failed != null) {
      check(mayFail(), "failed so: " + failed + ", check the state of " + from + " and " + to);
    }
    check(!from.failed || failed != null && failed.status != CompletionStatus.FLUSHED || from.in.mayFailResponder(),
        from + " failed without a reason");
    if (listener != null) {
      checkGroup();
    }
    if (from.context.kind().isReliable()) {
      checkReliableEnd();
    } else {
      checkUnreliableEnd();
    }
  }

  private boolean mayFail() {
    return switch (failed.status) {
      case FLUSHED -> from.forced || from.failed && from.in.mayFailResponder();
      case RETRY_EXCEEDED -> from.context.settings().retryCount < 7 && (simulation.isLossy() || !to.isUsable());
      case RNR_RETRY_EXCEEDED -> from.context.settings().rnrRetry < 7 && failed.takesReceive();
      case REMOTE_OPERATION_ERROR -> to.receives.isBad() && failed.isSend();
      case REMOTE_ACCESS_ERROR -> failed.flaw.status == failed.status || revoked && !failed.sharedCounter;
      default -> failed.flaw.status == failed.status;
    };
  }

  private void checkReliableEnd() {
    long needed = takers.stream().filter(op -> op.status == CompletionStatus.SUCCESS).count();
    check(received >= needed, "received " + received + " of " + needed + " acknowledged messages");
    check(takers.stream().allMatch(op -> op.receivedTimes <= 1), "received twice");
    check(to.invalidations() == 0, "invalidations without a completion: " + to.invalidations());
    if (matchesModel()) {
      return;
    }
    check(failed != null, "memory of the target is not what the requests make of it, first different byte "
        + target.segment.mismatch(model));
    // Requests behind the last complete one may have been executed in part, in order.
    int mtu = from.context.settings().mtu;
    for (SimOp op : ops.subList(failed.index, ops.size())) {
      boolean failsAtTheEnd = op.flaw == SimOp.Flaw.LOCAL_KEY && op.readsTarget();
      if (op.flaw != SimOp.Flaw.NONE && !failsAtTheEnd) {
        break;
      }
      for (int at = 0; at == 0 || at < op.length; at += mtu) {
        apply(op, at, Math.min(op.length, at + mtu));
        if (matchesModel()) {
          return;
        }
      }
    }
    check(false, "memory of the target is not what any of the requests behind " + failed + " makes of it");
  }

  private boolean matchesModel() {
    return target.segment.mismatch(model) == -1;
  }

  private void checkUnreliableEnd() {
    if (simulation.isPerfect() && !failedBefore && to.isUsable() && simulation.nothingDropped()) {
      check(received == takers.size(), "received " + received + " of " + takers.size() + " on a perfect network");
      check(matchesModel(), "memory of the target is not what the requests make of it");
    }
    for (int i = 0; i < target.segment.byteSize(); i++) {
      byte there = target.segment.get(JAVA_BYTE, i);
      if (there != 0 && there != model.get(JAVA_BYTE, i)) {
        int at = i;
        check(wasWritten(at, there), () -> "byte " + at + " of the target was written by no request");
      }
    }
  }

  private boolean wasWritten(int at, byte value) {
    for (SimOp op : ops) {
      if (op.isWrite()
          && at >= op.targetAt
          && at < op.targetAt + op.length
          && simulation.pattern.get(JAVA_BYTE, op.patternAt + at - op.targetAt) == value) {
        return true;
      }
    }
    return false;
  }

  private static boolean same(MemorySegment one, long at, MemorySegment other, long otherAt, int length) {
    return MemorySegment.mismatch(one, at, at + length, other, otherAt, otherAt + length) == -1;
  }

  private static String describe(Completion completion) {
    return "id " + completion.id + " " + completion.status + " " + completion.check + " opcode "
        + completion.opcode + " length " + completion.byteLength + " immediate " + completion.immediate + " flags "
        + completion.flags + " source " + completion.sourceQp;
  }

  private void check(boolean holds, String what) {
    check(holds, () -> what);
  }

  private void check(boolean holds, Supplier<String> what) {
    if (!holds) {
      throw new AssertionError(from + " to " + to + ": " + what.get());
    }
  }

  @Override
  public String toString() {
    return from + " to " + to + ": " + ops.size() + " posted, " + released + " released, " + received + " of "
        + takers.size() + " received, " + from.context.state() + (failed == null ? "" : ", " + failed);
  }
}
