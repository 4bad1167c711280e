package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
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
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.util.tracker.ServiceTracker;
import org.rdma4j.rdma.cm.CmIdResource;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmState;

/**
 * The programs of librdmacm against each other, on software devices and on a card: the lines and statuses that the
 * originals have printed over the same conversations, and servers and clients whose device goes.
 */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class ConnectionCommandsIT {
  private static final int FAILED = 255;
  private static final long PATIENCE_MILLIS = 20_000;
  private static final String V6 = "::1";
  private static final List<String> PINGS =
      List.of(
          "rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ[\\",
          "rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]",
          "rdma-ping-2: CDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^");

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;

  private final String here = Links.address(0);
  private final String there = Links.address(1);
  private final List<ShellJob> jobs = new ArrayList<>();
  private ServiceTracker<RdmaCm, RdmaCm> managers;
  private RdmaCm manager;
  private Links links;
  private PluggedCard card;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @Before
  public void begin() throws Exception {
    managers = new ServiceTracker<>(context, RdmaCm.class, null);
    managers.open();
    manager = managers.waitForService(PATIENCE_MILLIS);
    links = new Links(context, configurations);
    links.add("it0", here);
    links.add("it1", there);
  }

  @After
  public void cleanUp() throws Exception {
    for (ShellJob job : jobs) {
      if (job.isRunning()) {
        job.interrupt();
      }
    }
    for (ShellJob job : jobs) {
      stop(job);
    }
    links.removeAll();
    if (card != null) {
      card.unplug();
    }
    managers.close();
    assertEquals(List.of(), Links.threads("rping", "cmtime"));
  }

  /** Interrupts a command and waits until it has given back what it had. */
  private void stop(ShellJob job) throws InterruptedException {
    if (job.isRunning()) {
      job.interrupt();
      job.await();
    }
    long others = jobs.stream().filter(other -> other.isRunning() && other.program().equals(job.program())).count();
    await("left by " + job, () -> others > 0 || ofPrograms(job.program()) == 0);
  }

  private void await(String otherwise, BooleanSupplier what) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
    while (!what.getAsBoolean()) {
      assertTrue(otherwise + ", identifiers " + manager.resources(), System.nanoTime() - end < 0);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
    }
  }

  private long ofPrograms(String name) {
    return manager.resources().stream().map(CmIdResource::comm).filter(name::equals).count();
  }

  private ShellJob start(String command) {
    ShellJob job = new ShellJob(context, command);
    jobs.add(job);
    return job;
  }

  /** Starts a server and waits until it listens. */
  private ShellJob serve(String command) {
    ShellJob job = start(command);
    awaitListening(job);
    return job;
  }

  private void awaitListening(ShellJob job) {
    awaitListener(job, listener -> true);
  }

  /** After the device of the clients' addresses has come back. */
  private void awaitListeningThere(ShellJob job) {
    awaitListener(job, listener -> "it1".equals(listener.device()));
  }

  private void awaitListener(ShellJob job, Predicate<CmIdResource> which) {
    Predicate<CmIdResource> wanted =
        which.and(id -> id.state() == RdmaCmState.LISTEN && id.comm().equals(job.program()));
    await("not listening: " + job, () -> !job.isRunning() || manager.resources().stream().anyMatch(wanted));
    assertTrue(job.toString(), job.isRunning());
  }

  private ShellJob run(String command) throws InterruptedException {
    return start(command).succeeds();
  }

  @Test
  public void rping() throws Exception {
    ShellJob server = serve("rping -s -a " + there + " -v -C 3 -S 100");
    ShellJob client = run("rping -c -a " + there + " -I " + here + " -v -C 3 -S 100");
    server.succeeds();
    assertEquals(PINGS.stream().map("ping data: "::concat).toList(), client.out());
    assertEquals(List.of(), client.err());
    assertEquals(PINGS.stream().map("server ping data: "::concat).toList(), server.out());
    assertEquals(List.of("server DISCONNECT EVENT...", "wait for RDMA_READ_ADV state 10"), server.err());
  }

  @Test
  public void rpingBetweenACardAndASoftwareDevice() throws Exception {
    card = new PluggedCard(context, configurations);
    long mismatches = 0;
    for (boolean ownQp : new boolean[] {false, true}) {
      for (String[] pair : new String[][] {{PluggedCard.ADDRESS, here}, {here, PluggedCard.ADDRESS}}) {
        String how = " -V -S 65536 -C 50" + (ownQp ? " -q" : "");
        ShellJob server = serve("rping -s -a " + pair[0] + how);
        mismatches += run("rping -c -a " + pair[0] + " -I " + pair[1] + how).err().size();
        server.succeeds();
      }
    }
    assertEquals(0, mismatches);
  }

  @Test
  public void rpingServesSeveralAtOnce() throws Exception {
    ShellJob server = serve("rping -s -P -d");
    ShellJob endless = start("rping -c -v -a " + there + " -I " + here);
    await("no pings: " + endless, () -> !endless.out().isEmpty());
    for (int i = 0; i < 3; i++) {
      assertEquals(2, run("rping -c -v -C 2 -a " + here).out().size());
    }
    stop(endless);
    assertTrue(server.isRunning());
    stop(server);
    assertTrue(server.toString(), server.out().contains("server rdma write complete "));
  }

  @Test
  public void nobodyListens() throws Exception {
    ShellJob client = start("rping -c -a " + there + " -I " + here + " -p 7999 -C 1");
    assertEquals(FAILED, client.await());
    assertEquals("cma event RDMA_CM_EVENT_REJECTED, error 8", client.err().getFirst());
    assertTrue(client.err().get(1), client.err().get(1).contains(here) && client.err().get(1).contains(there));
    assertEquals(
        List.of("wait for CONNECTED state 4", "connect error -1"), client.err().subList(2, client.err().size()));
    ShellJob ucmatose = start("ucmatose -s " + there + " -p 7999");
    assertEquals(8, ucmatose.await());
    assertEquals("cmatose: event: RDMA_CM_EVENT_REJECTED, error: 8", ucmatose.out().get(2));
    assertEquals("return status 8", ucmatose.out().getLast());
    assertEquals(FAILED, start("rdma_client -s " + there + " -p 7999").await());
  }

  @Test
  public void ucmatose() throws Exception {
    ShellJob server = serve("ucmatose -c 2 -C 3 -S 100");
    ShellJob client = run("ucmatose -s " + there + " -b " + here + " -c 2 -C 3 -S 100");
    server.succeeds();
    assertEquals(
        List.of(
            "cmatose: starting server", "initiating data transfers", "completing sends", "receiving data transfers",
            "data transfers complete", "cmatose: disconnecting", "disconnected", "test complete", "return status 0"),
        server.out());
    assertEquals(
        List.of(
            "cmatose: starting client", "cmatose: connecting", "receiving data transfers", "sending replies",
            "data transfers complete", "test complete", "return status 0"),
        client.out());
    ShellJob many = serve("ucmatose -c 50 -C 20 -S 5000 -m -t 0x20");
    run("ucmatose -s " + there + " -c 50 -C 20 -S 5000 -m -t 0x20 -a 14");
    assertTrue(many.succeeds().out().contains("migrating to new event channel"));
  }

  @Test
  public void udaddy() throws Exception {
    ShellJob server = serve("udaddy -c 2 -C 3 -S 100");
    ShellJob client = run("udaddy -s " + there + " -b " + here + " -c 2 -C 3 -S 100");
    server.succeeds();
    assertEquals(
        List.of(
            "udaddy: starting server", "receiving data transfers", "sending replies", "data transfers complete",
            "test complete", "return status 0"),
        server.out());
    assertEquals(
        List.of(
            "udaddy: starting client", "udaddy: connecting", "initiating data transfers", "receiving data transfers",
            "data transfers complete", "test complete", "return status 0"),
        client.out());
    ShellJob large = start("udaddy -s " + there + " -S 9000");
    serve("udaddy");
    assertEquals("-EINVAL", 234, large.await());
    assertTrue(large.err().getFirst(), large.err().getFirst().startsWith("udaddy: message_size 9000 is larger than"));
  }

  @Test
  public void mckey() throws Exception {
    ShellJob receiver = start("mckey -m 239.192.0.1 -b " + there + " -C 5 -S 64");
    ShellJob sender = start("mckey -m 239.192.0.1 -b " + here + " -C 5 -S 64 -s");
    String joined = "mckey: joined dgid: ::ffff:239.192.0.1 mlid 0x0 sl 0";
    assertEquals(
        List.of(
            "mckey: starting server", "mckey: joining", joined, "receiving data transfers", "data transfers complete",
            "test complete", "return status 0"),
        receiver.succeeds().out());
    assertEquals(
        List.of(
            "mckey: starting client", "mckey: joining", joined, "initiating data transfers",
            "data transfers complete", "test complete", "return status 0"),
        sender.succeeds().out());
  }

  @Test
  public void cmtime() throws Exception {
    serve("cmtime -b " + there);
    ShellJob client = run("cmtime -s " + there + " -b " + here + " -c 10");
    assertEquals(
        List.of(
            "creating id", "binding source address", "resolving address", "resolving route", "creating qp",
            "connecting", "disconnecting", "destroying id",
            "step              total ms     max ms     min us  us / conn"),
        client.out().subList(0, 9));
    assertEquals(17, client.out().size());
    for (String line : client.out().subList(9, 17)) {
      assertTrue(line, line.matches("[a-z ]{13}:( +\\d+\\.\\d\\d){4}"));
    }
    assertEquals(List.of(), client.err());
  }

  @Test
  public void rdmaClientAndServer() throws Exception {
    ShellJob server = serve("rdma_server");
    ShellJob client = run("rdma_client -s " + there);
    server.succeeds();
    assertEquals(List.of("rdma_server: start", "rdma_server: end 0"), server.out());
    assertEquals(List.of("rdma_client: start", "rdma_client: end 0"), client.out());
  }

  @Test
  public void allOfThemOverIpv6() throws Exception {
    assumeTrue("UDP port 4791 of " + V6 + " is not free here, so no device can have it", isFree(V6));
    links.add("it6", V6);
    ShellJob rping = serve("rping -s -a " + V6);
    assertEquals(2, run("rping -c -v -V -C 2 -a " + V6).out().size());
    rping.succeeds();
    ShellJob ucmatose = serve("ucmatose -b " + V6);
    run("ucmatose -s " + V6);
    ucmatose.succeeds();
    ShellJob udaddy = serve("udaddy -b " + V6);
    run("udaddy -s " + V6);
    udaddy.succeeds();
    ShellJob rdma = serve("rdma_server -s " + V6);
    run("rdma_client -s " + V6);
    rdma.succeeds();
    ShellJob cmtime = serve("cmtime -b " + V6);
    run("cmtime -c 5 -s " + V6);
    stop(cmtime);
    ShellJob mckey = start("mckey -m ff0e::1234 -b " + V6);
    assertEquals("as in Linux, there are no groups of IPv6 over RoCE v2", FAILED, mckey.await());
    assertEquals("mckey: failure joining: Operation not supported", mckey.err().getFirst());
    assertEquals("return status -1", mckey.out().getLast());
  }

  @Test
  public void aClientWhoseDeviceGoesFails() throws Exception {
    ShellJob server = serve("rping -s -P -a " + there);
    ShellJob client = start("rping -c -v -a " + there + " -I " + here);
    await("no pings: " + client, () -> !client.out().isEmpty());
    links.remove("it0");
    assertEquals(client.toString(), FAILED, client.await());
    assertTrue(client.toString(), client.err().contains("cma detected device removal!!!!"));
    assertEquals("rping client failed: -1", client.err().getLast());
    assertEquals(2, run("rping -c -v -C 2 -a " + there).out().size());
    assertTrue(server.isRunning());
  }

  @Test
  public void aServerWhoseDeviceGoesInATransferServesAgain() throws Exception {
    String size = " -c 2 -C 3000 -S 65536";
    ShellJob server = serve("ucmatose" + size);
    ShellJob client = start("ucmatose -s " + there + " -b " + here + size);
    await("no transfer: " + server, () -> server.out().contains("initiating data transfers"));
    links.remove("it1");
    assertEquals(client.toString(), FAILED, client.await());
    assertTrue(server.toString(), server.isRunning());
    links.add("it1", there);
    awaitListeningThere(server);
    run("ucmatose -s " + there + " -b " + here + size);
    server.succeeds();
    assertTrue(server.toString(), server.out().contains("cmatose: event: RDMA_CM_EVENT_DEVICE_REMOVAL, error: 0"));
  }

  @Test
  public void namesAreLookedUp() throws Exception {
    run("ucmatose -c 0 -s localhost -f name");
    ShellJob number = start("ucmatose -s localhost -f ip");
    assertEquals("EAI_NONAME", 254, number.await());
    assertEquals("cmatose: getaddrinfo error: Name or service not known", number.out().get(1));
    assertEquals("return status -2", number.out().getLast());
    ShellJob gid = start("udaddy -b ::1 -f gid");
    assertEquals("EAI_FAMILY", 250, gid.await());
    assertEquals("udaddy: getrdmaaddr error: ai_family not supported", gid.out().get(1));
  }

  /** Listening on all addresses, a server follows the devices; on one, it listens again when that is back. */
  @Test
  public void serversOutliveTheProvider() throws Exception {
    for (String address : List.of("", " -a " + there)) {
      ShellJob server = serve("rping -s -P" + address);
      ShellJob endless = start("rping -c -v -a " + there + " -I " + here);
      await("no pings: " + endless, () -> !endless.out().isEmpty());
      restartProvider(endless::await);
      awaitListeningThere(server);
      assertEquals(2, run("rping -c -v -C 2 -a " + there).out().size());
      stop(server);
    }
  }

  @Test
  public void aServerOfOneConnectionWaitsForAnotherWhenItsDeviceGoes() throws Exception {
    ShellJob server = serve("rping -s");
    ShellJob endless = start("rping -c -v -a " + there + " -I " + here);
    await("no pings: " + endless, () -> !endless.out().isEmpty());
    restartProvider(endless::await);
    awaitListeningThere(server);
    run("rping -c -C 2 -a " + there);
    server.succeeds();
  }

  @Test
  public void serversThatWaitOutliveTheProvider() throws Exception {
    String[][] programs = {
      {"ucmatose", "-b", "ucmatose -s"},
      {"udaddy", "-b", "udaddy -s"},
      {"cmtime", "-b", "cmtime -c 5 -s"},
      {"rdma_server", "-s", "rdma_client -s"}
    };
    for (String[] program : programs) {
      for (String address : List.of("", " " + program[1] + " " + there)) {
        ShellJob server = serve(program[0] + address);
        restartProvider(() -> null);
        awaitListeningThere(server);
        run(program[2] + " " + there);
        if (program[0].equals("cmtime")) {
          stop(server);
        } else {
          server.succeeds();
        }
      }
    }
  }

  @Test
  public void whoRunsWhenTheConnectionManagerStopsFails() throws Exception {
    List<ShellJob> servers = new ArrayList<>(List.of(serve("rping -s -P")));
    ShellJob client = start("rping -c -v -a " + there + " -I " + here);
    await("no pings: " + client, () -> !client.out().isEmpty());
    for (String server : List.of("cmtime -p 7998", "ucmatose -p 7999", "udaddy -b " + there, "rdma_server -p 7997")) {
      servers.add(serve(server));
    }
    Bundle cm = Bundles.named(context, "org.rdma4j.rdma.cm");
    cm.stop();
    try {
      client.await(); // which may be told by its server that it is over, before it hears of the manager
      for (ShellJob server : servers) {
        assertEquals(server.toString(), FAILED, server.await());
      }
    } finally {
      jobs.clear();
      cm.start();
      manager = managers.waitForService(PATIENCE_MILLIS);
    }
    ShellJob server = serve("rping -s");
    run("rping -c -C 2 -a " + there);
    server.succeeds();
  }

  /** What must have happened before the provider starts again. */
  private interface Between {
    Object check() throws InterruptedException;
  }

  private void restartProvider(Between between) throws Exception {
    Bundle provider = Bundles.named(context, "org.rdma4j.rxe");
    provider.stop();
    try {
      between.check();
    } finally {
      provider.start();
    }
    links.await("it0");
    links.await("it1");
  }

  private static boolean isFree(String address) {
    try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(address, 4791))) {
      return socket.isBound();
    } catch (SocketException e) {
      return false;
    }
  }
}
