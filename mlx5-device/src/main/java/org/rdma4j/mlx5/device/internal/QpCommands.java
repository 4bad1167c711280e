package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.device.internal.Firmware.State;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.EventType;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.PciHost;
import org.rdma4j.roce.engine.Engine;
import org.rdma4j.roce.engine.NoReceives;
import org.rdma4j.roce.engine.QpKind;
import org.rdma4j.roce.engine.QpProfile;
import org.rdma4j.roce.engine.ReceiveSource;
import org.rdma4j.roce.engine.TransportState;

/** All queue pairs, and the commands that make, move, tell of and end them. Engine thread, but for {@link #get}. */
final class QpCommands {
  private static final Field CONTEXT = Command.in(Opcode.CREATE_QP, "qpc");
  private static final Field LIST = Command.in(Opcode.CREATE_QP, "pas");
  private static final Field FROM_UMEM = Command.in(Opcode.CREATE_QP, "wq_umem_valid");
  private static final Field CREATED = Command.out(Opcode.CREATE_QP, "qpn");
  private static final Field DESTROYED = Command.in(Opcode.DESTROY_QP, "qpn");
  private static final Field QUERIED = Command.in(Opcode.QUERY_QP, "qpn");
  private static final Field FOUND = Command.out(Opcode.QUERY_QP, "qpc");
  private static final Field TO_ERROR = Command.in(Opcode.TO_ERR_QP, "qpn");
  private static final Field TO_RESET = Command.in(Opcode.TO_RST_QP, "qpn");
  private static final Field STATE = Layouts.QPC.field("state");
  private static final Field SERVICE = Layouts.QPC.field("st");
  private static final Field SIGNATURE = Layouts.QPC.field("wq_signature");
  private static final Field PD = Layouts.QPC.field("pd");
  private static final Field LOG_RQ_SIZE = Layouts.QPC.field("log_rq_size");
  private static final Field LOG_RQ_STRIDE = Layouts.QPC.field("log_rq_stride");
  private static final Field NO_SQ = Layouts.QPC.field("no_sq");
  private static final Field LOG_SQ_SIZE = Layouts.QPC.field("log_sq_size");
  private static final Field UAR = Layouts.QPC.field("uar_page");
  private static final Field LOG_PAGE = Layouts.QPC.field("log_page_size");
  private static final Field OFFSET = Layouts.QPC.field("page_offset");
  private static final Field SEND_CQ = Layouts.QPC.field("cqn_snd");
  private static final Field RECEIVE_CQ = Layouts.QPC.field("cqn_rcv");
  private static final Field XRCD = Layouts.QPC.field("xrcd");
  private static final Field RECORD = Layouts.QPC.field("dbr_addr");
  private static final Field RQ_TYPE = Layouts.QPC.field("rq_type");
  private static final Field SRQ = Layouts.QPC.field("srqn_rmpn_xrqn");
  private static final Field COUNTERS = Layouts.QPC.field("counter_set_id");
  private static final Field SEND_PSN = Layouts.QPC.field("next_send_psn");
  private static final Field ACKED_PSN = Layouts.QPC.field("last_acked_psn");
  private static final Field RECEIVE_PSN = Layouts.QPC.field("next_rcv_psn");
  private static final Field SQ_TAKEN = Layouts.QPC.field("hw_sq_wqebb_counter");
  private static final Field SQ_POSTED = Layouts.QPC.field("sw_sq_wqebb_counter");
  private static final Field RQ_TAKEN = Layouts.QPC.field("hw_rq_counter");
  private static final Field RQ_POSTED = Layouts.QPC.field("sw_rq_counter");
  private static final int BYTES = (int) Layouts.QPC.size();
  private static final int GSI = 1;

  /** Numbers of services in a context ({@code qp.h}: {@code MLX5_QP_ST_*}). */
  private static final int ST_RC = 0;

  private static final int ST_UC = 1;
  private static final int ST_UD = 2;
  private static final int ST_XRC = 3;
  private static final int ST_QP1 = 8;
  private static final int ST_REG_UMR = 0xc;

