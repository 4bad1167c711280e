package org.rdma4j.pci.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.rdma4j.pci.DmaDirection;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.DmaScatter;
import org.rdma4j.pci.PciDevice;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;
import org.rdma4j.pci.PciRegisters;

/** What a card can reach of the host's memory. */
class DmaTest {
  private final Bus bus = new Bus();
  private final TestCard card = new TestCard();
  private final TestDriver driver = new TestDriver("test");
  private final MemorySegment buffer = Arena.ofAuto().allocate(8192);
  private PciDevice device;

  @BeforeEach
  void plug() {
    bus.add(driver);
    bus.plug(card, null);
    device = driver.device;
    device.enable();
    device.setMaster(true);
  }

  @AfterEach
  void close() {
    bus.close();
  }

  @Test
  void allocatedMemoryIsSharedBothWays() throws DmaFault {
    try (DmaMapping memory = device.allocate(6000)) {
      assertEquals(0, memory.address() % 8192, "aligned to its size");
      memory.segment().set(ValueLayout.JAVA_LONG, 5992, 7);
      card.host.read(memory.address() + 5992, buffer, 0, 8);
      assertEquals(7, buffer.get(ValueLayout.JAVA_LONG, 0));
      buffer.set(ValueLayout.JAVA_LONG, 0, 8);
      card.host.write(memory.address(), buffer, 0, 8);
      assertEquals(8, memory.segment().get(ValueLayout.JAVA_LONG, 0));
    }
  }

  @Test
  void aMappingReachesExactlyItsBytes() throws DmaFault {
    MemorySegment mine = Arena.ofAuto().allocate(8192, 4096).asSlice(100, 300);
    try (DmaMapping mapping = device.map(mine, DmaDirection.BIDIRECTIONAL)) {
      assertEquals(100, mapping.address() % 4096, "the place in the page is kept");
      card.host.read(mapping.address(), buffer, 0, 300);
      fault(DmaFault.Reason.UNMAPPED, () -> card.host.read(mapping.address() - 1, buffer, 0, 1));
      fault(DmaFault.Reason.UNMAPPED, () -> card.host.read(mapping.address() + 299, buffer, 0, 2));
      fault(DmaFault.Reason.UNMAPPED, () -> card.host.window(mapping.address() + 299, 2, false));
      assertEquals(mine, card.host.window(mapping.address(), 300, true).segment());
      int status = device.readConfig(PciRegisters.STATUS, 2);
      assertNotEquals(0, status & PciRegisters.STATUS_RECEIVED_MASTER_ABORT);
      device.writeConfig(PciRegisters.STATUS, 2, PciRegisters.STATUS_RECEIVED_MASTER_ABORT);
      assertEquals(
          0, device.readConfig(PciRegisters.STATUS, 2) & PciRegisters.STATUS_RECEIVED_MASTER_ABORT);
    }
  }

  @Test
  void piecesThatMeetAtPagesAreOne() throws DmaFault {
    MemorySegment memory = Arena.ofAuto().allocate(8 * 4096, 4096);
    MemorySegment head = memory.asSlice(3 * 4096 + 100, 96);
    MemorySegment next = memory.asSlice(3 * 4096 + 196, 4096 - 196);
    MemorySegment last = memory.asSlice(4096, 50);
    for (MemorySegment each : List.of(head, next, last)) {
      each.fill((byte) each.byteSize());
    }
    DmaScatter all = device.map(List.of(head, next, last), 8192, DmaDirection.TO_DEVICE);
    assertEquals(4096 - 100 + 50, all.length());
    assertEquals(head.address() % 8192, all.address() % 8192, "the place in the larger page is kept");
    card.host.read(all.address(), buffer, 0, all.length());
    assertEquals(-1, head.mismatch(buffer.asSlice(0, 96)));
    assertEquals(-1, next.mismatch(buffer.asSlice(96, 4096 - 196)));
    assertEquals(-1, last.mismatch(buffer.asSlice(4096 - 100, 50)));
    fault(DmaFault.Reason.UNMAPPED, () -> card.host.read(all.address() + all.length(), buffer, 0, 1));
    fault(DmaFault.Reason.DIRECTION, () -> card.host.write(all.address(), buffer, 0, 1));
    all.close();
    all.close();
    fault(DmaFault.Reason.UNMAPPED, () -> card.host.read(all.address(), buffer, 0, 1));
    List<MemorySegment> apart = List.of(head, last);
    PciException refused = assertThrows(PciException.class, () -> device.map(apart, 4096, DmaDirection.TO_DEVICE));
    assertEquals(PciErrno.EINVAL, refused.errno());
  }

