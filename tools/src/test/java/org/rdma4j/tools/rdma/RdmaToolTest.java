package org.rdma4j.tools.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.ib.core.client.LinkOperations;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MigrationState;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ResourceTable;
import org.rdma4j.ib.core.verbs.SrqType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.CmIdResource;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.rdma.cm.RdmaCmState;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.tools.GoldenDevice;
import org.rdma4j.tools.Output;

/** Byte for byte what iproute2 prints of a device with the same objects, and the grammar. */
class RdmaToolTest {
  private static final ResourceTable.Owner KERNEL = new ResourceTable.Owner("ib.core", "ib_core", 0, true, -1, 0);
  private static final ResourceTable.Owner PINGPONG =
      new ResourceTable.Owner("ulp.pingpong", "ibv_rc_pingpong", 223, false, 1, 1);
  private static final ResourceTable.Owner RPING = new ResourceTable.Owner("ulp.rping", "rping", 224, false, 2, 2);

  private final GoldenDevice device = new GoldenDevice();
  private final GoldenDevice.Resources resources = device.resources();
  private final Links links = new Links();
  private final List<CmIdResource> connections = new ArrayList<>();

  @TempDir private Path directory;

  RdmaToolTest() {
    resources.pds.add(new ResourceTable.Pd(0, 0x1d6, 1, KERNEL));
    resources.cqs.add(new ResourceTable.Cq(0, 1023, 2, KERNEL));
    resources.qps.add(
        new ResourceTable.Qp(1, 1, 0, QpType.GSI, QpState.RTS, 0, 0, MigrationState.MIGRATED, 0, KERNEL));
  }

  /** As when a pingpong waits and an rping listens. */
  private void addUsers() {
    resources.pds.add(new ResourceTable.Pd(1, 0, 2, PINGPONG));
    resources.pds.add(new ResourceTable.Pd(2, 0, 0, RPING));
    resources.cqs.add(new ResourceTable.Cq(1, 511, 2, PINGPONG));
    resources.qps.addFirst(
        new ResourceTable.Qp(1, 17, 0, QpType.RC, QpState.INIT, 0, 0, MigrationState.MIGRATED, 1, PINGPONG));
    resources.mrs.add(new ResourceTable.Mr(0, 0, 0x249, 0x7f0000000000L, 4096, 1, PINGPONG));
    resources.contexts.add(new ResourceTable.Ctx(1, PINGPONG));
    resources.contexts.add(new ResourceTable.Ctx(2, RPING));
    connections.add(
        id(0, 1, 0, RdmaCmState.LISTEN, PortSpace.TCP, at("192.0.2.2", 7174), null));
  }

  private static InetSocketAddress at(String address, int port) {
    Gid gid = Gid.parse(address.contains(":") ? address : "::ffff:" + address);
    return new InetSocketAddress(gid.toInetAddress(), port);
  }

  private static CmIdResource id(
      int number,
      int port,
      int qpNumber,
      RdmaCmState state,
      PortSpace space,
      InetSocketAddress local,
      InetSocketAddress remote) {
    return new CmIdResource(
        number, "rxe0", port, qpNumber, space.qpType(), state, space, local, remote, "ulp.rping", "rping", 224);
  }

  @Test
  void idleDevice() throws IOException {
    Map<String, String> golden = golden().getFirst();
    golden.remove("rdma -V");
    assertEquals(15, golden.size());
    golden.forEach(this::assertSame);
  }

  @Test
  void deviceInUse() throws IOException {
    addUsers();
    Map<String, String> golden = golden().getLast();
    assertEquals(8, golden.size());
    golden.forEach(this::assertSame);
  }