  private static final int OWN_QUEUE = 0;
  private static final int SHARED_QUEUE = 1;
  private static final int NO_QUEUE = 3;
  private static final int LOG_SEGMENT = 4;
  private static final int MAX_SEND_SEGMENTS = 60;

  private final EntryTable table;
  private final EntryTable pds;
  private final EntryTable xrcds;
  private final UarPages uars;
  private final CqCommands cqs;
  private final SrqCommands srqs;
  private final CounterCommands counters;
  private final MemoryKeys keys;
  private final Umr umr;
  private final RoceAddresses addresses;
  private final Capabilities capabilities;
  private final QpTransitions transitions;
  private final Engine engine;
  private final PciHost host;
  private final QpParts.Surroundings surroundings;
  private final Slots<QueuePair> queuePairs = new Slots<>(1 << Limits.LOG_MAX_QP);
  private boolean gsi;

  QpCommands(Firmware firmware, Objects objects, Engine engine, PciHost host) {
    this.table = objects.table("qp");
    this.pds = objects.table("pd");
    this.xrcds = objects.table("xrcd");
    this.uars = objects.uars();
    this.cqs = objects.cqs();
    this.srqs = objects.srqs();
    this.counters = objects.counters();
    this.keys = objects.keys();
    this.umr = new Umr(keys);
    this.addresses = objects.addresses();
    this.capabilities = objects.capabilities();
    this.engine = engine;
    this.host = host;
    this.transitions = new QpTransitions(addresses, counters, objects.vport()::isRoceOn, engine);
    Events events = objects.events();
    this.surroundings =
        new QpParts.Surroundings() {
          @Override
          public void event(EventType type, int number) {
            events.post(type, number);
          }

          @Override
          public void defer(Runnable action) {
            engine.defer(action);
          }
        };
    srqs.whenLost(
        (number, queue) -> {
          QueuePair qp = queuePairs.get(number);
          if (qp != null) {
            qp.completionLost(queue);
          }
        });
    firmware.add(Opcode.CREATE_QP, State.INITIALIZED, this::create);
    firmware.add(Opcode.DESTROY_QP, State.INITIALIZED, call -> end(existing(call.get(DESTROYED))));
    firmware.add(Opcode.QUERY_QP, State.INITIALIZED, this::query);
    firmware.add(Opcode.TO_ERR_QP, State.INITIALIZED, this::toError);
    firmware.add(Opcode.TO_RST_QP, State.INITIALIZED, this::toReset);
    for (QpTransition each : QpTransition.values()) {
      Field number = Command.in(each.opcode(), "qpn");
      firmware.add(each.opcode(), State.INITIALIZED, call -> modify(call, each, existing(call.get(number))));
    }
  }

  /** The queue pair of a number, or null; any thread. */
  QueuePair get(int number) {
    return queuePairs.get(number);
  }

