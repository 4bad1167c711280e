package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.roce.engine.Engine;
import org.rdma4j.roce.engine.QpSettings;
import org.rdma4j.roce.engine.RegisteredMemory;
import org.rdma4j.roce.engine.TransportState;
import org.rdma4j.roce.link.Route;

/** Carries transitions out: merges the context that comes with one, and tells the transport. Engine thread. */
final class QpTransitions {
  private static final Field PD = Layouts.QPC.field("pd");
  private static final Field MTU = Layouts.QPC.field("mtu");
  private static final Field REMOTE_QP = Layouts.QPC.field("remote_qpn");
  private static final Field PKEY_INDEX = Layouts.QPC.field("primary_address_path.pkey_index");
  private static final Field TIMEOUT = Layouts.QPC.field("primary_address_path.ack_timeout");
  private static final Field SOURCE = Layouts.QPC.field("primary_address_path.src_addr_index");
  private static final Field HOPS = Layouts.QPC.field("primary_address_path.hop_limit");
  private static final Field CLASS = Layouts.QPC.field("primary_address_path.tclass");
  private static final Field FLOW = Layouts.QPC.field("primary_address_path.flow_label");
  private static final Field DSCP = Layouts.QPC.field("primary_address_path.dscp");
  private static final Field REMOTE_GID = Layouts.QPC.field("primary_address_path.rgid_rip");
  private static final Field LOG_READS = Layouts.QPC.field("log_sra_max");
  private static final Field LOG_REMOTE_READS = Layouts.QPC.field("log_rra_max");
  private static final Field RETRIES = Layouts.QPC.field("retry_count");
  private static final Field RNR_RETRIES = Layouts.QPC.field("rnr_retry");
  private static final Field SEND_PSN = Layouts.QPC.field("next_send_psn");
  private static final Field RECEIVE_PSN = Layouts.QPC.field("next_rcv_psn");
  private static final Field RNR_TIMER = Layouts.QPC.field("min_rnr_nak");
  private static final Field REMOTE_READS = Layouts.QPC.field("rre");
  private static final Field REMOTE_WRITES = Layouts.QPC.field("rwe");
  private static final Field REMOTE_ATOMICS = Layouts.QPC.field("rae");
  private static final Field QKEY = Layouts.QPC.field("q_key");
  private static final Field COUNTERS = Layouts.QPC.field("counter_set_id");
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int BYTES = (int) Layouts.QPC.size();
  private static final int LARGEST_MTU = 5;
  private static final int SMALLEST_BYTES = 128;
  private static final int DSCP_SHIFT = 2;
  private static final int ALTERNATE_PATH = 1;

  /** Bits of the mask of optional parameters ({@code qp.h}: {@code MLX5_QP_OPTPAR_*}), with what each takes over. */
  private enum Optional {
    REMOTE_READ(1, "rre"),
    REMOTE_ATOMIC(2, "rae", "atomic_mode"),
    REMOTE_WRITE(3, "rwe"),
    PKEY(4, "primary_address_path.pkey_index"),
    Q_KEY(5, "q_key"),
    RNR_TIMEOUT(6, "min_rnr_nak"),
    READS(8, "log_sra_max"),
    REMOTE_READS(9, "log_rra_max"),
    MIGRATION(10, "pm_state"),
    RETRY_COUNT(12, "retry_count"),
    RNR_RETRY(13, "rnr_retry"),
    ACK_TIMEOUT(14, "primary_address_path.ack_timeout"),
    PORT(16, "primary_address_path.vhca_port_num"),
    COUNTER_SET(25, "counter_set_id");

    private final int bit;
    private final List<Field> fields;

    Optional(int bit, String... names) {
      this.bit = 1 << bit;
      this.fields = resolve(names);
    }
  }

  private static final Optional[] OPTIONAL = Optional.values();

  private final RoceAddresses addresses;
  private final CounterCommands counters;
  private final BooleanSupplier roce;
  private final int portMtu;
  private final Map<QpTransition, List<Field>> required = new EnumMap<>(QpTransition.class);
  private final Map<QpTransition, Field> masks = new EnumMap<>(QpTransition.class);
  private final Map<QpTransition, Field> contexts = new EnumMap<>(QpTransition.class);
  private final MemorySegment merged = Arena.ofAuto().allocate(BYTES, Long.BYTES);

  /** {@code roce} says whether the driver has turned RoCE on. */
  QpTransitions(RoceAddresses addresses, CounterCommands counters, BooleanSupplier roce, Engine engine) {
    this.addresses = addresses;
    this.roce = roce;
    this.counters = counters;
    this.portMtu = engine.config().portMtu();
    for (QpTransition each : QpTransition.values()) {
      required.put(each, resolve(each.fields()));
      masks.put(each, Command.in(each.opcode(), "opt_param_mask"));
      contexts.put(each, Command.in(each.opcode(), "qpc"));
    }
  }

