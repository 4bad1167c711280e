package org.rdma4j.mlx5.device.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.address.MacAddress;
import org.rdma4j.roce.engine.IdleStrategy;

class SettingsReaderTest {
  private static CardSettings read(Map<String, ?> properties) {
    return SettingsReader.read("card0", properties);
  }

  @Test
  void anAddressIsEnough() {
    CardSettings settings = read(Map.of("addr", "127.0.0.3"));
    assertEquals("card0", settings.name());
    assertEquals("lo", settings.netdev());
    assertEquals(MacAddress.parse("02:00:7f:00:00:03"), settings.mac());
    assertEquals("lo ::ffff:127.0.0.3", settings.port());
    assertTrue(settings.megabits() > 0);
  }

  @Test
  void theSlotNamesTheCard() {
    CardSettings settings = read(Map.of("slot", "0000:07:00.0", "netdev", "lo", "idle", "block"));
    assertEquals("0000:07:00.0", settings.name());
    assertEquals("lo", settings.port());
    assertEquals(IdleStrategy.BLOCK, settings.idle());
  }

  private static void isRefused(String message, Map<String, ?> properties) {
    var refusal = assertThrows(IllegalArgumentException.class, () -> read(properties));
    assertTrue(refusal.getMessage().startsWith(message), refusal::getMessage);
  }

  @Test
  void whatIsWrongIsSaid() {
    isRefused("a card needs a network interface or an address", Map.of());
    isRefused("addr nowhere is no IPv4 or IPv6 address", Map.of("addr", "nowhere"));
    isRefused("addr 224.0.0.1 is no unicast address", Map.of("addr", "224.0.0.1"));
    isRefused("no network interface has the address 203.0.113.9", Map.of("addr", "203.0.113.9"));
    isRefused("there is no network interface nowhere9", Map.of("netdev", "nowhere9"));
    isRefused("slot 3: ", Map.of("netdev", "lo", "slot", "3"));
    isRefused("idle is often; allowed are spin, backoff and block", Map.of("netdev", "lo", "idle", "often"));
  }
}