  @Test
  void connectionsAndTheirFilters() {
    connections.add(id(0, 1, 0, RdmaCmState.LISTEN, PortSpace.TCP, at("192.0.2.2", 7174), null));
    connections.add(
        id(1, 1, 17, RdmaCmState.CONNECT, PortSpace.TCP, at("192.0.2.2", 7174), at("192.0.2.9", 40000)));
    connections.add(id(2, 0, 0, RdmaCmState.LISTEN, PortSpace.UDP, at("::", 7), null));
    connections.add(id(3, 1, 0, RdmaCmState.ADDR_BOUND, PortSpace.IPOIB, at("2001:db8::2", 9), null));
    connections.add(
        new CmIdResource(
            4, null, 0, 0, QpType.RC, RdmaCmState.IDLE, PortSpace.TCP, null, null, "ulp.rping", "rping", 224));
    connections.add(id(5, 1, 0, RdmaCmState.ROUTE_QUERY, PortSpace.TCP, null, null));
    String listener =
        "link rxe0/1 cm-idn 0 state LISTEN ps TCP pid 224 comm rping src-addr 192.0.2.2:7174 dst-addr 0.0.0.0:0 \n";
    String connected =
        "link rxe0/1 cm-idn 1 lqpn 17 qp-type RC state CONNECT ps TCP pid 224 comm rping"
            + " src-addr 192.0.2.2:7174 dst-addr 192.0.2.9:40000 \n";
    String wild = "link rxe0/- cm-idn 2 state LISTEN ps UDP pid 224 comm rping src-addr :::7 dst-addr :::0 \n";
    String bound =
        "link rxe0/1 cm-idn 3 state ADDR_BOUND ps IPoIB pid 224 comm rping src-addr 2001:db8::2:9 dst-addr :::0 \n";
    String early = "link rxe0/1 cm-idn 5 state ROUTE_QUERY ps TCP pid 224 comm rping \n";
    String[] all = {"resource", "show", "cm_id"};
    assertEquals(wild + listener + connected + bound + early, run(all).out());
    assertEquals(
        connected + early, // What an identifier has not is no reason to leave it out.
        run("resource", "show", "cm_id", "link", "rxe0/1", "lqpn", "17", "dst-port", "40000").out());
    assertEquals(listener, run("res", "show", "cm_id", "state", "listen", "ps", "tcp").out());
    assertEquals(wild, run("res", "show", "cm_id", "link", "rxe0/-").out());
    assertEquals(
        listener + connected + early, run("res", "show", "cm_id", "link", "rxe0/1", "src-addr", "192.0.2.2").out());
    assertEquals(bound, run("res", "show", "cm_id", "cm-idn", "3").out());
    assertEquals("", run("res", "show", "cm_id", "pid", "1").out());
    assertEquals("0: rxe0: pd 1 cq 1 qp 1 cm_id 5 mr 0 ctx 0 srq 0 \n", run("resource").out());
    assertEquals(
        "[{\"ifindex\":0,\"ifname\":\"rxe0\",\"port\":1,\"cm-idn\":1,\"lqpn\":17,\"qp-type\":\"RC\","
            + "\"state\":\"CONNECT\",\"ps\":\"TCP\",\"pid\":224,\"comm\":\"rping\","
            + "\"src-addr\":\"192.0.2.2:7174\",\"dst-addr\":\"192.0.2.9:40000\"}]\n",
        run("-j", "resource", "show", "cm_id", "lqpn", "17", "state", "CONNECT").out());
  }

  @Test
  void wordsCanBeShortened() {
    addUsers();
    assertEquals(run("resource", "show", "qp"), run("res", "sh", "qp"));
    assertEquals(run("link", "show", "rxe0/1"), run("l"));
    assertEquals(run("statistic", "show", "link", "rxe0/1"), run("stat"));
    assertEquals(run("dev"), run("d", "list", "rxe0"));
    assertEquals(run("system", "show"), run("sys", "show", "netns"));
    // The object comes first in the table.
    assertEquals(run("system"), run("s"));
  }

  @Test
  void filters() {
    addUsers();
    assertTrue(run("resource", "show", "qp", "lqpn", "1-5").out().startsWith("link rxe0/1 lqpn 1 "));
    assertEquals(1, run("res", "show", "qp", "link", "rxe0/1", "state", "init,rtr").out().lines().count());
    assertEquals(2, run("res", "show", "qp", "lqpn", ",1,17").out().lines().count());
    assertEquals("", run("res", "show", "qp", "link", "rxe0/-").out());
    assertEquals(1, run("res", "show", "cq", "dev", "rxe0", "cqn", "1").out().lines().count());
    assertEquals("", run("res", "show", "mr", "mrlen", "1-4095").out());
    assertTrue(run("res", "show", "pd", "pid", "224", "users", "0").out().endsWith(" comm rping \n"));
  }

  @Test
  void queuePairWithoutPort() {
    resources.qps.clear();
    resources.qps.add(
        new ResourceTable.Qp(0, 18, 0, QpType.UD, QpState.RESET, 0, 5, MigrationState.MIGRATED, 1, PINGPONG));
    assertEquals(
        "link rxe0/- lqpn 18 type UD state RESET sq-psn 5 pdn 1 pid 223 comm ibv_rc_pingpong \n",
        run("resource", "show", "qp").out());
    String json = run("resource", "show", "qp", "-j").out();
    assertTrue(json.startsWith("[{\"ifindex\":0,\"ifname\":\"rxe0\",\"lqpn\":18,"), json);
  }

