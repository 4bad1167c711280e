package org.rdma4j.mlx5.ib;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.rdma4j.ib.core.verbs.CounterSet;
import org.rdma4j.mlx5.core.Capabilities;
import org.rdma4j.mlx5.core.QueueCounterCommands;

/**
 * The hardware counters of a port: what the card counts for the queue pairs of the device, under the kernel's names, in
 * its order, and as far as the card says that it counts them (kernel: {@code counters.c:mlx5_ib_fill_counters}).
 */
final class PortCounters {
  private static final List<String> BASIC =
      List.of("rx_write_requests", "rx_read_requests", "rx_atomic_requests", "rx_dct_connect", "out_of_buffer");
  private static final List<String> OUT_OF_SEQUENCE = List.of("out_of_sequence");
  private static final List<String> RETRANSMISSION =
      List.of(
          "duplicate_request",
          "rnr_nak_retry_err",
          "packet_seq_err",
          "implied_nak_seq_err",
          "local_ack_timeout_err");
  private static final List<String> ERRORS =
      List.of(
          "resp_local_length_error",
          "resp_cqe_error",
          "req_cqe_error",
          "req_remote_invalid_request",
          "req_remote_access_errors",
          "resp_remote_access_errors",
          "resp_cqe_flush_error",
          "req_cqe_flush_error");
  private static final List<String> ROCE =
      List.of(
          "roce_adp_retrans",
          "roce_adp_retrans_to",
          "roce_slow_restart",
          "roce_slow_restart_cnps",
          "roce_slow_restart_trans");

  private PortCounters() {}

  static CounterSet read(ConnectxDevice device) {
    Capabilities card = device.core().capabilities();
    List<String> names = new ArrayList<>(BASIC);
    add(names, card, "out_of_seq_cnt", OUT_OF_SEQUENCE);
    add(names, card, "retransmission_q_counters", RETRANSMISSION);
    add(names, card, "enhanced_error_q_counters", ERRORS);
    add(names, card, "roce_accl", ROCE);
    Map<String, Long> values =
        Errors.translated(() -> QueueCounterCommands.query(device.core(), device.counterSet(), false));
    return new CounterSet(names, names.stream().mapToLong(values::get).toArray());
  }

  private static void add(List<String> names, Capabilities card, String capability, List<String> counters) {
    if (card.has(capability)) {
      names.addAll(counters);
    }
  }
}
