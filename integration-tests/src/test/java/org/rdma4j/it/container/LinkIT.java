package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;

import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import javax.inject.Inject;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.ops4j.pax.exam.Configuration;
import org.ops4j.pax.exam.Option;
import org.ops4j.pax.exam.junit.PaxExam;
import org.ops4j.pax.exam.spi.reactors.ExamReactorStrategy;
import org.ops4j.pax.exam.spi.reactors.PerClass;
import org.osgi.framework.BundleContext;
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.ib.core.client.DeviceFailure;
import org.rdma4j.ib.core.client.LinkOperations;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;

/** Links by file, by Configuration Admin and by command: the same thing, with clear errors and no half-made device. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class LinkIT {
  private static final String DECLINED = "ERROR org.rdma4j.rxe.RxeLink no device from configuration .*";

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;
  @Inject LinkOperations operations;

  private Links links;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @Before
  public void links() {
    links = new Links(context, configurations);
  }

  @After
  public void cleanUp() throws Exception {
    links.removeAll();
  }

  @Test
  public void aFileMakesALink() throws Exception {
    Path file = Installed.DEVICES.resolve("org.rdma4j.rxe-it0.cfg");
    write(file, Links.address(0));
    assertEquals(Links.address(0), address(links.await("it0")));
    assertEquals("a device has one socket", 1, Links.sockets(Links.address(0)).size());

    write(file, Links.address(1));
    links.awaitGone("it0");
    assertEquals("a changed file changes the link", Links.address(1), address(links.await("it0")));
    assertEquals(List.of(), Links.sockets(Links.address(0)));

    Files.delete(file);
    links.awaitGone("it0");
    assertEquals(List.of(), Links.sockets(Links.address(1)));
  }

  @Test
  public void otherPkeysLeaveTheDeviceInPlace() throws Exception {
    Path file = Installed.DEVICES.resolve("org.rdma4j.rxe-it0.cfg");
    write(file, Links.address(0), "pkeys = 0xffff, 0x8001\n");
    RdmaDevice device = links.await("it0");
    assertEquals(0x8001, device.pkey(1, 1));
    try (Context user = device.open("pkeys")) {
      write(file, Links.address(0), "pkeys = 0xffff, 0x8002\n");
      AsyncEvent event = user.getAsyncEvent(Duration.ofSeconds(30));
      while (event != null && event.type() != AsyncEventType.PKEY_CHANGE) {
        event = user.getAsyncEvent(Duration.ofSeconds(30));
      }
      assertNotNull("no PKEY_CHANGE", event);
      assertEquals(0x8002, device.pkey(1, 1));
    }
    Files.delete(file);
    links.awaitGone("it0");
  }

  @Test
  public void aCommandMakesALink() throws Exception {
    operations.newLink("it0", "lo", Links.address(0));
    assertEquals("there when the command returns", List.of("it0"), links.names());
    operations.deleteLink("it0");
    assertEquals("gone when the command returns", List.of(), links.names());
    assertEquals(List.of(), Links.sockets(Links.address(0)));
    assertEquals(List.of(), Links.threads("it0"));
    VerbsException e = assertThrows(VerbsException.class, () -> operations.deleteLink("it0"));
    assertEquals(Errno.ENODEV, e.errno());
  }

  @Test
  public void aCommandRemovesWhatAConfigurationMade() throws Exception {
    links.add("it0", Links.address(0));
    operations.deleteLink("it0");
    assertEquals(List.of(), links.names());
  }

  @Test
  public void anAddressThatIsNotOurs() throws Exception {
    declined("EADDRNOTAVAIL|ENODEV|EINVAL");
    links.configure("it0", "lo", "198.51.100.1");
    links.settle();
    assertEquals(1, failures().size());
    links.configure("it0", "lo", Links.address(0));
    links.await("it0");
    assertEquals("a better configuration takes the failure back", List.of(), failures());
    links.removeAll();
    assertNothingMade();
  }

  @Test
  public void anInterfaceThatIsNotThere() throws Exception {
    declined("ENODEV");
    links.configure("it0", "nosuch0", Links.address(0));
    links.settle();
    assertEquals(List.of("it0 ENODEV"), failures());
    links.removeAll();
    assertNothingMade();
  }

  @Test
  public void aPortThatIsTaken() throws Exception {
    declined("EADDRINUSE");
    try (var taken = new DatagramSocket(new InetSocketAddress(InetAddress.getByName(Links.address(0)), 4791))) {
      links.configure("it0", "lo", Links.address(0));
      links.settle();
      assertEquals(List.of(), links.names());
      assertEquals(1, Links.sockets(Links.address(0)).size());
      assertEquals(4791, taken.getLocalPort());
    }
    links.removeAll();
    links.add("it0", Links.address(0));
  }

  @Test
  public void aNameInUse() throws Exception {
    declined("EEXIST");
    links.add("it0", Links.address(0));
    links.configure("other", "it0", "lo", Links.address(1));
    links.settle();
    assertEquals(List.of("it0"), links.names());
    assertEquals(List.of(), Links.sockets(Links.address(1)));
    assertEquals(Links.address(0), address(links.await("it0")));
  }

  @Test
  public void aCommandIsToldWhyNot() throws Exception {
    VerbsException e =
        assertThrows(VerbsException.class, () -> operations.newLink("it0", "nosuch0", Links.address(0)));
    assertEquals(Errno.ENODEV, e.errno());
    assertNothingMade();
    assertNull("a configuration is left", configurations.listConfigurations("(name=it0)"));
  }

  private void declined(String errno) {
    log.expect(DECLINED + "(" + errno + ")");
  }

  private void assertNothingMade() throws Exception {
    links.settle();
    assertEquals(List.of(), failures());
    assertEquals(List.of(), links.names());
    assertEquals(List.of(), Links.sockets(Links.address(0)));
    assertEquals(List.of(), Links.threads("it0"));
  }

  /** Device and errno of everything that providers say they could not make. */
  private List<String> failures() throws Exception {
    return context.getServiceReferences(DeviceFailure.class, null).stream()
        .map(
            each ->
                each.getProperty(DeviceFailure.PROPERTY_DEVICE) + " " + context.getService(each).reason().errno())
        .sorted()
        .toList();
  }

  private static String address(RdmaDevice device) {
    return device.gidTable(1).entries().stream()
        .map(entry -> entry.gid())
        .filter(Gid::isIpv4Mapped)
        .map(gid -> gid.toInetAddress().getHostAddress())
        .findFirst()
        .orElse("none");
  }

  /** The file appears at once with all it holds. */
  private static void write(Path file, String address) throws Exception {
    write(file, address, "");
  }

  private static void write(Path file, String address, String more) throws Exception {
    Path aside = Installed.DEVICES.resolve("aside");
    Files.writeString(aside, "name = it0\nnetdev = lo\naddr = " + address + "\n" + more);
    Files.move(aside, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
