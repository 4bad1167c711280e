package org.rdma4j.pci.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.pci.BarLayout;
import org.rdma4j.pci.MsixLayout;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;
import org.rdma4j.pci.PciFunction;
import org.rdma4j.pci.PciRegisters;

/** Configuration space as software finds it after power-on. */
class ConfigSpaceTest {
  private final Bus bus = new Bus();
  private PciFunction function;

  @BeforeEach
  void plug() {
    function = bus.plug(new TestCard(), null);
  }

  @AfterEach
  void close() {
    bus.close();
  }

  @Test
  void theHeadSaysWhatItIs() {
    assertEquals(0x15b3, function.readConfig(PciRegisters.VENDOR_ID, 2));
    assertEquals(0x1019, function.readConfig(PciRegisters.DEVICE_ID, 2));
    assertEquals(0x1019_15b3, function.readConfig(0, 4));
    assertEquals(0x0200_0000, function.readConfig(PciRegisters.REVISION, 4));
    assertEquals(0x0008_15b3, function.readConfig(PciRegisters.SUBSYSTEM_VENDOR_ID, 4));
    function.writeConfig(0, 4, 0);
    assertEquals(0x15b3, function.readConfig(PciRegisters.VENDOR_ID, 2), "read only");
  }

  @Test
  void aRegionTellsItsSize() {
    int low = function.readConfig(PciRegisters.BAR0, 4);
    int high = function.readConfig(PciRegisters.BAR0 + 4, 4);
    assertEquals(PciRegisters.BAR_WIDE | PciRegisters.BAR_PREFETCHABLE, low & PciRegisters.BAR_FLAGS);
    function.writeConfig(PciRegisters.BAR0, 4, -1);
    function.writeConfig(PciRegisters.BAR0 + 4, 4, -1);
    long mask =
        (long) function.readConfig(PciRegisters.BAR0 + 4, 4) << 32
            | function.readConfig(PciRegisters.BAR0, 4) & ~PciRegisters.BAR_FLAGS & 0xffff_ffffL;
    assertEquals(TestCard.SIZE, -mask);
    function.writeConfig(PciRegisters.BAR0, 4, low);
    function.writeConfig(PciRegisters.BAR0 + 4, 4, high);
    assertEquals(low, function.readConfig(PciRegisters.BAR0, 4));
    assertEquals(0, function.readConfig(PciRegisters.BAR0 + 8, 4), "there is no third register");
  }

  @Test
  void regionsDoNotOverlap() {
    PciFunction other = bus.plug(new TestCard(), null);
    assertEquals(
        TestCard.SIZE,
        Math.abs(other.readConfig(PciRegisters.BAR0, 4) - function.readConfig(PciRegisters.BAR0, 4)));
  }

  @Test
  void capabilitiesAreFoundInTheirOrder() {
    assertEquals(0x60, function.readConfig(PciRegisters.CAPABILITIES, 1));
    assertEquals(0x60, function.findCapability(PciRegisters.CAP_EXPRESS));
    assertEquals(0x9c, function.findCapability(PciRegisters.CAP_MSIX));
    assertEquals(0x40, function.findCapability(PciRegisters.CAP_POWER));
    assertEquals(0, function.findCapability(PciRegisters.CAP_VENDOR));
    int msix = function.findCapability(PciRegisters.CAP_MSIX);
    assertEquals(TestCard.VECTORS - 1, function.readConfig(msix + PciRegisters.MSIX_CONTROL, 2));
    assertEquals(TestCard.TABLE, function.readConfig(msix + PciRegisters.MSIX_TABLE, 4));
    assertEquals(TestCard.PENDING, function.readConfig(msix + PciRegisters.MSIX_PENDING, 4));
  }

  @ParameterizedTest
  @CsvSource({"-1,1", "1,2", "2,4", "4096,1", "4094,4", "0,3", "0,8"})
  void otherPlacesAreRefused(int offset, int width) {
    assertEquals(
        PciErrno.EINVAL, assertThrows(PciException.class, () -> function.readConfig(offset, width)).errno());
    assertEquals(
        PciErrno.EINVAL, assertThrows(PciException.class, () -> function.writeConfig(offset, width, 0)).errno());
  }

  @Test
  void impossibleCardsAreNotPluggedIn() {
    assertThrows(PciException.class, () -> new BarLayout(4097, true, true));
    assertThrows(PciException.class, () -> new BarLayout(2048, true, true));
    assertThrows(PciException.class, () -> new BarLayout(1L << 32, false, false));
    assertThrows(PciException.class, () -> new MsixLayout(0, 0, 0, 0, 0));
    var wide = new BarLayout(4096, true, true);
    refused(Map.of(5, wide), Optional.empty());
    refused(Map.of(0, wide, 1, wide), Optional.empty());
    refused(Map.of(0, wide), Optional.of(new MsixLayout(256, 0, 8, 0, 0)));
    refused(Map.of(0, wide), Optional.of(new MsixLayout(1, 2, 0, 0, 0)));
    assertEquals(1, bus.functions().size());
  }

  private void refused(Map<Integer, BarLayout> bars, Optional<MsixLayout> msix) {
    var card = new ShapedCard(new TestCard(), bars, msix);
    assertEquals(PciErrno.EINVAL, assertThrows(PciException.class, () -> bus.plug(card, null)).errno());
  }
}
