package org.rdma4j.mlx5.core.internal;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.rdma4j.mlx5.core.Structure;

/** How long the driver waits for each thing; the card may say otherwise (kernel: {@code lib/tout.c}). */
final class Timeouts {
  private static final Map<Timeout, String> REGISTER_FIELDS =
      Map.of(
          Timeout.PCI_TOGGLE, "pcie_toggle_to",
          Timeout.HEALTH_POLL_INTERVAL, "health_poll_to",
          Timeout.FULL_CRDUMP, "full_crdump_to",
          Timeout.FW_RESET, "fw_reset_to",
          Timeout.FLUSH_ON_ERROR, "flush_on_err_to",
          Timeout.PCI_SYNC_UPDATE, "pci_sync_update_to",
          Timeout.TEARDOWN, "tear_down_to",
          Timeout.FSM_REACTIVATE, "fsm_reactivate_to",
          Timeout.RECLAIM_PAGES, "reclaim_pages_to");

  private final Map<Timeout, Long> fixed;
  private final Map<Timeout, Long> values = new EnumMap<>(Timeout.class); // guarded by this

  /** Those that are settled have their values whatever the card says. */
  Timeouts(Map<Timeout, Long> settled) {
    fixed = Map.copyOf(settled);
  }

  synchronized long millis(Timeout which) {
    Long settled = fixed.get(which);
    return settled == null ? values.getOrDefault(which, which.initialMillis()) : settled;
  }

  synchronized void set(Timeout which, long millis) {
    values.put(which, millis);
  }

  /** A time-out field: two bits of unit and a value; 0 is none. */
  static long toMillis(int multiplier, int value) {
    return switch (multiplier & 3) {
      case 0 -> value;
      case 1 -> TimeUnit.SECONDS.toMillis(value);
      case 2 -> TimeUnit.MINUTES.toMillis(value);
      default -> TimeUnit.HOURS.toMillis(value);
    };
  }

  /** Takes over what register DTOR says. */
  void take(Structure register) {
    REGISTER_FIELDS.forEach(
        (which, field) -> {
          long millis = toMillis(register.get(field + ".to_multiplier"), register.get(field + ".to_value"));
          if (millis > 0) {
            set(which, millis);
          }
        });
  }
}
