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
    WorkOpcode.ATOMIC_FETCH_AND_ADD, WorkOpcode.ATOMIC_CMP_AND_SWP, WorkOpcode.ATOMIC_WRITE, WorkOpcode.FLUSH
  };
  /** What meets a remote key of a flaw. */
  private static final int[] REMOTE = {WorkOpcode.RDMA_WRITE, WorkOpcode.RDMA_READ, WorkOpcode.FLUSH};
  private static final int[] UC = {
    WorkOpcode.SEND, WorkOpcode.SEND_WITH_IMM, WorkOpcode.RDMA_WRITE, WorkOpcode.RDMA_WRITE_WITH_IMM
  };
  private static final int[] UD = {WorkOpcode.SEND, WorkOpcode.SEND_WITH_IMM};

  private SimTraffic() {}

  static SimOp next(SimFlow flow, SimPlan plan) {
    SplittableRandom random = flow.random;
    var op = new SimOp(flow.ops.size());
    QpKind kind = flow.from.context.kind();
    int[] opcodes = kind == QpKind.RC ? RC : kind == QpKind.UC ? UC : UD;
    op.opcode = opcodes[random.nextInt(opcodes.length)];
    op.signaled = random.nextInt(3) > 0 || flow.from.signalsAll;
    op.immediate = random.nextInt() << 10 | op.index;
    op.solicited = op.takesReceive() && random.nextInt(4) == 0;
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
    if (plan.trouble && kind == QpKind.RC && random.nextInt(flow.wanted * 2) == 0) {
      flaw(flow, op, random);
    }
    op.patternAt = random.nextInt((int) flow.simulation.pattern.byteSize() - op.length + 1);
    op.placement = 1 + random.nextInt(Feth.GLOBAL | Feth.PERSISTENT);
    boolean whole = random.nextBoolean() && op.flaw != SimOp.Flaw.REMOTE_RANGE;
    op.selectivity = whole ? Feth.REGION : Feth.RANGE;
    boolean sendsData = !op.readsTarget() && op.opcode != WorkOpcode.FLUSH;
    op.inline = sendsData && op.length <= INLINE_BYTES && op.flaw == SimOp.Flaw.NONE && random.nextInt(4) == 0;
    cut(op, random);
    op.fence = random.nextInt(10) == 0 || op.changesTarget() && readIsOpen(flow);
    return op;
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

  private static void flaw(SimFlow flow, SimOp op, SplittableRandom random) {
    SimOp.Flaw[] flaws = SimOp.Flaw.values();
    op.flaw = flaws[1 + random.nextInt(flaws.length - 1)];
    switch (op.flaw) {
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
