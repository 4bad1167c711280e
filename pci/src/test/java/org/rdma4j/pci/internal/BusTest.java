package org.rdma4j.pci.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.rdma4j.pci.Bar;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciDevice;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciErrorResult;
import org.rdma4j.pci.PciException;
import org.rdma4j.pci.PciFunction;
import org.rdma4j.pci.PciRegisters;

/** Cards and drivers that come and go. */
class BusTest {
  private static final PciAddress SLOT = PciAddress.parse("0000:03:00.0");

  private final Bus bus = new Bus();
  private final TestCard card = new TestCard();
  private final TestDriver driver = new TestDriver("test");

  @AfterEach
  void close() {
    bus.close();
  }

  @Test
  void aCardFindsTheDriverThatIsThere() {
    bus.add(driver);
    PciFunction function = bus.plug(card, null);
    assertEquals(SLOT, function.address());
    assertEquals(Optional.of("test"), function.driverName());
    assertEquals(List.of("probe"), driver.calls);
    bus.unplug(SLOT);
    assertEquals(List.of("probe", "remove NORMAL"), driver.calls);
    assertEquals(1, card.losses);
    assertEquals(List.of(), bus.functions());
  }

  @Test
  void aDriverFindsTheCardThatIsThere() {
    PciFunction function = bus.plug(card, SLOT);
    assertEquals(Optional.empty(), function.driverName());
    bus.add(driver);
    assertEquals(List.of("probe"), driver.calls);
    bus.remove(driver);
    assertEquals(List.of("probe", "remove NORMAL"), driver.calls);
    assertEquals(Optional.empty(), function.driverName());
    assertEquals(0, card.losses);
  }

  @Test
  void theFirstDriverThatMatchesHasIt() {
    TestDriver second = new TestDriver("second");
    bus.add(driver);
    bus.add(second);
    bus.plug(card, SLOT);
    assertEquals(List.of(), second.calls);
  }

  @Test
  void aFailedProbeLeavesTheCardWithoutDriverAndTakesEverythingBack() {
    driver.onProbe =
        device -> {
          device.enable();
          device.setMaster(true);
          device.allocate(100);
          device.allocateVectors(1, 4);
          device.requestIrq(0, "test", vector -> {});
          throw new IllegalStateException("on purpose");
        };
    bus.add(driver);
    PciFunction function = bus.plug(card, SLOT);
    assertEquals(Optional.empty(), function.driverName());
    assertEquals(List.of(), bus.interrupts());
    assertEquals(0, function.readConfig(PciRegisters.COMMAND, 2) & PciRegisters.COMMAND_MASTER);
    TestDriver second = new TestDriver("second");
    bus.add(second);
    assertEquals(List.of("probe"), second.calls, "the next driver has a free function");
  }

  @Test
  void slotsAreTakenOnceAndFreeAgain() {
    bus.plug(card, SLOT);
    assertErrno(PciErrno.EEXIST, () -> bus.plug(new TestCard(), SLOT));
    assertEquals(PciAddress.parse("04:00.0"), bus.plug(new TestCard(), null).address());
    bus.unplug(SLOT);
    assertErrno(PciErrno.ENXIO, () -> bus.unplug(SLOT));
    assertEquals(SLOT, bus.plug(new TestCard(), null).address());
  }

  @Test
  void aCardPulledOutDoesNotAnswer() {
    bus.add(driver);
    bus.plug(card, SLOT);
    PciDevice device = driver.device;
    device.enable();
    Bar bar = device.bar(0);
    bar.write(0x100, 42);
    assertEquals(42, bar.read(0x100));
    int[] seen = new int[2];
    driver.onRemove =
        removed -> {
          seen[0] = bar.read(0x100);
          seen[1] = removed.readConfig(PciRegisters.VENDOR_ID, 2);
          bar.write(0x100, 43);
        };
    bus.pull(SLOT);
    assertEquals(List.of("probe", "remove PERMANENT_FAILURE"), driver.calls);
    assertEquals(-1, seen[0]);
    assertEquals(0xffff, seen[1]);
    assertEquals(42, card.registers.get(0x100L));
    assertErrno(PciErrno.ENODEV, device::enable);
  }

