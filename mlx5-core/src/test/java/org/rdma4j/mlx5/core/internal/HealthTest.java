package org.rdma4j.mlx5.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.mlx5.core.DeviceState;
import org.rdma4j.mlx5.core.HealthReporter;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.Mlx5EventListener;
import org.rdma4j.mlx5.core.ObjectCommands;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciErrorResult;

/** Fatal errors and what follows: everybody is told, everything is given back, and the card comes up again. */
@Timeout(300)
class HealthTest {
  private static final int SECONDS = 120;

  private final Bench bench = new Bench();
  private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
  private Mlx5Device device;

  @BeforeEach
  void start() {
    bench.start();
    device = bench.shown.getFirst();
    device.addListener(
        new Mlx5EventListener() {
          @Override
          public void event(Event event) {
            told.add(event.toString());
          }

          @Override
          public void systemError() {
            told.add("system error");
          }
        });
  }

  @AfterEach
  void close() {
    bench.close();
    assertEquals(List.of(), Bench.threads());
  }

  private HealthReporter reporter(String name) {
    return device.healthReporters().stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
  }

  private static void await(BooleanSupplier what) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    while (!what.getAsBoolean()) {
      assertTrue(System.nanoTime() - end < 0, "not in time");
      LockSupport.parkNanos(1_000_000);
    }
  }

  private void breakFirmware() {
    bench.card.health("synd", 1);
    bench.card.health("request_for_reset", 1);
  }

  @Test
  void fatalErrorIsRecoveredFrom() throws InterruptedException {
    DeviceState[] stateAtWithdrawal = new DeviceState[1];
    bench.onWithdrawal =
        () -> {
          stateAtWithdrawal[0] = device.state();
          ObjectCommands.freePd(device, 1);
        };
    breakFirmware();
    assertEquals("system error", told.poll(SECONDS, TimeUnit.SECONDS));
    await(() -> reporter("fw_fatal").recoveries() == 1);
    assertEquals(DeviceState.INTERNAL_ERROR, stateAtWithdrawal[0]);
    assertEquals(
        List.of("offer mlx5_core.rdma.0", "withdraw mlx5_core.rdma.0", "offer mlx5_core.rdma.0"), bench.history);
    assertEquals(DeviceState.UP, device.state());
    assertEquals(1, bench.card.resets);
    assertTrue(reporter("fw_fatal").healthy());
    assertTrue(reporter("fw_fatal").lastDump().contains("firmware internal error"), reporter("fw_fatal")::lastDump);
    assertTrue(ObjectCommands.allocatePd(device) > 0);
    assertEquals(148, bench.card.pages.size());
  }

  @Test
  void inTheGracePeriodItGivesUpUntilItIsTold() throws InterruptedException {
    breakFirmware();
    await(() -> reporter("fw_fatal").recoveries() == 1);
    device.gracePeriod(TimeUnit.HOURS.toMillis(1));
    breakFirmware();
    await(() -> reporter("fw_fatal").errors() == 2 && bench.offered.isEmpty());
    assertEquals(DeviceState.INTERNAL_ERROR, device.state());
    assertFalse(reporter("fw_fatal").healthy());
    device.recover();
    assertEquals(DeviceState.UP, device.state());
    assertEquals(1, bench.offered.size());
    assertEquals(2, reporter("fw_fatal").recoveries());
  }

  @Test
  void stuckCounterIsReported() {
    bench.card.stuck = true;
    await(() -> reporter("fw").errors() == 1);
    assertTrue(reporter("fw").lastDump().startsWith("health counter does not move"), reporter("fw")::lastDump);
    assertEquals(DeviceState.UP, device.state());
  }

  @Test
  void newSyndromeIsReported() {
    bench.card.health("synd", 0x10);
    await(() -> reporter("fw").errors() == 1);
    assertTrue(reporter("fw").lastDump().startsWith("new syndrome: high temperature"), reporter("fw")::lastDump);
  }

  @Test
  void errorsOfPciAreRecoveredFrom() throws InterruptedException {
    assertEquals(PciErrorResult.RECOVERED, bench.bus.reportError(Bench.SLOT, PciChannelState.FROZEN));
    assertEquals("system error", told.poll(SECONDS, TimeUnit.SECONDS));
    assertEquals(DeviceState.UP, device.state());
    assertEquals(
        List.of("offer mlx5_core.rdma.0", "withdraw mlx5_core.rdma.0", "offer mlx5_core.rdma.0"), bench.history);
  }

  @Test
  void pulledOutUsersAreTold() throws InterruptedException {
    bench.bus.pull(Bench.SLOT);
    assertEquals("system error", told.poll(SECONDS, TimeUnit.SECONDS));
    assertEquals("withdraw mlx5_core.rdma.0", bench.history.getLast());
  }
}
