package org.rdma4j.ulp.rping;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.VerbsObject;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.rdma.cm.ConnectionParameters;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.rdma.cm.RdmaCmState;

/**
 * The queue pair of a connection and its memory. One thread posts; completions are taken on the thread of their channel
 * and move the conversation on.
 */
final class Endpoint implements AutoCloseable {
  private static final int SEND_DEPTH = 16;
  private static final int RECEIVE_DEPTH = 2;
  private static final int RETRIES = 7;

  private final RdmaCmId id;
  private final RpingOptions options;
  private final Conversation conversation;
  private final Output output;
  private final Arena arena = Arena.ofShared();
  private final Deque<VerbsObject> objects = new ArrayDeque<>();
  private final WorkCompletion[] completions = WorkCompletion.batch(4);
  private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
  private final SendWorkRequest send = new SendWorkRequest();
  private final SendWorkRequest rdma = new SendWorkRequest();
  private final MemorySegment received = arena.allocate(RdmaInfo.LENGTH);
  private final MemorySegment message = arena.allocate(RdmaInfo.LENGTH);
  private final MemorySegment sink;
  private final MemorySegment source;
  private MemoryRegion sinkRegion;
  private MemoryRegion sourceRegion;
  private QueuePair qp;
  private volatile long remoteAddress;
  private volatile int remoteRkey;
  private volatile int remoteLength;

  /** Makes what the connection of an identifier needs; the first receive is posted. */
  Endpoint(RdmaCmId id, RpingOptions options, Conversation conversation, Output output) {
    this.id = id;
    this.options = options;
    this.conversation = conversation;
    this.output = output;
    sink = arena.allocate(options.size());
    source = arena.allocate(conversation.isServer() ? 1 : options.size());
    boolean made = false;
    try {
      make();
      made = true;
    } finally {
      if (!made) {
        close();
      }
    }
  }

  private <T extends VerbsObject> T made(T object) {
    objects.push(object);
    return object;
  }

  private void make() {
    ProtectionDomain pd = made(id.verbs().allocatePd());
    output.debug("created pd " + pd);
    var channel = made(id.verbs().createCompletionChannel());
    output.debug("created channel " + channel);
    CompletionQueue cq = made(id.verbs().createCq(SEND_DEPTH * 2, channel, 0));
    output.debug("created cq " + cq);
    cq.requestNotify(CqNotify.NEXT_COMP);
    var attributes =
        new QpInitAttributes(QpType.RC)
            .sendCq(cq)
            .recvCq(cq)
            .capabilities(new QpCapabilities(SEND_DEPTH, RECEIVE_DEPTH, 1, 1, 0));
    if (options.ownQp()) {
      qp = made(pd.createQp(attributes));
      qp.modify(new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(id.port()).access(Set.of()));
    } else {
      qp = id.createQp(pd, attributes);
    }
    output.debug("created qp " + qp);
    MemoryRegion receiveRegion = made(pd.registerMemory(received, Access.LOCAL_WRITE));
    MemoryRegion sendRegion = made(pd.registerMemory(message));
    sinkRegion = made(register(pd, sink));
    sourceRegion = made(register(pd, source));
    output.debug("allocated & registered buffers...");
    receive.addSge(received.address(), RdmaInfo.LENGTH, receiveRegion.lkey());
    send.opcode(WrOpcode.SEND).flags(SendFlag.SIGNALED).addSge(message.address(), RdmaInfo.LENGTH, sendRegion.lkey());
    rdma.flags(SendFlag.SIGNALED);
    qp.postReceive(receive);
    channel.setHandler(this::completed);
  }