  QueuePair existing(int number) throws CommandFailure {
    QueuePair found = queuePairs.get(number);
    if (found == null) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.NO_SUCH_OBJECT);
    }
    return found;
  }

  private static QpKind kind(int service, boolean noSends) throws CommandFailure {
    return switch (service) {
      case ST_RC, ST_REG_UMR -> QpKind.RC;
      case ST_UC -> QpKind.UC;
      case ST_UD -> QpKind.UD;
      case ST_XRC -> noSends ? QpKind.XRC_TGT : QpKind.XRC_INI;
      case ST_QP1 -> QpKind.GSI;
      default -> throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_SERVICE);
    };
  }

  private void create(CommandCall call) throws CommandFailure {
    MemorySegment input = call.input();
    long at = CONTEXT.offset();
    QpKind kind = kind(SERVICE.get(input, at), NO_SQ.isSet(input, at));
    if (SIGNATURE.isSet(input, at) || call.get(FROM_UMEM) != 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.NOT_MODELLED);
    }
    if (kind == QpKind.GSI && gsi) {
      throw new CommandFailure(CommandStatus.RESOURCE_BUSY, Syndrome.IN_USE);
    }
    boolean registrar = SERVICE.get(input, at) == ST_REG_UMR;
    QpParts parts = parts(input, at, kind, registrar);
    boolean own = RQ_TYPE.get(input, at) == OWN_QUEUE && kind != QpKind.XRC_INI && kind != QpKind.XRC_TGT;
    SharedReceives shared = shared(input, at, kind);
    int logStride = LOG_RQ_STRIDE.get(input, at) + LOG_SEGMENT;
    int receives = own ? 1 << LOG_RQ_SIZE.get(input, at) : 0;
    int blocks = NO_SQ.isSet(input, at) ? 0 : 1 << LOG_SQ_SIZE.get(input, at);
    if (own && 1 << logStride > ReceiveReader.MAX_BYTES) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_SIZE);
    }
    long start = (long) receives << logStride;
    PageList buffer =
        PageList.of(
            call, LIST, start + (long) blocks * SendReader.BLOCK, LOG_PAGE.get(input, at), OFFSET.get(input, at));
    CounterSet counted = counters.existing(COUNTERS.get(input, at));
    int number = table.allocate();
    boolean made = false;
    try {
      table.store(number, input, at, BYTES);
      made = true;
    } finally {
      if (!made) {
        table.free(number);
      }
    }
    QueuePair qp = new QueuePair(number, parts);
    MemorySegment.copy(input, at, qp.context(), 0, BYTES);
    STATE.set(qp.context(), 0, 0);
    DoorbellRecord record = new DoorbellRecord(host, RECORD.getLong(input, at));
    OwnReceives ownReceives =
        own ? new OwnReceives(host, buffer, record, receives, 1 << logStride, qp::broken) : null;
    SendReader sends = new SendReader(host, buffer, start, blocks, number, kind, record, addresses, qp::broken);
    qp.complete(sends, ownReceives, shared);
    qp.counters(counted);
    counted.users++;
    ReceiveSource source =
        switch (kind) {
          case XRC_INI -> NoReceives.INITIATOR;
          case XRC_TGT -> NoReceives.TARGET;
          default -> own ? ownReceives : shared != null ? shared : NoReceives.INITIATOR;
        };
    QpProfile profile =
        new QpProfile(
            kind == QpKind.GSI ? GSI : number,
            kind,
            parts.pd(),
            false,
            Math.max(1, blocks),
            MAX_SEND_SEGMENTS,
            ReceiveReader.MAX_SEGMENTS);
    qp.transport(engine.create(profile, qp, source));
    gsi |= kind == QpKind.GSI;
    queuePairs.put(number, qp);
    call.put(CREATED, number);
  }

  private QpParts parts(MemorySegment input, long at, QpKind kind, boolean registrar) throws CommandFailure {
    int pd = PD.get(input, at);
    int xrcd = XRCD.get(input, at);
    int uar = UAR.get(input, at);
    // The driver's queue pair for registrations is of no domain.
    if (!pds.contains(pd) && !(registrar && pd == 0) && kind != QpKind.XRC_TGT) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.BAD_PD);
    }
    if ((kind == QpKind.XRC_INI || kind == QpKind.XRC_TGT) && !xrcds.contains(xrcd)) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.BAD_XRCD);
    }
    if (!uars.contains(uar) && !NO_SQ.isSet(input, at)) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.BAD_UAR);
    }
    CompletionQueue sends = cqs.existing(SEND_CQ.get(input, at));
    CompletionQueue receives = cqs.existing(RECEIVE_CQ.get(input, at));
    return new QpParts(
        kind, registrar, pd, xrcd, uar, sends, receives, keys, srqs, umr, capabilities, surroundings);
  }

  private SharedReceives shared(MemorySegment input, long at, QpKind kind) throws CommandFailure {
    int type = RQ_TYPE.get(input, at);
    if (type != OWN_QUEUE && type != SHARED_QUEUE && type != NO_QUEUE) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.NOT_MODELLED);
    }
    if (type != SHARED_QUEUE || kind == QpKind.XRC_INI || kind == QpKind.XRC_TGT) {
      return null;
    }
    SharedReceives found = srqs.get(SRQ.get(input, at));
    if (found == null) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.BAD_SRQ);
    }
    return found;
  }

  private void modify(CommandCall call, QpTransition transition, QueuePair qp) throws CommandFailure {
    if (qp.transport().state() != transition.from()) {
      throw new CommandFailure(CommandStatus.BAD_QP_STATE, Syndrome.BAD_STATE);
    }
    transitions.run(call, transition, qp);
    store(qp);
  }

  private void store(QueuePair qp) throws CommandFailure {
    STATE.set(qp.context(), 0, number(qp.transport().state()));
    table.store(qp.number(), qp.context(), 0, BYTES);
  }

  private void toError(CommandCall call) throws CommandFailure {
    QueuePair qp = existing(call.get(TO_ERROR));
    if (qp.transport().state() == TransportState.RESET) {
      qp.open(); // What is posted from now on is flushed.
    }
    qp.transport().modify(TransportState.ERR);
    store(qp);
  }

  private void toReset(CommandCall call) throws CommandFailure {
    QueuePair qp = existing(call.get(TO_RESET));
    qp.close();
    qp.transport().modify(TransportState.RESET);
    store(qp);
  }

  /** Numbers of states in a context ({@code qp.h}: {@code MLX5_QP_STATE_*}). */
  static int number(TransportState state) {
    return switch (state) {
      case RESET -> 0;
      case INIT -> 1;
      case RTR -> 2;
      case RTS -> 3;
      case SQE -> 4;
      case ERR -> 6;
      case SQD -> 7;
    };
  }

  private void query(CommandCall call) throws CommandFailure {
    QueuePair qp = existing(call.get(QUERIED));
    MemorySegment output = call.output();
    long at = FOUND.offset();
    table.load(qp.number(), output, at, BYTES);
    STATE.set(output, at, number(qp.transport().state()));
    SEND_PSN.set(output, at, qp.transport().sendPsn());
    ACKED_PSN.set(output, at, qp.transport().unacknowledgedPsn());
    RECEIVE_PSN.set(output, at, qp.transport().receivePsn());
    SQ_TAKEN.set(output, at, qp.sends().position());
    SQ_POSTED.set(output, at, qp.sends().posted());
    if (qp.receives() != null) {
      RQ_TAKEN.set(output, at, qp.receives().taken());
      RQ_POSTED.set(output, at, qp.receives().posted());
    }
  }

  private void end(QueuePair qp) {
    qp.close();
    queuePairs.put(qp.number(), null);
    engine.destroy(qp.transport());
    keys.endWindows(qp.number());
    qp.release();
    qp.counters().users--;
    gsi &= qp.parts().kind() != QpKind.GSI;
    table.free(qp.number());
  }

  /** Whether a queue pair is of a protection domain. */
  boolean usesPd(int pd) {
    boolean[] found = {false};
    queuePairs.forEach(qp -> found[0] |= qp.parts().pd() == pd);
    return found[0];
  }

  /** Whether a queue pair is of an XRC domain. */
  boolean usesXrcd(int xrcd) {
    boolean[] found = {false};
    queuePairs.forEach(
        qp ->
            found[0] |=
                (qp.parts().kind() == QpKind.XRC_INI || qp.parts().kind() == QpKind.XRC_TGT)
                    && qp.parts().xrcDomain() == xrcd);
    return found[0];
  }

  /** The firmware is dead: nothing is sent or received any more, and nothing completes. */
  void freeze() {
    queuePairs.forEach(
        qp -> {
          qp.close();
          engine.destroy(qp.transport());
        });
  }

  /** Ends all of them. */
  void clear() {
    queuePairs.forEach(this::end);
  }
}
