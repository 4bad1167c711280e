package org.rdma4j.roce.simulation;

import java.util.SplittableRandom;
import org.rdma4j.roce.engine.QpKind;
import org.rdma4j.roce.engine.WorkOpcode;
import org.rdma4j.roce.packet.Feth;

/** Draws the next request of a flow. */
final class SimTraffic {
  private static final int WORDS = 16;
  private static final int INLINE_BYTES = 128;
  private static final int[] RC = {
    WorkOpcode.SEND, WorkOpcode.SEND, WorkOpcode.SEND, WorkOpcode.SEND_WITH_IMM, WorkOpcode.SEND_WITH_INV,
    WorkOpcode.RDMA_WRITE, WorkOpcode.RDMA_WRITE, WorkOpcode.RDMA_WRITE, WorkOpcode.RDMA_WRITE_WITH_IMM,
    WorkOpcode.RDMA_READ, WorkOpcode.RDMA_READ, WorkOpcode.RDMA_READ, WorkOpcode.ATOMIC_FETCH_AND_ADD,
    WorkOpcode.ATOMIC_FETCH_AND_ADD, WorkOpcode.ATOMIC_CMP_AND_SWP, WorkOpcode.ATOMIC_WRITE, WorkOpcode.FLUSH,
    WorkOpcode.BIND_MW, WorkOpcode.BIND_MW, WorkOpcode.BIND_MW
  };
  /** What meets a remote key of a flaw. */
  private static final int[] REMOTE = {WorkOpcode.RDMA_WRITE, WorkOpcode.RDMA_READ, WorkOpcode.FLUSH};
  private static final int[] UC = {
    WorkOpcode.SEND, WorkOpcode.SEND_WITH_IMM, WorkOpcode.RDMA_WRITE, WorkOpcode.RDMA_WRITE_WITH_IMM
  };
  private static final int[] UD = {WorkOpcode.SEND, WorkOpcode.SEND_WITH_IMM};

  private SimTraffic() {}

  static SimOp next(SimFlow flow, SimPlan plan) {
    SplittableRandom random = flow.random.split(); // What one draws does not depend on those before.
    var op = new SimOp(flow.ops.size());
    QpKind kind = flow.from.context.kind();
    int[] opcodes = kind.isReliable() ? RC : kind == QpKind.UC ? UC : UD;
    op.opcode = opcodes[random.nextInt(opcodes.length)];
    op.signaled = random.nextInt(3) > 0 || flow.from.signalsAll;
    op.immediate = random.nextInt() << 10 | op.index;
    op.solicited = op.takesReceive() && random.nextInt(4) == 0;
    if (op.isLocal() && !local(flow, op, random)) {
      op.opcode = WorkOpcode.SEND;
    }
    if (op.isLocal()) {
      op.fence = random.nextInt(4) == 0;
      if (plan.trouble && random.nextInt(flow.wanted) == 0) {
        op.flaw =
            random.nextBoolean() ? SimOp.Flaw.MALFORMED
                : op.opcode == WorkOpcode.BIND_MW ? SimOp.Flaw.BIND : SimOp.Flaw.LOCAL;
      }
      return op;
    }
    op.length = length(flow, op, plan, random);
    op.resultAt = op.index % Simulation.DEPTH * flow.resultBytes();
    if (WorkOpcode.isAtomic(op.opcode)) {
      atomic(op, random);
    } else if (op.opcode == WorkOpcode.ATOMIC_WRITE) {
      op.targetAt = random.nextInt((int) flow.target.segment.byteSize() / Long.BYTES) * Long.BYTES;
    } else if (!op.isSend()) {
      op.targetAt = WORDS + random.nextInt((int) flow.target.segment.byteSize() - WORDS - op.length + 1);
      op.readsPattern = op.opcode == WorkOpcode.RDMA_READ && random.nextInt(3) == 0;
    }
    if (plan.trouble && random.nextInt(flow.wanted * 2) == 0) {
      if (kind.isReliable()) {
        flaw(flow, op, random);
      } else {
        localFlaw(op, random);
      }
    }
    op.patternAt = random.nextInt((int) flow.simulation.pattern.byteSize() - op.length + 1);
    op.placement = 1 + random.nextInt(Feth.GLOBAL | Feth.PERSISTENT);
    boolean whole = random.nextBoolean() && op.flaw != SimOp.Flaw.REMOTE_RANGE;
    op.selectivity = whole ? Feth.REGION : Feth.RANGE;
    boolean sendsData = !op.readsTarget() && op.opcode != WorkOpcode.FLUSH;
    op.inline = sendsData && op.length <= INLINE_BYTES && op.flaw == SimOp.Flaw.NONE && random.nextInt(4) == 0;
    cut(op, random);
    op.toGroup = random.nextBoolean() && flow.group != null;
    boolean usesGrant = useGrant(flow, op, random);
    op.fence = random.nextInt(10) == 0 || usesGrant || op.changesTarget() && readIsOpen(flow);
    return op;
  }