  @Test
  void sharedReceiveQueue() {
    resources.srqs.add(new ResourceTable.Srq(0, SrqType.BASIC, List.of(17, 18, 19, 21), 1, -1, PINGPONG));
    assertEquals(
        "dev rxe0 srqn 0 type BASIC lqpn 17-19,21 pdn 1 pid 223 comm ibv_rc_pingpong \n",
        run("resource", "show", "srq").out());
    assertEquals(
        "[{\"ifindex\":0,\"ifname\":\"rxe0\",\"srqn\":0,\"type\":\"BASIC\",\"lqpn\":[\"18\"],\"pdn\":1,\"pid\":223,"
            + "\"comm\":\"ibv_rc_pingpong\"}]\n",
        run("-j", "resource", "show", "srq", "lqpn", "18").out());
    assertEquals("", run("resource", "show", "srq", "lqpn", "20").out());
  }

  @Test
  void extendedConnections() {
    resources.qps.clear();
    resources.qps.add(
        new ResourceTable.Qp(
            1, 20, 33, QpType.XRC_INI, QpState.RTS, 4, 5, MigrationState.MIGRATED, 1, PINGPONG));
    resources.qps.add(
        new ResourceTable.Qp(
            1, 21, 34, QpType.XRC_TGT, QpState.RTR, 4, 5, MigrationState.MIGRATED, -1, PINGPONG));
    resources.srqs.add(new ResourceTable.Srq(3, SrqType.XRC, List.of(), 1, 2, PINGPONG));
    assertEquals(
        """
        link rxe0/1 lqpn 20 type XRC_INI state RTS sq-psn 5 path-mig-state MIGRATED pdn 1 pid 223 comm ibv_rc_pingpong\s
        link rxe0/1 lqpn 21 type XRC_TGT state RTR sq-psn 5 path-mig-state MIGRATED pid 223 comm ibv_rc_pingpong\s
        """,
        run("resource", "show", "qp").out());
    assertEquals(
        "dev rxe0 srqn 3 type XRC pdn 1 cqn 2 pid 223 comm ibv_rc_pingpong \n",
        run("resource", "show", "srq", "cqn", "2").out());
    assertEquals("", run("resource", "show", "srq", "cqn", "3").out());
  }

  @Test
  void prettyStatisticHasALineForEachCounter() {
    List<String> lines = run("-p", "statistic").out().lines().toList();
    assertEquals("link rxe0/1 ", lines.getFirst());
    assertEquals("    sent_pkts 0 ", lines.get(1));
    assertEquals(16, lines.size());
  }

  @Test
  void linksAreMadeAndRemoved() {
    assertEquals(0, run("link", "add", "rxe7", "type", "rxe", "netdev", "lo").status());
    assertEquals(0, run("link", "add", "rxe8", "ty", "rxe", "net", "lo", "addr", "127.0.0.3").status());
    assertEquals(0, run("link", "del", "rxe0").status());
    assertEquals(List.of("+rxe7 lo null", "+rxe8 lo 127.0.0.3", "-rxe0"), links.calls);
  }

  @Test
  void linkMistakes() {
    assertFails("Please provide a link name to add.\n", "link", "add");
    assertFails("Unknown parameter 'netdev'.\n", "link", "add", "a", "netdev", "lo");
    assertFails("Please provide a link type name.\n", "link", "add", "a", "type");
    assertFails("Please provide a net device name.\n", "link", "add", "a", "type", "rxe", "netdev");
    assertFails("Please provide device name.\n", "link", "delete");
    assertFails("Wrong device name - rxe7\n", "link", "delete", "rxe7");
    assertFails("Unknown parameter x\n", "link", "delete", "rxe0", "x");
    assertFails("Wrong device name\n", "link", "show", "rxe0/2");
    assertFails(
        "error: Invalid argument: no link type siw among [rxe]\n", "link", "add", "a", "type", "siw", "netdev", "lo");
    assertFails("error: File exists: taken\n", "link", "add", "taken", "type", "rxe", "netdev", "lo");
  }

  @Test
  void mistakes() {
    assertFails("Unknown object 'foo'.\n", "foo");
    assertFails("Unknown dev command 'foo'.\n", "dev", "foo");
    assertFails("Unknown link command 'foo'.\n", "link", "foo");
    assertFails("Unknown resource command 'foo'.\n", "resource", "foo");
    assertFails("Unknown parameter 'foo'.\n", "resource", "show", "foo");
    assertFails("Wrong device name - mlx5_0\n", "dev", "show", "mlx5_0");
    assertFails("Wrong device name - mlx5_0\n", "resource", "show", "cq", "dev", "mlx5_0");
    assertFails("No filter data was supplied to filter option lqpn\n", "resource", "show", "qp", "lqpn");
    assertFails("There is filter option without data\n", "resource", "show", "qp", "lqpn", "1", "pid");
    assertFails("Unsupported filter option: cqn\n", "resource", "show", "qp", "cqn", "1");
    assertFails("lqpn filter accepts \"1234567890,-\" characters only\n", "resource", "show", "qp", "lqpn", "x");
    assertFails("error: Operation not supported\n", "statistic", "qp", "show");
    Output option = run("-x");
    assertEquals(1, option.status());
    assertTrue(option.err().startsWith("Unknown option.\nUsage: rdma [ OPTIONS ] OBJECT"), option.err());
  }

