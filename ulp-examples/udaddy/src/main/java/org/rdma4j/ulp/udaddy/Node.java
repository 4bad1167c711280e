package org.rdma4j.ulp.udaddy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.GidEntry;
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
import org.rdma4j.roce.packet.Grh;

/**
 * One queue pair with its message, which has the number of the queue pair as immediate data. The client learns the way
 * to the server from the connection manager, the server that to the client from the first message. Belongs to one
 * thread.
 */
final class Node implements AutoCloseable {
  private final UdaddyOptions options;
  private final RdmaCmId id;
  private final Arena arena = Arena.ofShared();
  private final Deque<VerbsObject> objects = new ArrayDeque<>();
  private final WorkCompletion[] completions = WorkCompletion.batch(8);
  private final SendWorkRequest send = new SendWorkRequest();
  private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
  private ProtectionDomain pd;
  private CompletionQueue cq;
  private MemorySegment message;
  private boolean connected;

  /** Belongs to an identifier, whose context it is from now on. */
  Node(RdmaCmId id, UdaddyOptions options) {
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

  void connected() {
    connected = true;
  }

  /** Makes queues and memory on the device of the identifier, and posts all receives. */
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
        message = arena.allocate(Grh.LENGTH + options.size());
        MemoryRegion region = made(pd.registerMemory(message, Access.LOCAL_WRITE));
        send.opcode(WrOpcode.SEND_WITH_IMM)
            .immediate(id.qp().number())
            .addSge(message.address(), options.size(), region.lkey());
        receive.addSge(message.address(), Grh.LENGTH + options.size(), region.lkey());
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

  /** The peer as the connection manager has found it. */
  void resolved(DatagramParameters peer) throws Failure {
    peer(peer.way(), peer.qpNumber(), peer.qkey(), "failure creating address handle");
    connected = true;
  }

  private void peer(AhAttributes way, int qpNumber, int qkey, String call) throws Failure {
    try {
      send.ah(made(pd.createAh(way))).remoteQpn(qpNumber).remoteQkey(qkey);
    } catch (VerbsException e) {
      throw new Failure(call, e);
    }
  }

  /** The peer as its message shows it ({@code ibv_create_ah_from_wc}). */
  private void peer(WorkCompletion completion) throws Failure {
    GidEntry own = id.verbs().device().gidTable(id.port()).find(Grh.destination(message, 0));
    if (own == null) {
      throw new Failure("udaddy: failed to create reply AH: no GID " + Grh.destination(message, 0), -1);
    }
    AhAttributes way =
        new AhAttributes(id.port(), Grh.source(message, 0), own.index())
            .withTrafficClass(Grh.trafficClass(message, 0))
            .withFlowLabel(Grh.flowLabel(message, 0));
    peer(way, completion.immediate(), id.qp().query().qkey(), "failed to create reply AH");
  }

  /** Posts all messages. */
  void postSends(boolean signaled) throws Failure {
    try {
      send.flags(signaled ? SendFlag.SIGNALED : 0);
      for (int i = 0; connected && i < options.messages(); i++) {
        id.qp().postSend(send);
      }
    } catch (VerbsException e) {
      throw new Failure("failed to post sends", e);
    }
  }

  /** How much has completed since the last look; the first message tells who the peer is. */
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
            "udaddy: failed completion, status " + completions[i].status().number() + "\nudaddy: "
                + id.qp().explain(completions[i]),
            -1);
      }
    }
    if (found > 0 && send.ah() == null) {
      peer(completions[0]);
    }
    return found;
  }

  /** Gives everything back, the identifier last. */
  @Override
  public void close() {
    connected = false;
    send.ah(null);
    id.destroyQp();
    objects.forEach(VerbsObject::close);
    arena.close();
    id.close();
  }
}
