package org.rdma4j.pci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PciAddressTest {
  @Test
  void readsAndWrites() {
    PciAddress address = PciAddress.parse("0000:03:1f.7");
    assertEquals(new PciAddress(0, 3, 31, 7), address);
    assertEquals("0000:03:1f.7", address.toString());
    assertEquals("03:1f.7", address.toShortString());
    assertEquals(address, PciAddress.parse("3:1F.7"));
  }

  @Test
  void ordersByPlace() {
    assertTrue(PciAddress.parse("03:00.1").compareTo(PciAddress.parse("03:01.0")) < 0);
    assertTrue(PciAddress.parse("0001:00:00.0").compareTo(PciAddress.parse("ff:1f.7")) > 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "3", "03:00", "03:20.0", "03:00.8", "00000:03:00.0", "03:00.0 ", "g3:00.0"})
  void refusesOtherForms(String text) {
    assertEquals(PciErrno.EINVAL, assertThrows(PciException.class, () -> PciAddress.parse(text)).errno());
  }

  @Test
  void refusesWhatIsOutOfRange() {
    assertThrows(PciException.class, () -> new PciAddress(0, 256, 0, 0));
    assertThrows(PciException.class, () -> new PciAddress(0, 0, 0, -1));
  }
}
