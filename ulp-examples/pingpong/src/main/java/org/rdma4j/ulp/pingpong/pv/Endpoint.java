package org.rdma4j.ulp.pingpong.pv;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.PathMtu;

/**
 * One side of a scenario: a queue pair connected to the other side's and a buffer with a slot for every message. Byte i
 * of message m, counted from 1, is (i * 7 + m) mod 256.
 */
final class Endpoint {
  static final int BUFFER = 1 << 20;
  static final int GRH = 40;
  /** Bytes of a memory window. */
  static final int WINDOW = 4096;

  private static final int QKEY = 0x11111111;
  private static final int SERVER_PSN = 0x000100;
  // so that the client's PSN wraps from 0xffffff to 0
  private static final int CLIENT_PSN = 0xfffffe;
  private static final long POLL_PAUSE_NANOS = 20_000;
  private static final ValueLayout.OfLong NUMBER = ValueLayout.JAVA_LONG.withOrder(ByteOrder.nativeOrder());
  private static final Set<Access> REMOTE =
      EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC);
  private static final Set<Access> ALL = EnumSet.copyOf(REMOTE);

  static {
    ALL.add(Access.MW_BIND);
  }

  private final PvOptions options;
  private final PrintStream out;
  private final MemorySegment buffer;
  private final Context context;
  private final ProtectionDomain pd;
  private final CompletionQueue cq;
  private final MemoryRegion mr;
  private final QueuePair qp;
  private final QpType type;
  private final int stride;
  private final int firstReceived;
  private final WorkCompletion[] completions = WorkCompletion.batch(8);
  private AddressHandle handle;
  private MemoryWindow window;
  private Map<String, String> remote;

  /**
   * Makes the queue pair and what it needs.
   *
   * @param context owns all that is made and ends it when closed, before {@code memory}
   * @param memory where the buffer comes from
   */
  Endpoint(Context context, Arena memory, PvOptions options, PrintStream out) {
    this.context = context;
    this.options = options;
    this.out = out;
    type = typeOf(options.scenario());
    int largest = Collections.max(options.sizes());
    stride = (largest + grh() + 63) / 64 * 64;
    firstReceived = options.scenario().equals("send-both") ? options.sizes().size() : 0;
    if ((long) stride * (options.sizes().size() + firstReceived) > BUFFER) {
      throw new ScenarioFailed("--sizes need more than the " + BUFFER + " bytes of the buffer");
    }
    buffer = memory.allocate(BUFFER, 4096);
    pd = context.allocatePd();
    cq = context.createCq(128, null, 0);
    boolean closed = options.scenario().equals("no-access");
    mr = pd.registerMemory(buffer, buffer.address(), closed ? EnumSet.of(Access.LOCAL_WRITE) : ALL);
    qp =
        pd.createQp(
            new QpInitAttributes(type)
                .sendCq(cq)
                .recvCq(cq)
                .signalAll(true)
                .capabilities(new QpCapabilities(32, 32, options.entries(), options.entries(), 0)));
  }

  static QpType typeOf(String scenario) {
    boolean datagrams = scenario.startsWith("ud-") || scenario.equals("mcast");
    return scenario.startsWith("uc-") ? QpType.UC : datagrams ? QpType.UD : QpType.RC;
  }

  /** Tells the other side what it needs to know of this one, hears the same of it, and connects. */
  void connect(Exchange exchange) throws IOException {
    GidEntry entry = context.device().gidTable(1).entry(options.gidIndex());
    if (entry == null) {
      throw new ScenarioFailed("GID index " + options.gidIndex() + " of " + options.device() + " is empty");
    }
    int psn = options.server() ? SERVER_PSN : CLIENT_PSN;
    String gid = entry.gid().toFullString();
    exchange.tell(
        Map.of(
            "scenario", options.scenario(),
            "qpn", qp.number(),
            "psn", psn,
            "gid", gid,
            "addr", mr.address(),
            "rkey", Integer.toUnsignedLong(mr.rkey())));
    remote = exchange.hear();
    if (!remote.getOrDefault("scenario", options.scenario()).equals(options.scenario())) {
      throw new ScenarioFailed("the other side plays " + remote.get("scenario"));
    }
    out.printf(
        "%s %s: local qpn %d psn %#x gid %s; remote qpn %s psn %#x gid %s%n",
        options.role(), options.scenario(), qp.number(), psn, gid, remote.get("qpn"), number("psn"), remote.get("gid"));
    readyToSend(psn, new AhAttributes(1, Gid.parse(remote.get("gid")), options.gidIndex()).withHopLimit(64));
  }

  /** Makes a datagram queue pair ready without another side. */
  void readyForDatagrams(int key) {
    qp.modify(new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(1).qkey(key));
    qp.modify(new QpAttributes().state(QpState.RTR));
    qp.modify(new QpAttributes().state(QpState.RTS).sqPsn(CLIENT_PSN));
  }

  private void readyToSend(int psn, AhAttributes path) {
    QpAttributes init = new QpAttributes().state(QpState.INIT).pkeyIndex(0).port(1);
    QpAttributes receive = new QpAttributes().state(QpState.RTR);
    QpAttributes send = new QpAttributes().state(QpState.RTS).sqPsn(psn);
    if (type == QpType.UD) {
      init.qkey(QKEY);
      handle = pd.createAh(path);
    } else {
      init.access(type == QpType.UC ? EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE) : REMOTE);
      receive.addressVector(path).pathMtu(PathMtu.ofBytes(options.mtu()));
      receive.destQpNumber((int) number("qpn")).rqPsn((int) number("psn"));
    }
    if (type == QpType.RC) {
      receive.maxDestRdAtomic(4).minRnrTimer(options.rnrTimer());
      send.timeout(options.timeout()).retryCount(options.retryCount()).maxRdAtomic(4);
      send.rnrRetry(options.scenario().equals("rnr-exceeded") ? 2 : 7);
    }
    qp.modify(init);
    qp.modify(receive);
    qp.modify(send);
  }

  // --- what the scenarios need to know

  QpType type() {
    return type;
  }

  int grh() {
    return type == QpType.UD ? GRH : 0;
  }

  /** Offset of message i, from 0, in the buffer of either side. */
  int slot(int i) {
    return i * stride;
  }

  /** Offset of what arrives as message i: where both sides send, behind all that leaves. */
  private int received(int i) {
    return slot(firstReceived + i);
  }

  long remoteAddress() {
    return number("addr");
  }

  int remoteKey() {
    return (int) number("rkey");
  }

  /** Binds the window, made first where there is none, to WINDOW bytes of the buffer; returns the key it then has. */
  int bindWindow(MwType windowType, long wrId, int offset, Access... access) {
    if (window == null) {
      window = pd.allocateMw(windowType);
    }
    MwBindInfo info = new MwBindInfo(mr, mr.address() + offset, WINDOW, access);
    int bound;
    if (windowType == MwType.TYPE_1) {
      bound = window.bind(qp, wrId, SendFlag.SIGNALED, info);
    } else {
      bound = Rkeys.increment(window.rkey());
      qp.postSend(new SendWorkRequest().wrId(wrId).flags(SendFlag.SIGNALED).bindMw(window, bound, info));
    }
    drain(1);
    return bound;
  }

  void invalidate(long wrId, int windowKey) {
    SendWorkRequest request = new SendWorkRequest().wrId(wrId).flags(SendFlag.SIGNALED);
    qp.postSend(request.opcode(WrOpcode.LOCAL_INV).invalidateRkey(windowKey));
    drain(1);
  }

  void say(String text) {
    out.println("  " + text);
  }

  QueuePair queuePair() {
    return qp;
  }

  QpState state() {
    return qp.query().state();
  }

  void destroyQueuePair() {
    qp.destroy();
  }

  // --- the buffer

  long value() {
    return buffer.get(NUMBER, 0);
  }

  void value(long value) {
    buffer.set(NUMBER, 0, value);
  }

  byte[] bytes(int offset, int length) {
    return buffer.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
  }

  void fill(int i, int size) {
    for (int k = 0; k < size; k++) {
      buffer.set(ValueLayout.JAVA_BYTE, slot(i) + k, (byte) (k * 7 + i + 1));
    }
  }

  /**
   * Checks every byte of every message. A UC WRITE ends for the client when it is sent: its bytes may be on their way.
   */
  void check() {
    long end = System.nanoTime() + (options.scenario().equals("uc-write") ? options.patience().toNanos() : 0);
    String wrong = firstWrong();
    while (wrong != null && System.nanoTime() - end < 0) {
      LockSupport.parkNanos(POLL_PAUSE_NANOS);
      wrong = firstWrong();
    }
    if (wrong != null) {
      throw new ScenarioFailed(wrong);
    }
    long total = options.sizes().stream().mapToLong(Integer::longValue).sum();
    say("payload ok: " + options.sizes().size() + " messages, " + total + " bytes");
  }

  private String firstWrong() {
    for (int i = 0; i < options.sizes().size(); i++) {
      byte[] got = bytes(received(i) + grh(), options.sizes().get(i));
      for (int k = 0; k < got.length; k++) {
        if (got[k] != (byte) (k * 7 + i + 1)) {
          return "message " + (i + 1) + ": byte " + k + " of " + got.length + " is wrong";
        }
      }
    }
    return null;
  }

  // --- work

  void postReceives(int count, int length) {
    for (int i = 0; i < count; i++) {
      int size = length + grh();
      int pieces = pieces(size);
      ReceiveWorkRequest request = new ReceiveWorkRequest().wrId(100 + i);
      for (int k = 0; k < pieces; k++) {
        request.addSge(mr.address() + received(i) + (long) k * (size / pieces), size / pieces, mr.lkey());
      }
      qp.postReceive(request);
    }
  }

  /** Sends all messages while the other side does the same, and checks what has come. */
  void sendBoth() {
    for (int i = 0; i < options.sizes().size(); i++) {
      int size = options.sizes().get(i);
      fill(i, size);
      post(i + 1, new SendWorkRequest().opcode(WrOpcode.SEND), size, slot(i));
    }
    drain(2 * options.sizes().size());
    check();
  }

  /** Posts a request whose local side is in the buffer. */
  void post(long wrId, SendWorkRequest request, int size, int offset) {
    if (type == QpType.UD) {
      boolean badQpn = options.scenario().equals("ud-bad-qpn");
      boolean badQkey = options.scenario().equals("ud-bad-qkey");
      request.ah(handle).remoteQpn((int) number("qpn") + (badQpn ? 1000 : 0)).remoteQkey(QKEY + (badQkey ? 1 : 0));
    }
    postAddressed(wrId, request, size, offset);
  }

  /** Posts a request that knows where to go. */
  void postAddressed(long wrId, SendWorkRequest request, int size, int offset) {
    request.wrId(wrId).flags(SendFlag.SIGNALED);
    int pieces = pieces(size);
    for (int k = 0; k < pieces; k++) {
      request.addSge(mr.address() + offset + (long) k * (size / pieces), size / pieces, mr.lkey());
    }
    qp.postSend(request);
  }

  /** As many entries of equal length as asked for, or one where the size cannot be divided so. */
  private int pieces(int size) {
    return size > 0 && size % options.entries() == 0 ? options.entries() : 1;
  }

  /** Prints completions until there are {@code want} of them or the time is over. */
  void drain(int want, Duration limit) {
    drain(want, limit, false);
  }

  void drain(int want) {
    drain(want, options.patience(), false);
  }

  /** Waits for one completion and prints it only when it is a failure; whether it was well. */
  boolean drainQuietly() {
    return drain(1, options.patience(), true);
  }

  private boolean drain(int want, Duration limit, boolean quietly) {
    int got = 0;
    boolean well = true;
    for (long end = System.nanoTime() + limit.toNanos(); got < want && System.nanoTime() - end < 0; ) {
      int count = cq.poll(completions, Math.min(completions.length, want - got));
      for (int i = 0; i < count; i++) {
        boolean success = completions[i].status() == WcStatus.SUCCESS;
        well &= success;
        if (!quietly || !success) {
          print(completions[i]);
        }
      }
      got += count;
      if (count == 0) {
        LockSupport.parkNanos(POLL_PAUSE_NANOS);
      }
    }
    if (got < want) {
      say(want - got + " completion(s) missing");
    }
    return well && got >= want;
  }

  private void print(WorkCompletion wc) {
    StringBuilder text = new StringBuilder();
    text.append("completion wr_id ").append(wc.wrId()).append(" status ").append(wc.status().number());
    text.append(" opcode ").append(wc.opcode() == null ? 0 : wc.opcode().number());
    text.append(" byte_len ").append(wc.byteLength()).append(" flags 0x").append(Integer.toHexString(wc.flags()));
    text.append(" vendor_err 0x").append(Integer.toHexString(wc.vendorError()));
    if ((wc.flags() & WcFlag.WITH_IMM) != 0) {
      text.append(" imm 0x").append(Integer.toHexString(wc.immediate()));
    }
    if ((wc.flags() & WcFlag.WITH_INVALIDATE) != 0) {
      text.append(" invalidated 0x").append(Integer.toHexString(wc.invalidatedRkey()));
    }
    say(text.toString());
  }

  private long number(String field) {
    return Long.parseLong(remote.get(field));
  }
}
