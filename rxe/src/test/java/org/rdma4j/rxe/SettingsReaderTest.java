package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.engine.IdleStrategy;
import org.rdma4j.roce.link.IcrcCheck;

class SettingsReaderTest {
  @Test
  void whatIsNotSaidIsUsual() {
    RxeSettings settings = SettingsReader.read(Map.of("name", "rxe0", "netdev", "eth0"));
    assertEquals("rxe0", settings.name());
    assertEquals("eth0", settings.netdev());
    assertNull(settings.address());
    assertEquals(IcrcCheck.RECOVER, settings.icrc());
    assertEquals(4791, settings.udpPort());
    assertEquals(IdleStrategy.DEFAULT, settings.idle());
  }

  @Test
  void valuesMayBeTextsOrNumbers() {
    RxeSettings settings =
        SettingsReader.read(
            Map.of(
                "name", "rxe0", "netdev", "lo", "addr", "127.0.0.2", "icrc", "Strict", "udpPort", "14791",
                "spinMicros", 0));
    assertEquals("::ffff:127.0.0.2", settings.address().toString());
    assertEquals(IcrcCheck.STRICT, settings.icrc());
    assertEquals(14_791, settings.udpPort());
    assertEquals(IdleStrategy.backOff(Duration.ZERO), settings.idle());
    assertEquals(14_791, settings.link().port());
    assertEquals("lo", settings.link().networkInterface());
  }

  @ParameterizedTest
  @CsvSource({"spin, SPIN", "Block, BLOCK", "backoff, BACK_OFF", "'', BACK_OFF"})
  void theIdleStrategyIsConfigurable(String text, IdleStrategy.Mode mode) {
    RxeSettings settings = SettingsReader.read(Map.of("name", "rxe0", "netdev", "lo", "idle", text));
    assertEquals(mode, settings.idle().mode());
  }

  @ParameterizedTest
  @CsvSource({
    "name, '', link name",
    "name, rxe%d, without %",
    "name, a/b, without % and /",
    "netdev, '', netdev is missing",
    "addr, localhost, no IPv4 or IPv6 address",
    "addr, 224.0.0.1, no unicast address",
    "addr, 0.0.0.0, no unicast address",
    "icrc, maybe, 'strict, recover and off'",
    "udpPort, 0, allowed is 1 to 65535",
    "udpPort, 65536, allowed is 1 to 65535",
    "udpPort, x, no number",
    "spinMicros, -1, allowed is 0 to 1000000",
    "pkeys, 'x', no number",
    "pkeys, '0xffff,0x8000', no P_Key",
    "pkeys, '0xffff,0x10000', no P_Key",
    "pkeys, '0xffff,', no number",
    "pkeys, 0x8001, the first is the default",
    "idle, sleepy, 'spin, backoff and block'",
  })
  void whatIsWrongIsSaid(String key, String value, String text) {
    Map<String, Object> properties = new HashMap<>(Map.of("name", "rxe0", "netdev", "lo"));
    properties.put(key, value);
    VerbsException e = assertThrows(VerbsException.class, () -> SettingsReader.read(properties));
    assertEquals(Errno.EINVAL, e.errno());
    assertTrue(e.getMessage().contains(text), e.getMessage());
  }

  @Test
  void severalLinksOfAnInterfaceNeedAddressesOfTheirOwn() {
    RxeLinks links = new RxeLinks();
    links.enter("a", new RxeSettings("rxe0", "lo", TestLink.gid("127.0.0.1")));
    links.enter("b", new RxeSettings("rxe1", "lo", TestLink.gid("127.0.0.2")));
    links.enter("c", new RxeSettings("rxe2", "eth0", null));
    assertRefused(links, new RxeSettings("rxe0", "eth1", null));
    assertRefused(links, new RxeSettings("rxe3", "lo", TestLink.gid("127.0.0.2")));
    assertRefused(links, new RxeSettings("rxe3", "lo", null));
    assertRefused(links, new RxeSettings("rxe3", "eth0", TestLink.gid("192.0.2.1")));
    links.leave("c");
    links.enter("d", new RxeSettings("rxe3", "eth0", TestLink.gid("192.0.2.1")));
  }

  private static void assertRefused(RxeLinks links, RxeSettings settings) {
    VerbsException e = assertThrows(VerbsException.class, () -> links.enter("x", settings));
    assertEquals(Errno.EEXIST, e.errno());
  }
}