  @Test
  void theDirectionIsKept() throws DmaFault {
    DmaMapping toDevice = device.map(buffer, DmaDirection.TO_DEVICE);
    MemorySegment other = Arena.ofAuto().allocate(16);
    card.host.read(toDevice.address(), other, 0, 16);
    fault(DmaFault.Reason.DIRECTION, () -> card.host.write(toDevice.address(), other, 0, 16));
    DmaMapping fromDevice = device.map(buffer, DmaDirection.FROM_DEVICE);
    card.host.write(fromDevice.address(), other, 0, 16);
    fault(DmaFault.Reason.DIRECTION, () -> card.host.read(fromDevice.address(), other, 0, 16));
    toDevice.close();
    fromDevice.close();
  }

  @Test
  void whatIsUnmappedFaultsAndTheAddressIsNotSoonUsedAgain() {
    DmaMapping first = device.allocate(64);
    first.close();
    first.close();
    fault(DmaFault.Reason.UNMAPPED, () -> card.host.read(first.address(), buffer, 0, 1));
    DmaMapping second = device.allocate(64);
    assertNotEquals(first.address(), second.address());
    second.close();
  }

  @Test
  void memoryThatIsFreedUnderTheCardFaults() {
    Arena arena = Arena.ofShared();
    DmaMapping mapping = device.map(arena.allocate(64), DmaDirection.BIDIRECTIONAL);
    arena.close();
    fault(DmaFault.Reason.UNMAPPED, () -> card.host.read(mapping.address(), buffer, 0, 1));
    mapping.close();
  }

  @Test
  void withoutBusMasteringNothingIsReached() {
    DmaMapping memory = device.allocate(64);
    device.setMaster(false);
    fault(DmaFault.Reason.BUS_MASTER_OFF, () -> card.host.read(memory.address(), buffer, 0, 1));
    memory.close();
  }

  @Test
  void afterPullingOutNothingIsReached() {
    DmaMapping memory = device.allocate(64);
    driver.onRemove =
        removed -> {
          fault(DmaFault.Reason.GONE, () -> card.host.read(memory.address(), buffer, 0, 1));
          memory.close();
        };
    bus.pull(device.address());
    fault(DmaFault.Reason.GONE, () -> card.host.write(memory.address(), buffer, 0, 1));
  }

  @Test
  void whatTheDriverForgotIsTakenFromIt() {
    DmaMapping memory = device.allocate(64);
    bus.unplug(device.address());
    assertThrows(IllegalStateException.class, () -> memory.segment().get(ValueLayout.JAVA_BYTE, 0));
  }

  @Test
  void unsuitableMemoryIsRefused() {
    refused(() -> device.map(MemorySegment.ofArray(new byte[8]), DmaDirection.TO_DEVICE));
    refused(() -> device.map(buffer.asSlice(0, 0), DmaDirection.TO_DEVICE));
    refused(() -> device.allocate(0));
    refused(() -> device.setDmaMask(31));
    try (Arena confined = Arena.ofConfined()) {
      refused(() -> device.map(confined.allocate(8), DmaDirection.TO_DEVICE));
    }
  }

  @Test
  void addressesKeepToTheMask() {
    device.setDmaMask(32);
    for (int i = 0; i < 100; i++) {
      DmaMapping memory = device.allocate(1 << 20);
      assertTrue(memory.address() + memory.length() <= 1L << 32);
      memory.close();
    }
  }

  private static void refused(Executable call) {
    assertEquals(PciErrno.EINVAL, assertThrows(PciException.class, call).errno());
  }

  private static void fault(DmaFault.Reason expected, Executable call) {
    assertEquals(expected, assertThrows(DmaFault.class, call).reason());
  }
}