  @Test
  void help() {
    assertTrue(run().out().startsWith("Usage: rdma [ OPTIONS ] OBJECT { COMMAND | help }\n"));
    assertEquals(run(), run("-h"));
    for (String object : List.of("dev", "link", "resource", "system", "statistic", "monitor")) {
      Output output = run(object, "help");
      assertTrue(output.status() == 0 && output.out().startsWith("Usage: rdma "), output.toString());
    }
    assertEquals("rdma utility, rdma4j-test\n", run("-V").out());
  }

  @Test
  void batch() throws IOException {
    Path file = directory.resolve("batch");
    Files.writeString(file, "# comment\nsystem show # that too\n\nlink show mlx5_0\ndev list\n");
    assertEquals(
        new Output(1, run("system").out(), "Wrong device name\nCommand failed " + file + ":4\n"),
        run("-b", file.toString()));
    assertEquals(
        new Output(
            1, run("system").out() + run("dev").out(), "Wrong device name\nCommand failed " + file + ":4\n"),
        run("-f", "-b", file.toString()));
  }

  @Test
  void monitor() {
    assertEquals(
        "[REGISTER]\tdev 0 rxe0\n[NETDEV_ATTACH]\tdev 0 rxe0 port 1 netdev 2 eth0\n",
        run("monitor", "count", "2").out());
    assertEquals(
        "[{\"event_type\":\"[REGISTER]\",\"rdma_index\":0,\"rdma_dev\":\"rxe0\"}]\n",
        run("-j", "mon", "c", "1").out());
    assertFails("Wrong number of events - 0\n", "monitor", "count", "0");
  }

  private void assertSame(String command, String output) {
    assertEquals(new Output(0, output, ""), run(command.substring("rdma ".length()).split(" ")), command);
  }

  private void assertFails(String error, String... arguments) {
    assertEquals(new Output(1, "", error), run(arguments));
  }

  private Output run(String... arguments) {
    MonitorCommand.Watching watching =
        listener -> {
          listener.accept(new Monitor.Event("REGISTER", 0, "rxe0", 0, 0, null));
          listener.accept(new Monitor.Event("NETDEV_ATTACH", 0, "rxe0", 1, 2, "eth0"));
          return () -> {};
        };
    return Output.of(
        new RdmaCommand(
            List.of(device),
            List.of(links),
            new Connections(),
            watching,
            netdev -> netdev.equals("eth0") ? 2 : 0),
        arguments);
  }

  /** A connection manager of which only the list is asked for. */
  private final class Connections implements RdmaCm {
    @Override
    public List<CmIdResource> resources() {
      return connections;
    }

    @Override
    public EventChannel createEventChannel() {
      throw new UnsupportedOperationException();
    }

    @Override
    public RdmaCmId createId(EventChannel channel, PortSpace portSpace, Object context) {
      throw new UnsupportedOperationException();
    }

    @Override
    public RdmaCm open(String comm) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }

  /** The commands of the golden file with their outputs: those of the idle device, those of the device in use. */
  private static List<Map<String, String>> golden() throws IOException {
    List<Map<String, String>> parts = new ArrayList<>();
    Map<String, String> part = new TreeMap<>();
    parts.add(part);
    String[] paragraphs = Output.golden("rdma-tool.rxe.txt").split("(?m)^(?=\\$ )");
    for (String paragraph : paragraphs) {
      int end = paragraph.indexOf('\n');
      String text = paragraph.substring(end + 1);
      int comment = text.indexOf("\n#");
      String output = comment < 0 ? text.replaceFirst("\n$", "") : text.substring(0, comment);
      part.put(paragraph.substring(2, end), output.equals("\n") ? "" : output);
      if (comment >= 0) {
        part = new TreeMap<>();
        parts.add(part);
      }
    }
    return parts;
  }

  private static final class Links implements LinkOperations {
    final List<String> calls = new ArrayList<>();

    @Override
    public String type() {
      return "rxe";
    }

    @Override
    public void newLink(String name, String netdev, String address) {
      if (name.equals("taken")) {
        throw new VerbsException(Errno.EEXIST, name);
      }
      calls.add("+" + name + " " + netdev + " " + address);
    }

    @Override
    public void deleteLink(String name) {
      calls.add("-" + name);
    }
  }
}