  private static MemoryRegion register(ProtectionDomain pd, MemorySegment memory) {
    return pd.registerMemory(memory, Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
  }

  /** Takes an own queue pair through its states. */
  void modify() {
    for (QpState state : new QpState[] {QpState.INIT, QpState.RTR, QpState.RTS}) {
      qp.modify(id.qpAttributes(state));
    }
  }

  /** What to say in a request, and with an own queue pair in an acceptance. */
  ConnectionParameters parameters() {
    ConnectionParameters parameters = ConnectionParameters.DEFAULT.withDepths(1, 1).withRetries(RETRIES, RETRIES);
    return options.ownQp() ? parameters.withQueuePair(qp.number(), false) : parameters;
  }

  /** What the client offers to be read. */
  MemorySegment source() {
    return source;
  }

  /** What was read by the server, or written to the client. */
  MemorySegment sink() {
    return sink;
  }

  /** Tells the peer where the source is. */
  void offerSource() {
    offer(source, sourceRegion);
  }

  /** Tells the peer where the sink is. */
  void offerSink() {
    offer(sink, sinkRegion);
  }

  private void offer(MemorySegment memory, MemoryRegion region) {
    RdmaInfo.write(message, memory.address(), region.rkey(), options.size());
    output.debug(String.format("RDMA addr %x rkey %x len %d", memory.address(), region.rkey(), options.size()));
    goAhead();
  }

  /** Sends the message as it is, to say that the peer shall go ahead. */
  void goAhead() {
    qp.postSend(send);
  }

  /** Reads what the peer has offered. */
  void read() {
    post(WrOpcode.RDMA_READ, remoteLength);
  }

  /** Writes back what was read. */
  void write() {
    post(WrOpcode.RDMA_WRITE, PingData.length(sink));
  }

  private void post(WrOpcode opcode, int length) {
    rdma.opcode(opcode).remoteAddress(remoteAddress).rkey(remoteRkey);
    qp.postSend(rdma.clearSges().addSge(sink.address(), length, sinkRegion.lkey()));
  }

  private void completed(CompletionQueue cq) {
    try {
      cq.requestNotify(CqNotify.NEXT_COMP);
      for (int found = cq.poll(completions); found > 0; found = cq.poll(completions)) {
        for (int i = 0; i < found; i++) {
          completed(completions[i]);
        }
      }
    } catch (VerbsException e) {
      if (id.state() == RdmaCmState.DEVICE_REMOVAL) {
        return; // which its event tells
      }
      conversation.fail("poll error " + e.errno().number() + "\nrping: " + e.getMessage());
    }
  }

  private void completed(WorkCompletion completion) {
    if (completion.status() == WcStatus.WR_FLUSH_ERR) {
      return;
    }
    if (completion.status() != WcStatus.SUCCESS) {
      conversation.fail(
          "cq completion failed status " + completion.status().number() + "\nrping: " + qp.explain(completion));
      return;
    }
    switch (completion.opcode()) {
      case SEND -> output.debug("send completion");
      case RDMA_WRITE -> {
        output.debug("rdma write completion");
        conversation.reach(RpingState.RDMA_WRITE_COMPLETE);
      }
      case RDMA_READ -> {
        output.debug("rdma read completion");
        conversation.reach(RpingState.RDMA_READ_COMPLETE);
      }
      case RECV -> received(completion);
      default -> conversation.fail("rping: unexpected completion: " + completion);
    }
  }

  private void received(WorkCompletion completion) {
    output.debug("recv completion");
    if (completion.byteLength() != RdmaInfo.LENGTH) {
      conversation.fail("Received bogus data, size " + completion.byteLength() + "\nrecv wc error: -1");
      return;
    }
    remoteAddress = RdmaInfo.address(received);
    remoteRkey = RdmaInfo.rkey(received);
    remoteLength = RdmaInfo.length(received);
    if (conversation.isServer()) {
      output.debug(
          String.format("Received rkey %x addr %x len %d from peer", remoteRkey, remoteAddress, remoteLength));
    }
    conversation.received();
    qp.postReceive(receive);
    conversation.signal();
  }

  /** Ends the connection. */
  void disconnect() {
    conversation.leave();
    try {
      if (options.ownQp()) {
        qp.modify(new QpAttributes().state(QpState.ERR));
      }
      id.disconnect();
    } catch (VerbsException e) {
      output.debug("rdma_disconnect: " + e.getMessage());
    }
  }

  /** Gives everything back but the identifier. */
  @Override
  public void close() {
    conversation.leave();
    id.destroyQp();
    objects.forEach(VerbsObject::close);
    arena.close();
  }
}