  /** Makes or takes back a key for the requests of the other direction; false when there is none to do it with. */
  private static boolean local(SimFlow flow, SimOp op, SplittableRandom random) {
    SimFlow other = flow.from.in;
    op.grant = other.grants.get(random.nextInt(other.grants.size()));
    int region = (int) other.target.segment.byteSize();
    op.targetAt = random.nextInt(region / 4 / Long.BYTES) * Long.BYTES;
    op.length = region - op.targetAt - random.nextInt(region / 4);
    op.opcode = op.grant.isFree() ? op.grant.opcode : WorkOpcode.LOCAL_INV;
    if (op.grant.isFree() || op.grant.isIdle()) {
      return true;
    }
    op.grant = null;
    op.targetAt = 0;
    return false;
  }

  /** Uses or gives back a key, where there is one that fits; true when READs before must be answered. */
  private static boolean useGrant(SimFlow flow, SimOp op, SplittableRandom random) {
    SimGrant grant = flow.grants.get(random.nextInt(flow.grants.size()));
    boolean wanted = random.nextInt(4) > 0 && op.flaw == SimOp.Flaw.NONE;
    if (op.opcode == WorkOpcode.SEND_WITH_INV && wanted && grant.isValid()) {
      op.grant = grant;
      op.immediate = grant.key();
      return true;
    }
    boolean remote = !op.takesReceive() || op.opcode == WorkOpcode.RDMA_WRITE_WITH_IMM;
    if (wanted && remote && !op.readsPattern && !op.sharedCounter
        && grant.covers(op.targetAt, op.targetAt + op.length)) {
      op.grant = grant;
    }
    return false;
  }

  private static int length(SimFlow flow, SimOp op, SimPlan plan, SplittableRandom random) {
    int mtu = flow.from.context.settings().mtu;
    if (WorkOpcode.isAtomic(op.opcode) || op.opcode == WorkOpcode.ATOMIC_WRITE) {
      return Long.BYTES;
    }
    if (!op.isSend()) {
      return SimPlan.length(random, mtu, (int) flow.target.segment.byteSize() - WORDS);
    }
    boolean datagram = flow.from.context.kind() == QpKind.UD;
    return datagram
        ? SimPlan.length(random, 256, Math.min(plan.config.portMtu(), flow.to.receives.slotBytes - 40))
        : SimPlan.length(random, mtu, flow.to.receives.slotBytes);
  }

  private static void atomic(SimOp op, SplittableRandom random) {
    op.compareAdd = random.nextInt(4);
    op.swap = random.nextInt(4);
    op.targetAt = random.nextInt(WORDS / Long.BYTES) * Long.BYTES;
    op.sharedCounter = op.opcode == WorkOpcode.ATOMIC_FETCH_AND_ADD && random.nextInt(3) == 0;
    if (op.sharedCounter) {
      op.compareAdd = 1;
    }
  }

  /** A READ of the region sees what is there when it is answered: a later change must wait for that. */
  private static boolean readIsOpen(SimFlow flow) {
    for (int i = flow.ops.size() - 1; i >= 0; i--) {
      SimOp op = flow.ops.get(i);
      if (op.opcode == WorkOpcode.RDMA_READ && !op.readsPattern && op.status == null) {
        return true;
      }
      if (op.fence) {
        return false;
      }
    }
    return false;
  }

  /** What fails the send queue of an unreliable service, and nothing else. */
  private static void localFlaw(SimOp op, SplittableRandom random) {
    op.flaw = random.nextBoolean() ? SimOp.Flaw.LOCAL_KEY : SimOp.Flaw.MALFORMED;
    if (op.flaw == SimOp.Flaw.LOCAL_KEY) {
      op.length = Math.max(1, op.length);
    }
  }

  private static void flaw(SimFlow flow, SimOp op, SplittableRandom random) {
    SimOp.Flaw[] flaws = SimOp.Flaw.values();
    op.flaw = flaws[1 + random.nextInt(flaws.length - 1)];
    switch (op.flaw) {
      case INVALIDATE -> {
        op.opcode = WorkOpcode.SEND_WITH_INV;
        op.immediate = SimQp.NO_KEY;
        op.length = Math.min(op.length, flow.to.receives.slotBytes);
      }
      case OVERSIZE -> {
        op.opcode = WorkOpcode.RDMA_WRITE;
        op.solicited = false;
        op.length = 0;
      }
      case BIND, LOCAL -> op.flaw = SimOp.Flaw.MALFORMED;
      case TOO_LONG -> {
        op.opcode = WorkOpcode.SEND;
        op.length = flow.to.receives.slotBytes + 1 + random.nextInt(1000);
      }
      case REMOTE_KEY, REMOTE_RANGE -> {
        op.opcode = REMOTE[random.nextInt(REMOTE.length)];
        op.solicited = false;
        op.length = Math.max(1, op.length);
        op.targetAt = WORDS;
      }
      case LOCAL_KEY -> {
        op.opcode = op.opcode == WorkOpcode.FLUSH ? WorkOpcode.RDMA_WRITE : op.opcode;
        op.length = Math.max(1, op.length);
      }
      default -> { }
    }
    if (op.flaw != SimOp.Flaw.LOCAL_KEY && op.flaw != SimOp.Flaw.MALFORMED) {
      op.readsPattern = false;
      op.sharedCounter = false;
    }
  }

  private static void cut(SimOp op, SplittableRandom random) {
    op.firstCut = random.nextInt(3) == 0 && op.length > 1 ? random.nextInt(op.length) : op.length;
    op.secondCut =
        op.firstCut < op.length && random.nextBoolean()
            ? op.firstCut + random.nextInt(op.length - op.firstCut) : op.length;
  }
}
