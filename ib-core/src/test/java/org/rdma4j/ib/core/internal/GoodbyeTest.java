package org.rdma4j.ib.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.client.DeviceClient;
import org.rdma4j.ib.core.fake.FakeDevice;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.Netdev;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.MacAddress;

/** While a device goes its clients can still tell their peers, for which they need ways to them; users cannot. */
class GoodbyeTest {
  private static final AhAttributes WAY = new AhAttributes(1, Gid.parse("::ffff:192.0.2.9"), 1);

  private final DeviceRegistry registry =
      new DeviceRegistry(device -> () -> {}, new GidManager(() -> Map.of("eth0", netdev())));

  @AfterEach
  void close() {
    registry.close();
  }

  private static NetdevSnapshot netdev() {
    Netdev eth0 = new Netdev("eth0", 2, true, 1500, MacAddress.parse("52:54:00:00:02:01"));
    return new NetdevSnapshot(eth0, false, List.of(InetAddress.ofLiteral("192.0.2.2")));
  }

  @Test
  void clientsMakeAddressHandlesUntilTheyReturn() {
    List<ProtectionDomain> domains = new ArrayList<>();
    List<VerbsException> refused = new ArrayList<>();
    registry.addClient(
        new ClientEntry(
            new DeviceClient() {
              @Override
              public void add(Context context) {
                domains.add(context.allocatePd());
              }

              @Override
              public void remove(Context context) {
                domains.getFirst().createAh(WAY).close();
                refused.add(assertThrows(VerbsException.class, () -> domains.getLast().createAh(WAY)));
              }
            },
            "org.example",
            0,
            1));
    FakeDevice device = new FakeDevice("fake0");
    registry.register(device);
    domains.add(registry.devices().getLast().control().view("user").open().allocatePd());
    registry.unregister(device);
    assertEquals(1, refused.size(), "the client got past its goodbye");
    assertEquals(Errno.ENODEV, refused.getFirst().errno());
  }
}