  @Test
  void registersAnswerOnlyWhileDecodingIsOn() {
    bus.add(driver);
    bus.plug(card, SLOT);
    Bar bar = driver.device.bar(0);
    bar.write(8, 1);
    assertEquals(-1, bar.read(8));
    driver.device.enable();
    assertEquals(0, bar.read(8));
    bar.write(8, 0x0102_0304_0506_0708L);
    assertEquals(0x0506_0708, bar.read(8));
    assertEquals(0x0102_0304, bar.read(12));
    bar.writeBigEndian(16, 0x0102_0304);
    assertEquals(0x0403_0201, card.registers.get(16L));
    driver.device.writeConfig(ConfigLayout.POWER + PciRegisters.POWER_CONTROL, 2, 3);
    assertEquals(-1, bar.read(8), "asleep");
    driver.device.enable();
    assertEquals(0x0506_0708, bar.read(8));
    assertErrno(PciErrno.EINVAL, () -> bar.read(2));
    assertErrno(PciErrno.EINVAL, () -> bar.read(TestCard.SIZE));
    assertErrno(PciErrno.EINVAL, () -> bar.write(TestCard.SIZE - 4, 0L));
  }

  @Test
  void aCardHearsOfWhoWaitsForItWhileItCanBeReached() {
    bus.add(driver);
    bus.plug(card, SLOT);
    PciDevice device = driver.device;
    assertFalse(device.relax());
    device.enable();
    assertTrue(device.relax());
    assertEquals(1, card.relaxes);
    bus.pull(SLOT);
    assertFalse(device.relax());
    assertEquals(1, card.relaxes);
  }

  @Test
  void aResetClearsTheCardAndKeepsTheConfiguration() {
    bus.add(driver);
    bus.plug(card, SLOT);
    PciDevice device = driver.device;
    device.enable();
    device.setMaster(true);
    int command = device.readConfig(PciRegisters.COMMAND, 2);
    int place = device.readConfig(PciRegisters.BAR0 + 4, 4);
    device.bar(0).write(0, 5);
    device.reset();
    assertEquals(1, card.resets);
    assertEquals(command, device.readConfig(PciRegisters.COMMAND, 2));
    assertEquals(place, device.readConfig(PciRegisters.BAR0 + 4, 4));
    assertEquals(0, device.bar(0).read(0));
    device.writeConfig(ConfigLayout.EXPRESS + PciRegisters.EXPRESS_DEVICE_CONTROL, 2, PciRegisters.EXPRESS_RESET);
    assertEquals(2, card.resets);
    assertEquals(0, device.readConfig(PciRegisters.COMMAND, 2), "a reset by register saves nothing");
  }

  @Test
  void anErrorIsRecoveredFromByAReset() {
    bus.add(driver);
    bus.plug(card, SLOT);
    driver.device.enable();
    assertEquals(PciErrorResult.RECOVERED, bus.reportError(SLOT, PciChannelState.FROZEN));
    assertEquals(List.of("probe", "error FROZEN", "reset", "resume"), driver.calls);
    assertEquals(1, card.resets);
    driver.onError = PciErrorResult.DISCONNECT;
    assertEquals(PciErrorResult.DISCONNECT, bus.reportError(SLOT, PciChannelState.FROZEN));
    assertEquals(PciChannelState.PERMANENT_FAILURE, driver.device.channelState());
    assertErrno(PciErrno.EINVAL, () -> bus.reportError(SLOT, PciChannelState.PERMANENT_FAILURE));
  }

  @Test
  void aRemovalWaitsForTheProbe() throws Exception {
    var probing = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    driver.onProbe =
        device -> {
          probing.countDown();
          await(goOn);
        };
    bus.add(driver);
    Thread plugging = Thread.ofPlatform().start(() -> bus.plug(card, SLOT));
    await(probing);
    Thread removing = Thread.ofPlatform().start(() -> bus.remove(driver));
    while (removing.getState() != Thread.State.WAITING) {
      assertTrue(removing.isAlive(), "removed in the midst of its probe");
      Thread.onSpinWait();
    }
    goOn.countDown();
    plugging.join();
    removing.join();
    assertEquals(List.of("probe", "remove NORMAL"), driver.calls);
    assertNull(driver.device);
  }

  @Test
  void aProbeThatUnplugsItselfIsRefused() {
    PciException[] refused = new PciException[1];
    driver.onProbe = device -> refused[0] = assertThrows(PciException.class, () -> bus.unplug(SLOT));
    bus.add(driver);
    bus.plug(card, SLOT);
    assertEquals(PciErrno.EDEADLK, refused[0].errno());
    assertFalse(bus.functions().isEmpty());
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(30, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void assertErrno(PciErrno expected, Executable call) {
    assertEquals(expected, assertThrows(PciException.class, call).errno());
  }
}
