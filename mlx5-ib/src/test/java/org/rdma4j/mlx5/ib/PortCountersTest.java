package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.CounterSet;

/** Counters of a port by the kernel's names and in its order. */
class PortCountersTest {
  @Test
  void whatTheCardCountsIsShownAsTheKernelShowsIt() {
    try (TestHost host = new TestHost()) {
      CounterSet counters = host.control.view("org.rdma4j.test").counters(1);
      assertEquals(
          List.of(
              "rx_write_requests",
              "rx_read_requests",
              "rx_atomic_requests",
              "rx_dct_connect",
              "out_of_buffer",
              "resp_local_length_error",
              "resp_cqe_error",
              "req_cqe_error",
              "req_remote_invalid_request",
              "req_remote_access_errors",
              "resp_remote_access_errors",
              "resp_cqe_flush_error",
              "req_cqe_flush_error"),
          counters.names());
      assertTrue(counters.names().stream().allMatch(name -> counters.value(name) == 0), counters.toString());
    }
  }
}
