package org.rdma4j.roce.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class UdpLinksTest {
  @AfterEach
  void clear() {
    System.clearProperty(UdpLinks.KIND_PROPERTY);
  }

  @Test
  void takesWhatTheSystemHas() {
    Class<?> expected = UdpLink.isSupported() ? UdpLink.class : NioUdpLink.class;
    try (Link link = UdpLinks.open(UdpLinkConfig.DEFAULT)) {
      assertInstanceOf(expected, link);
    }
  }

  @Test
  void propertyDecides() {
    System.setProperty(UdpLinks.KIND_PROPERTY, "nio");
    try (Link link = UdpLinks.open(UdpLinkConfig.DEFAULT)) {
      assertInstanceOf(NioUdpLink.class, link);
    }
    System.setProperty(UdpLinks.KIND_PROPERTY, "carrier-pigeon");
    LinkException e = assertThrows(LinkException.class, () -> UdpLinks.open(UdpLinkConfig.DEFAULT));
    assertEquals("EINVAL", e.errnoName());
  }

  @Test
  void settingsAreChecked() {
    assertThrows(IllegalArgumentException.class, () -> UdpLinkConfig.DEFAULT.withPort(0));
    assertThrows(IllegalArgumentException.class, () -> UdpLinkConfig.DEFAULT.withPort(65536));
    assertThrows(IllegalArgumentException.class, () -> UdpLinkConfig.DEFAULT.withTransmitBytes(4096));
    assertThrows(IllegalArgumentException.class, () -> UdpLinkConfig.DEFAULT.withSocketBuffers(0, 1));
  }
}
