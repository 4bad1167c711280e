package org.rdma4j.ulp.mckey;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.VerbsObject;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.rdma.cm.DatagramParameters;
import org.rdma4j.rdma.cm.RdmaCmId;

/** One member of the group with its queue pair and its message. Belongs to one thread. */
final class Node implements AutoCloseable {
  /** Bytes in front of a message that came: the global route header. */
  private static final int HEADER = 40;

  private final MckeyOptions options;
  private final RdmaCmId id;
  private final Arena arena = Arena.ofShared();
  private final Deque<VerbsObject> objects = new ArrayDeque<>();
  private final WorkCompletion[] completions = WorkCompletion.batch(8);
  private final SendWorkRequest send = new SendWorkRequest();
  private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
  private ProtectionDomain pd;
  private CompletionQueue cq;

  /** Belongs to an identifier, whose context it is from now on. */
  Node(RdmaCmId id, MckeyOptions options) {
    this.id = id;
    this.options = options;
    id.context(this);
  }

  RdmaCmId id() {
    return id;
  }

  /** Makes queues and memory on the device of the identifier; who is no sender posts all receives. */
  void make() throws Failure {
    String call = "unable to allocate PD";
    try {
      pd = made(id.verbs().allocatePd());
      call = "unable to create CQ";
      int messages = Math.max(1, options.messages());
      cq = made(id.verbs().createCq(2 * messages, null, 0));
      call = "unable to create QP";
      id.createQp(
          pd,
          new QpInitAttributes(QpType.UD)
              .sendCq(cq)
              .recvCq(cq)
              .capabilities(new QpCapabilities(messages, messages, 1, 1, 0)));
      call = "failed to create messages";
      if (options.messages() > 0) {
        MemorySegment message = arena.allocate(HEADER + options.size());
        MemoryRegion region = made(pd.registerMemory(message, Access.LOCAL_WRITE));
        send.opcode(WrOpcode.SEND_WITH_IMM)
            .immediate(id.qp().number())
            .addSge(message.address(), options.size(), region.lkey());
        receive.addSge(message.address(), HEADER + options.size(), region.lkey());
      }
      call = "failed to post receives";
      for (int i = 0; !options.sender() && i < options.messages(); i++) {
        id.qp().postReceive(receive);
      }
    } catch (VerbsException e) {
      throw new Failure(call, e);
    }
  }

  private <T extends VerbsObject> T made(T object) {
    objects.push(object);
    return object;
  }

  /** The group as it was joined. */
  void joined(DatagramParameters group) throws Failure {
    try {
      send.ah(made(pd.createAh(group.way()))).remoteQpn(group.qpNumber()).remoteQkey(group.qkey());
    } catch (VerbsException e) {
      throw new Failure("failure creating address handle", e);
    }
  }

  /**
   * Posts all messages; only the last has a completion. The original asks for none and leaves it to the card that they
   * are sent.
   */
  void postSends() throws Failure {
    try {
      for (int i = 0; i < options.messages(); i++) {
        id.qp().postSend(send.flags(i == options.messages() - 1 ? SendFlag.SIGNALED : 0));
      }
    } catch (VerbsException e) {
      throw new Failure("failed to post sends", e);
    }
  }

  /** How much has completed since the last look. */
  int poll() throws Failure {
    int found;
    try {
      found = cq.poll(completions);
    } catch (VerbsException e) {
      throw new Failure("failed polling CQ", e);
    }
    for (int i = 0; i < found; i++) {
      if (completions[i].status() != WcStatus.SUCCESS) {
        throw new Failure(
            "mckey: failed completion, status " + completions[i].status().number() + "\nmckey: "
                + id.qp().explain(completions[i]),
            -1);
      }
    }
    return found;
  }

  /** Gives everything back, the identifier last. */
  @Override
  public void close() {
    id.destroyQp();
    objects.forEach(VerbsObject::close);
    arena.close();
    id.close();
  }
}
