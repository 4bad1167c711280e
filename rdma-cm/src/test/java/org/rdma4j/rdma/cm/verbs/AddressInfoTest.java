package org.rdma4j.rdma.cm.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.rdma4j.rdma.cm.verbs.AddressInfo.getAddressInfo;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.verbs.AddressInfo.Flag;
import org.rdma4j.rdma.cm.verbs.AddressInfoException.Reason;

class AddressInfoTest {
  private static final AddressInfo PASSIVE = AddressInfo.ANY.with(Flag.PASSIVE);
  private static final AddressInfo NUMERIC = AddressInfo.ANY.with(Flag.NUMERICHOST);

  @ParameterizedTest
  @CsvSource({"192.0.2.7,INET", "2001:db8::7,INET6", "fe80::1,INET6"})
  void numericPeerIsOneReliableDestination(String node, StandardProtocolFamily family) {
    AddressInfo peer = new AddressInfo(Set.of(), family, QpType.RC, PortSpace.TCP, null, socket(node, 7471));
    assertEquals(List.of(peer), getAddressInfo(node, "7471", null));
    assertEquals(List.of(peer), getAddressInfo(node, "7471", NUMERIC.with(Flag.NOROUTE).with(Flag.FAMILY)));
  }

  @Test
  void passiveNodeIsTheSource() {
    AddressInfo listener =
        new AddressInfo(
            Set.of(Flag.PASSIVE), StandardProtocolFamily.INET, QpType.RC, PortSpace.TCP, socket("192.0.2.7", 1), null);
    assertEquals(List.of(listener), getAddressInfo("192.0.2.7", "1", PASSIVE.withDestination(socket("::1", 9))));
    assertTrue(listener.isPassive());
  }

  @Test
  void noNodeIsEverythingHere() {
    List<AddressInfo> all = getAddressInfo(null, "7", PASSIVE);
    assertEquals(List.of(socket("0.0.0.0", 7), socket("::", 7)), all.stream().map(AddressInfo::source).toList());
    List<AddressInfo> loopback = getAddressInfo(null, "7", null);
    assertEquals(
        List.of(socket("127.0.0.1", 7), socket("::1", 7)), loopback.stream().map(AddressInfo::destination).toList());
    assertFalse(loopback.getFirst().isPassive());
  }

  @Test
  void familyOfTheHintsIsTheOnlyOne() {
    List<AddressInfo> found = getAddressInfo(null, "7", PASSIVE.withFamily(StandardProtocolFamily.INET6));
    assertEquals(List.of(socket("::", 7)), found.stream().map(AddressInfo::source).toList());
    assertReason(
        Reason.ADDRFAMILY,
        () -> getAddressInfo("192.0.2.7", "7", AddressInfo.ANY.withFamily(StandardProtocolFamily.INET6)));
  }

  @Test
  void sourceOfTheHintsIsKept() {
    InetSocketAddress source = socket("192.0.2.1", 0);
    assertEquals(source, getAddressInfo("192.0.2.7", "7", AddressInfo.ANY.withSource(source)).getFirst().source());
  }

  @Test
  void hintsAloneAreCompleted() {
    InetSocketAddress peer = socket("2001:db8::1", 7);
    AddressInfo completed =
        new AddressInfo(Set.of(), StandardProtocolFamily.INET6, QpType.UD, PortSpace.UDP, null, peer);
    AddressInfo hints = AddressInfo.ANY.withDestination(peer).withQpType(QpType.UD);
    assertEquals(List.of(completed), getAddressInfo(null, null, hints));
    var e = assertThrows(VerbsException.class, () -> getAddressInfo(null, null, null));
    assertEquals(Errno.EINVAL, e.errno());
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "-,TCP,RC,TCP", "-,UDP,UD,UDP", "-,IPOIB,UD,IPOIB", "-,IB,RC,IB", "UD,-,UD,UDP", "UC,-,UC,TCP", "UD,IB,UD,IB"
      })
  void typeAndSpaceFollowFromEachOther(QpType type, PortSpace space, QpType wholeType, PortSpace wholeSpace) {
    AddressInfo hints = AddressInfo.ANY.withQpType(type).withPortSpace(space);
    AddressInfo found = getAddressInfo("192.0.2.7", "7", hints).getFirst();
    assertEquals(wholeType, found.qpType());
    assertEquals(wholeSpace, found.portSpace());
  }

  @Test
  void datagramsOnPortsOfConnectionsAreRefused() {
    AddressInfo hints = AddressInfo.ANY.withQpType(QpType.UD).withPortSpace(PortSpace.TCP);
    assertReason(Reason.SOCKTYPE, () -> getAddressInfo("192.0.2.7", "7", hints));
  }

  @ParameterizedTest
  @ValueSource(strings = {"server.example", "", "192.0.2.256", "localhost"})
  void nameIsNotAskedForWhereItMustBeNumeric(String node) {
    assertReason(Reason.NONAME, () -> getAddressInfo(node, "7", NUMERIC));
  }

  @Test
  void nameIsLookedUp() {
    List<AddressInfo> found = getAddressInfo("localhost", "7", AddressInfo.ANY);
    assertTrue(found.stream().allMatch(each -> each.destination().getAddress().isLoopbackAddress()), found::toString);
  }

  @ParameterizedTest
  @ValueSource(strings = {"65536", "-1", "no-such-service", ""})
  void unknownServiceIsRefused(String service) {
    assertReason(Reason.SERVICE, () -> getAddressInfo("192.0.2.7", service, null));
  }

  @Test
  void servicesHaveNamesAndAliases(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("services");
    Files.writeString(file, "# all\nship 7471/tcp boat  # no-name\nship\t7472/udp\nbroken\n\n");
    ServiceNames names = new ServiceNames(file);
    assertEquals(7471, names.port("ship", "tcp"));
    assertEquals(7472, names.port("ship", "udp"));
    assertEquals(7471, names.port("boat", "tcp"));
    assertEquals(-1, names.port("boat", "udp"));
    assertEquals(-1, names.port("no-name", "tcp"));
    assertEquals(-1, names.port("7471/tcp", "tcp"));
    assertEquals(-1, new ServiceNames(directory.resolve("nothing")).port("ship", "tcp"));
  }

  private static void assertReason(Reason reason, Runnable lookup) {
    var e = assertThrows(AddressInfoException.class, lookup::run);
    assertEquals(reason, e.reason());
    assertTrue(e.getMessage().endsWith(reason.text()), e.getMessage());
  }

  private static InetSocketAddress socket(String address, int port) {
    return new InetSocketAddress(InetAddress.ofLiteral(address), port);
  }
}
