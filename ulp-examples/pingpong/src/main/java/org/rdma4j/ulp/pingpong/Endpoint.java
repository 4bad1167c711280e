package org.rdma4j.ulp.pingpong;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PostException;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.ulp.command.CommandException;

/**
 * All objects of one side: one buffer that is both sent and received into, one completion queue, the queue pairs.
 * Posting allocates nothing. Belongs to one thread.
 */
final class Endpoint implements AutoCloseable {
  /** Identifier of receives, and the bit that stands for one outstanding. */
  static final int RECEIVE = 1;

  /** Identifier of sends, and the bit that stands for one outstanding. */
  static final int SEND = 2;

  private static final int PAGE = 4096;
  private static final int QKEY = 0x11111111;
  private static final int MIN_RNR_TIMER = 12;
  private static final int TIMEOUT = 14;
  private static final int RETRIES = 7;

  private final PingpongOptions options;
  private final Program program;
  private final Arena arena = Arena.ofShared();
  private final RdmaDevice device;
  private final Context context;
  private final List<QueuePair> queuePairs = new ArrayList<>();
  private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
  private final SendWorkRequest send = new SendWorkRequest();
  private MemorySegment buffer;
  private MemoryRegion region;
  private CompletionChannel channel;
  private CompletionQueue cq;
  private SharedReceiveQueue srq;
  private AddressHandle ah;
  private int remoteQpn;

  /** Makes the objects and brings the queue pairs to INIT. */
  Endpoint(RdmaDevice device, PingpongOptions options) throws CommandException {
    this.device = device;
    this.options = options;
    this.program = options.program();
    Context opened = null;
    boolean made = false;
    try {
      opened = attempt("Couldn't get context for " + device.name(), () -> device.open(program.command()));
      context = opened;
      make();
      made = true;
    } finally {
      if (!made) {
        if (opened != null) {
          opened.close();
        }
        arena.close();
      }
    }
  }

  private void make() throws CommandException {
    if (program == Program.UD) {
      checkSize();
    }
    if (options.events()) {
      channel = attempt("Couldn't create completion channel", context::createCompletionChannel);
    }
    ProtectionDomain pd = attempt("Couldn't allocate PD", context::allocatePd);
    options.refuseUnsupported();
    int length = program.headroom() + options.size();
    try {
      buffer = arena.allocate(Math.max(length, 1), PAGE).fill(program.fill());
    } catch (OutOfMemoryError e) {
      throw new CommandException("Couldn't allocate work buf.", 1, null);
    }
    region = attempt("Couldn't register MR", () -> pd.registerMemory(buffer, Access.LOCAL_WRITE));
    int entries = options.receiveDepth() + options.queuePairs();
    cq = attempt("Couldn't create CQ", () -> context.createCq(entries, channel, 0));
    if (program == Program.SRQ) {
      srq = attempt("Couldn't create SRQ", () -> pd.createSrq(new SrqInitAttributes(options.receiveDepth(), 1)));
    }
    for (int i = 0; i < options.queuePairs(); i++) {
      queuePairs.add(attempt("Couldn't create QP" + position(i), () -> pd.createQp(initial())));
    }
    for (int i = 0; i < options.queuePairs(); i++) {
      modify(i, "INIT", toInit());
    }
    prepareRequests();
  }

  private void checkSize() throws CommandException {
    int mtu =
        attempt("Unable to query port info for port " + options.ibPort(), () -> device.port(options.ibPort()))
            .activeMtu()
            .bytes();
    if (options.size() > mtu) {
      throw new CommandException("Requested size larger than port MTU (" + mtu + ")");
    }
  }

  private QpInitAttributes initial() {
    int receives = srq == null ? options.receiveDepth() : 0;
    return new QpInitAttributes(program.type())
        .sendCq(cq)
        .recvCq(cq)
        .srq(srq)
        .capabilities(new QpCapabilities(1, receives, 1, srq == null ? 1 : 0, 0));
  }

  private QpAttributes toInit() {
    QpAttributes attributes = new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(options.ibPort());
    return program.type() == QpType.UD ? attributes.qkey(QKEY) : attributes.access(Set.of());
  }

  private void prepareRequests() {
    boolean inline = queuePairs.stream().allMatch(qp -> qp.capabilities().maxInlineData() >= options.size());
    long address = buffer.address();
    receive.wrId(RECEIVE).addSge(address, program.headroom() + options.size(), region.lkey());
    send.wrId(SEND)
        .opcode(WrOpcode.SEND)
        .flags(inline ? SendFlag.SIGNALED | SendFlag.INLINE : SendFlag.SIGNALED)
        .addSge(address + program.headroom(), options.size(), region.lkey());
  }

  /** The own addresses, one for each queue pair. */
  List<Destination> addresses(Supplier<Integer> psns) throws CommandException {
    PortAttributes port = attempt("Couldn't get port info", () -> device.port(options.ibPort()));
    if (!device.portImmutable(options.ibPort()).isRoce() && port.lid() == 0) {
      throw new CommandException("Couldn't get local LID");
    }
    Gid gid = options.gidIndex() < 0 ? Gid.ZERO : gid(options.gidIndex());
    List<Destination> addresses = new ArrayList<>();
    for (QueuePair qp : queuePairs) {
      addresses.add(new Destination(port.lid(), qp.number(), psns.get(), gid));
    }
    return addresses;
  }

