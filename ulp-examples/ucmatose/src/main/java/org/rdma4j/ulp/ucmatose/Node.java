package org.rdma4j.ulp.ucmatose;

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
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.VerbsObject;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.rdma.cm.RdmaCmId;

/** One connection with its queues and its message. Belongs to one thread. */
final class Node implements AutoCloseable {
  private final UcmatoseOptions options;
  private final RdmaCmId id;
  private final Arena arena = Arena.ofShared();
  private final Deque<VerbsObject> objects = new ArrayDeque<>();
  private final WorkCompletion[] completions = WorkCompletion.batch(8);
  private final SendWorkRequest send = new SendWorkRequest();
  private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
  private CompletionQueue sendCq;
  private CompletionQueue receiveCq;
  private boolean connected;

  /** Belongs to an identifier, whose context it is from now on. */
  Node(RdmaCmId id, UcmatoseOptions options) {
    this.id = id;
    this.options = options;
    id.context(this);
  }

  RdmaCmId id() {
    return id;
  }

  boolean isConnected() {
    return connected;
  }

  void connected(boolean now) {
    connected = now;
  }

  /** Makes queues and memory on the device of the identifier, and posts all receives. */
  void make() throws Failure {
    String call = "unable to allocate PD";
    try {
      ProtectionDomain pd = made(id.verbs().allocatePd());
      call = "unable to create CQ";
      int entries = Math.max(1, options.messages());
      sendCq = made(id.verbs().createCq(entries, null, 0));
      receiveCq = made(id.verbs().createCq(entries, null, 0));
      call = "unable to create QP";
      id.createQp(
          pd,
          new QpInitAttributes(QpType.RC)
              .sendCq(sendCq)
              .recvCq(receiveCq)
              .signalAll(true)
              .capabilities(new QpCapabilities(entries, entries, 1, 1, 0)));
      call = "failed to create messages";
      if (options.messages() > 0) {
        MemorySegment message = arena.allocate(options.size());
        MemoryRegion region = made(pd.registerMemory(message, Access.LOCAL_WRITE));
        send.opcode(WrOpcode.SEND).addSge(message.address(), options.size(), region.lkey());
        receive.addSge(message.address(), options.size(), region.lkey());
      }
      call = "failed to post receives";
      for (int i = 0; i < options.messages(); i++) {
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

  /** Posts all messages, where there is a connection. */
  void postSends() throws Failure {
    try {
      for (int i = 0; connected && i < options.messages(); i++) {
        id.qp().postSend(send);
      }
    } catch (VerbsException e) {
      throw new Failure("failed to post sends", e);
    }
  }

  /** How many sends, or receives, have completed since the last look. */
  int poll(boolean sends) throws Failure {
    int found;
    try {
      found = (sends ? sendCq : receiveCq).poll(completions);
    } catch (VerbsException e) {
      throw new Failure("failed polling CQ", e);
    }
    for (int i = 0; i < found; i++) {
      if (completions[i].status() != WcStatus.SUCCESS) {
        throw new Failure(
            "cmatose: failed completion, status " + completions[i].status().number() + "\nucmatose: "
                + id.qp().explain(completions[i]),
            -1);
      }
    }
    return found;
  }

  /** Gives everything back, the identifier last. */
  @Override
  public void close() {
    connected = false;
    id.destroyQp();
    objects.forEach(VerbsObject::close);
    arena.close();
    id.close();
  }
}