  private static List<Field> resolve(String... names) {
    List<Field> fields = new ArrayList<>();
    for (String name : names) {
      fields.add(Layouts.QPC.field(name));
    }
    return fields;
  }

  /** Moves a queue pair that is in the state the transition begins with; when refused nothing has changed. */
  void run(CommandCall call, QpTransition transition, QueuePair qp) throws CommandFailure {
    MemorySegment input = call.input();
    long at = contexts.get(transition).offset();
    merged.copyFrom(qp.context());
    required.get(transition).forEach(field -> take(field, input, at));
    int mask = call.get(masks.get(transition));
    if ((mask & ALTERNATE_PATH) != 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.NOT_MODELLED);
    }
    if (transition == QpTransition.INIT_TO_RTR && !qp.parts().isRegistrar() && !roce.getAsBoolean()) {
      throw new CommandFailure(CommandStatus.BAD_SYSTEM_STATE, Syndrome.ROCE_OFF);
    }
    for (Optional each : OPTIONAL) {
      if ((mask & each.bit) != 0) {
        each.fields.forEach(field -> take(field, input, at));
      }
    }
    if (qp.parts().isRegistrar() && transition == QpTransition.RESET_TO_INIT) {
      take(PD, input, at); // It comes now at the earliest.
    }
    boolean connected = qp.parts().kind().isConnected() && !qp.parts().isRegistrar();
    Route route = qp.transport().settings().route;
    if (transition == QpTransition.INIT_TO_RTR && connected) {
      route = route();
    }
    int mtu = connected && transition.to() != TransportState.INIT ? mtu() : portMtu;
    CounterSet set = counters.existing(COUNTERS.get(merged, 0));
    apply(qp, route, mtu);
    count(qp, set);
    qp.context().copyFrom(merged);
    if (transition.from() == TransportState.RESET) {
      qp.open();
    }
    if (transition.from() != transition.to()) {
      qp.transport().modify(transition.to());
    }
  }

  private static void count(QueuePair qp, CounterSet set) {
    qp.counters().users--;
    set.users++;
    qp.counters(set);
  }

  private void take(Field field, MemorySegment input, long at) {
    if (field.bits() > 0) {
      field.set(merged, 0, field.get(input, at));
    } else {
      MemorySegment.copy(input, at + field.offset(), merged, field.offset(), field.length());
    }
  }

  private int mtu() throws CommandFailure {
    int code = MTU.get(merged, 0);
    if (code < 1 || code > LARGEST_MTU || SMALLEST_BYTES << code > portMtu) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_MTU);
    }
    return SMALLEST_BYTES << code;
  }

  private Route route() throws CommandFailure {
    int trafficClass = CLASS.get(merged, 0);
    Route found =
        addresses.route(
            SOURCE.get(merged, 0),
            merged.get(QWORD, REMOTE_GID.offset()),
            merged.get(QWORD, REMOTE_GID.offset() + Long.BYTES),
            trafficClass != 0 ? trafficClass : DSCP.get(merged, 0) << DSCP_SHIFT,
            FLOW.get(merged, 0),
            HOPS.get(merged, 0));
    if (found == null) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_ADDRESS);
    }
    return found;
  }

  private void apply(QueuePair qp, Route route, int mtu) {
    QpSettings settings = qp.transport().settings();
    settings.route = route;
    settings.mtu = mtu;
    settings.pkeyIndex = PKEY_INDEX.get(merged, 0);
    settings.qkey = QKEY.get(merged, 0);
    settings.access =
        (REMOTE_READS.isSet(merged, 0) ? RegisteredMemory.REMOTE_READ : 0)
            | (REMOTE_WRITES.isSet(merged, 0) ? RegisteredMemory.REMOTE_WRITE : 0)
            | (REMOTE_ATOMICS.isSet(merged, 0) ? RegisteredMemory.REMOTE_ATOMIC : 0);
    settings.destinationQp = REMOTE_QP.get(merged, 0);
    settings.receivePsn = RECEIVE_PSN.get(merged, 0);
    settings.sendPsn = SEND_PSN.get(merged, 0);
    settings.timeout = TIMEOUT.get(merged, 0);
    settings.retryCount = RETRIES.get(merged, 0);
    settings.rnrRetry = RNR_RETRIES.get(merged, 0);
    settings.minRnrTimer = RNR_TIMER.get(merged, 0);
    settings.maxReadAtomic = 1 << LOG_READS.get(merged, 0);
    settings.maxDestinationReadAtomic = 1 << LOG_REMOTE_READS.get(merged, 0);
    qp.transport().takePkey();
  }
}