  private Gid gid(int index) throws CommandException {
    var table = device.gidTable(options.ibPort());
    var entry = index < table.size() ? table.entry(index) : null;
    if (entry == null) {
      throw new CommandException(String.format(program.noGid(), index));
    }
    return entry.gid();
  }

  /** Brings the queue pairs to RTR and RTS. */
  void connect(List<Destination> local, List<Destination> remote) throws CommandException {
    for (int i = 0; i < queuePairs.size(); i++) {
      AhAttributes path = path(remote.get(i));
      modify(i, "RTR", toRtr(remote.get(i), path));
      modify(i, "RTS", toRts(local.get(i).psn()));
    }
    if (program == Program.UD) {
      AhAttributes path = path(remote.getFirst());
      ah = attempt("Failed to create AH", () -> region.protectionDomain().createAh(path));
      remoteQpn = remote.getFirst().qpNumber();
      send.ah(ah).remoteQpn(remoteQpn).remoteQkey(QKEY);
    }
  }

  /** Without a GID of the peer there is no global route header, which a RoCE device then refuses. */
  private AhAttributes path(Destination remote) {
    if (remote.gid().lo() == 0) {
      return new AhAttributes(
          options.ibPort(), null, 0, 0, 0, 0, options.serviceLevel(), remote.lid(), 0, 0, null);
    }
    return new AhAttributes(options.ibPort(), remote.gid(), options.gidIndex())
        .withServiceLevel(options.serviceLevel());
  }

  private QpAttributes toRtr(Destination remote, AhAttributes path) {
    QpAttributes attributes = new QpAttributes().state(QpState.RTR);
    if (program == Program.UD) {
      return attributes;
    }
    attributes.addressVector(path).pathMtu(options.mtu()).destQpNumber(remote.qpNumber()).rqPsn(remote.psn());
    return program == Program.UC ? attributes : attributes.maxDestRdAtomic(1).minRnrTimer(MIN_RNR_TIMER);
  }

  private QpAttributes toRts(int psn) {
    QpAttributes attributes = new QpAttributes().state(QpState.RTS).sqPsn(psn);
    return program.type() == QpType.RC
        ? attributes.timeout(TIMEOUT).retryCount(RETRIES).rnrRetry(RETRIES).maxRdAtomic(1)
        : attributes;
  }

  private void modify(int index, String state, QpAttributes attributes) throws CommandException {
    attempt(
        "Failed to modify QP" + position(index) + " to " + state,
        () -> {
          queuePairs.get(index).modify(attributes);
          return null;
        });
  }

  /** Posts receives; how many were taken. */
  int postReceives(int count) {
    int posted = 0;
    try {
      for (; posted < count; posted++) {
        if (srq == null) {
          queuePairs.getFirst().postReceive(receive);
        } else {
          srq.postReceive(receive);
        }
      }
    } catch (PostException e) {
      // Told by the count, as in C.
    }
    return posted;
  }

  /** Posts the message on a queue pair. */
  void postSend(int index) throws CommandException {
    QueuePair qp = queuePairs.get(index);
    try {
      if (options.newSend()) {
        WorkRequestBuilder requests = qp.workRequests();
        requests.start();
        requests.wrId(SEND);
        requests.flags(send.flags() & ~SendFlag.INLINE);
        requests.send();
        requests.setSge(region.lkey(), send.sgeAddress(0), options.size());
        requests.complete();
      } else {
        qp.postSend(send);
      }
    } catch (VerbsException e) {
      throw new CommandException("Couldn't post send", e);
    }
  }

  /** The number of the queue pair in this endpoint, or -1. */
  int indexOf(int qpNumber) {
    for (int i = 0; i < queuePairs.size(); i++) {
      if (queuePairs.get(i).number() == qpNumber) {
        return i;
      }
    }
    return -1;
  }

  /** Why a work request failed, for a person. */
  String explain(WorkCompletion completion) {
    int index = indexOf(completion.qpNumber());
    return index < 0 ? completion.toString() : queuePairs.get(index).explain(completion);
  }

  int size() {
    return queuePairs.size();
  }

  CompletionQueue completionQueue() {
    return cq;
  }

  /** Where completion events come, or null. */
  CompletionChannel channel() {
    return channel;
  }

  /** The message, without what is in front of it. */
  MemorySegment message() {
    return buffer.asSlice(program.headroom(), options.size());
  }

  /** Closing the context destroys all objects; only then may the memory go. */
  @Override
  public void close() {
    context.close();
    arena.close();
  }

  private String position(int index) {
    return program == Program.SRQ ? "[" + index + "]" : "";
  }

  private static <T> T attempt(String failure, Supplier<T> step) throws CommandException {
    try {
      return step.get();
    } catch (VerbsException e) {
      throw new CommandException(failure, e);
    }
  }
}
