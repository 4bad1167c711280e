package org.rdma4j.ib.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.fake.FakeDevice;
import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.GidTable;
import org.rdma4j.ib.core.verbs.Netdev;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.MacAddress;

/** The slots of GID tables, against what Linux shows for the same interface. */
class GidManagerTest {
  private static final MacAddress MAC = MacAddress.parse("52:54:00:00:02:01");

  private final Map<String, NetdevSnapshot> netdevs = new HashMap<>();
  private final GidManager manager = new GidManager(() -> Map.copyOf(netdevs));

  private static NetdevSnapshot netdev(String name, boolean up, MacAddress mac, String... addresses) {
    List<InetAddress> parsed = Stream.of(addresses).map(GidManagerTest::address).toList();
    return new NetdevSnapshot(new Netdev(name, 2, up, 1500, mac), name.equals("lo"), parsed);
  }

  private static InetAddress address(String text) {
    try {
      return InetAddress.getByName(text);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private DeviceControl attach(FakeDevice device) {
    DeviceControl control = device.bind();
    control.load(device.requestedName(), 0);
    manager.attach(control);
    return control;
  }

  private static Gid gid(GidTable table, int index) {
    return table.entry(index) == null ? null : table.entry(index).gid();
  }

  private static GidTable table(DeviceControl control) {
    return control.view("test").gidTable(1);
  }

  @Test
  void linkLocalThenIpv4ThenIpv6() {
    netdevs.put("eth0", netdev("eth0", true, MAC, "2001:db8::2", "fe80::5054:ff:fe00:201", "192.0.2.2"));
    GidTable table = table(attach(new FakeDevice("fake0")));
    assertEquals("fe80::5054:ff:fe00:201", gid(table, 0).toString());
    assertEquals("::ffff:192.0.2.2", gid(table, 1).toString());
    assertEquals("2001:db8::2", gid(table, 2).toString());
    assertEquals(3, table.entries().size());
    assertEquals("eth0", table.entry(0).netdev());
  }

  @Test
  void withoutTheLinkLocalAddressSlot0StaysEmpty() {
    netdevs.put("eth0", netdev("eth0", true, MAC, "fe80::1", "192.0.2.2"));
    GidTable table = table(attach(new FakeDevice("fake0")));
    assertNull(table.entry(0));
    assertEquals("::ffff:192.0.2.2", gid(table, 1).toString());
    assertEquals("fe80::1", gid(table, 2).toString());
  }

  @Test
  void aLoopbackDeviceHasItsOneAddressAtSlot1() {
    netdevs.put("lo", netdev("lo", true, null, "::1", "127.0.0.1"));
    FakeDevice device = new FakeDevice("fake1").netdev("lo").filter(Gid.parse("::ffff:127.0.0.2"));
    GidTable table = table(attach(device));
    assertNull(table.entry(0));
    assertEquals("::ffff:127.0.0.2", gid(table, 1).toString());
    assertEquals(1, table.entries().size());
  }

  @Test
  void followsTheAddresses() {
    netdevs.put("eth0", netdev("eth0", true, MAC, "192.0.2.2", "2001:db8::2"));
    FakeDevice device = new FakeDevice("fake0");
    GidTable table = table(attach(device));
    netdevs.put("eth0", netdev("eth0", true, MAC, "2001:db8::2", "192.0.2.7", "192.0.2.8"));
    manager.rescan();
    assertEquals("::ffff:192.0.2.7", gid(table, 1).toString());
    assertEquals("2001:db8::2", gid(table, 2).toString());
    assertEquals("::ffff:192.0.2.8", gid(table, 3).toString());
    netdevs.put("eth0", netdev("eth0", true, MAC, "fe80::5054:ff:fe00:201"));
    manager.rescan();
    assertEquals("fe80::5054:ff:fe00:201", gid(table, 0).toString());
    assertEquals(1, table.entries().size());
    assertEquals(
        List.of(
            "addGid 1 ::ffff:192.0.2.2",
            "addGid 2 2001:db8::2",
            "removeGid 1 ::ffff:192.0.2.2",
            "addGid 1 ::ffff:192.0.2.7",
            "addGid 3 ::ffff:192.0.2.8",
            "removeGid 1 ::ffff:192.0.2.7",
            "removeGid 2 2001:db8::2",
            "removeGid 3 ::ffff:192.0.2.8",
            "addGid 0 fe80::5054:ff:fe00:201"),
        device.log);
  }

  @Test
  void tellsTheProviderOfTheInterface() {
    netdevs.put("eth0", netdev("eth0", true, MAC));
    FakeDevice device = new FakeDevice("fake0");
    DeviceControl control = attach(device);
    netdevs.put("eth0", netdev("eth0", false, MAC));
    manager.rescan();
    manager.rescan();
    netdevs.put("eth0", netdev("eth0", true, MacAddress.parse("52:54:00:00:02:02")));
    manager.rescan();
    netdevs.remove("eth0");
    manager.rescan();
    assertEquals(List.of("netdev DOWN", "netdev CHANGE_ADDRESS", "netdev UP", "netdev UNREGISTER"), device.log);
    manager.detach(control);
    netdevs.put("eth0", netdev("eth0", true, MAC, "192.0.2.2"));
    manager.rescan();
    assertEquals(4, device.log.size());
  }

  @Test
  void anAddressTheProviderCannotUseIsTriedAgain() {
    netdevs.put("eth0", netdev("eth0", true, MAC, "192.0.2.2"));
    FakeDevice device = new FakeDevice("fake0");
    device.gidFailure(new VerbsException(Errno.EADDRNOTAVAIL, "tentative"));
    GidTable table = table(attach(device));
    manager.rescan();
    assertNull(table.entry(1));
    device.gidFailure(null);
    manager.rescan();
    assertEquals("::ffff:192.0.2.2", gid(table, 1).toString());
  }

  @Test
  void aFullTableLeavesTheRestOut() {
    String[] addresses = Stream.iterate(1, i -> i + 1).limit(9).map(i -> "192.0.2." + i).toArray(String[]::new);
    netdevs.put("eth0", netdev("eth0", true, MAC, addresses));
    assertEquals(7, table(attach(new FakeDevice("fake0"))).entries().size());
  }
}
