package org.rdma4j.rdma.cm.internal.cma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.PortSpace;

/** The rules of ports (kernel: {@code cma_check_port}), each way in which two can or cannot share one. */
public final class PortTableTest {
  private static final int PORT = 7174;

  private final PortTable<User> table = new PortTable<>(new LocalPorts(40_000, 40_009, false), new Random(1));

  private record User(
      InetAddress address, InetSocketAddress destination, boolean reusesAddress, boolean isFamilyOnly)
      implements PortTable.User {
    static User at(String address) {
      InetAddress host = new InetSocketAddress(address, 0).getAddress();
      return new User(host, null, false, !address.contains(":"));
    }

    User reusing() {
      return new User(address, destination, true, isFamilyOnly);
    }

    User only() {
      return new User(address, destination, reusesAddress, true);
    }

    User to(String host) {
      return new User(address, new InetSocketAddress(host, PORT), reusesAddress, isFamilyOnly);
    }
  }

  private Errno refused(User user, int port) {
    return assertThrows(VerbsException.class, () -> table.bind(user, PortSpace.TCP, port)).errno();
  }

  @Test
  public void oneAddressHasAPortOnce() {
    User first = User.at("192.0.2.1");
    assertEquals(PORT, table.bind(first, PortSpace.TCP, PORT));
    assertEquals(Errno.EADDRINUSE, refused(User.at("192.0.2.1"), PORT));
    assertEquals(PORT, table.bind(User.at("192.0.2.2"), PortSpace.TCP, PORT));
    assertEquals(PORT, table.bind(User.at("192.0.2.1"), PortSpace.UDP, PORT), "spaces do not know of each other");
    table.release(first, PortSpace.TCP, PORT);
    assertEquals(PORT, table.bind(User.at("192.0.2.1"), PortSpace.TCP, PORT));
  }

  @Test
  public void allAddressesAreNobodyElses() {
    table.bind(User.at("192.0.2.1"), PortSpace.TCP, PORT);
    assertEquals(Errno.EADDRNOTAVAIL, refused(User.at("0.0.0.0"), PORT));
    table.bind(User.at("0.0.0.0"), PortSpace.TCP, PORT + 1);
    assertEquals(Errno.EADDRNOTAVAIL, refused(User.at("192.0.2.1"), PORT + 1));
  }

  @Test
  public void familiesThatKeepToThemselvesShareAPort() {
    table.bind(User.at("0.0.0.0"), PortSpace.TCP, PORT);
    assertEquals(Errno.EADDRNOTAVAIL, refused(User.at("::"), PORT));
    assertEquals(PORT, table.bind(User.at("::").only(), PortSpace.TCP, PORT));
  }

  @Test
  public void whoAllowsItSharesUntilSomebodyListens() {
    User first = User.at("192.0.2.1").reusing();
    table.bind(first, PortSpace.TCP, PORT);
    table.bind(User.at("192.0.2.1").reusing(), PortSpace.TCP, PORT);
    assertEquals(Errno.EADDRINUSE, refused(User.at("192.0.2.1"), PORT), "one of both is not enough");
    VerbsException refused =
        assertThrows(VerbsException.class, () -> table.checkListen(first, PortSpace.TCP, PORT));
    assertEquals(Errno.EADDRINUSE, refused.errno());
  }

  @Test
  public void anyPortIsOneOfTheSystemsAndFree() {
    Set<Integer> given = new HashSet<>();
    for (int i = 0; i < 10; i++) {
      int port = table.bind(User.at("0.0.0.0"), PortSpace.TCP, 0);
      assertTrue(given.add(port) && port >= 40_000 && port <= 40_009, port + " is given twice or out of range");
    }
    assertEquals(Errno.EADDRNOTAVAIL, refused(User.at("192.0.2.1"), 0));
    for (int port : given) {
      assertEquals(1, table.at(PortSpace.TCP, port).size());
    }
  }

  @Test
  public void connectionsToDifferentPeersShareAPort() {
    for (int i = 0; i < 10; i++) {
      table.bind(User.at("192.0.2.1").to("192.0.2.9"), PortSpace.TCP, 0);
    }
    assertEquals(Errno.EADDRNOTAVAIL, refused(User.at("192.0.2.1").to("192.0.2.9"), 0));
    assertTrue(table.bind(User.at("192.0.2.1").to("192.0.2.8"), PortSpace.TCP, 0) >= 40_000);
  }

  @Test
  public void lowPortsNeedPrivilege() {
    assertEquals(Errno.EACCES, refused(User.at("192.0.2.1"), 1023));
    assertEquals(1024, table.bind(User.at("192.0.2.1"), PortSpace.TCP, 1024));
    var privileged = new PortTable<User>(new LocalPorts(40_000, 40_009, true), new Random(1));
    assertEquals(1023, privileged.bind(User.at("192.0.2.1"), PortSpace.TCP, 1023));
  }

  @Test
  public void nothingIsLeft() {
    User user = User.at("192.0.2.1");
    int port = table.bind(user, PortSpace.UDP, 0);
    table.release(user, PortSpace.TCP, port);
    assertEquals(1, table.at(PortSpace.UDP, port).size(), "of another space");
    table.release(user, PortSpace.UDP, port);
    table.release(user, PortSpace.UDP, port);
    assertTrue(table.isEmpty());
  }
}
