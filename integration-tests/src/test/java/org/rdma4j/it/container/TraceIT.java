package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;

/** {@code mlx5 trace}: what goes over each boundary, in the order in which it must. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class TraceIT {
  private static final int MESSAGE = 64;
  private static final Path DIRECTORY = Path.of("target").toAbsolutePath();

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;

  private Links links;
  private PluggedCard plugged;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @Before
  public void begin() throws Exception {
    links = new Links(context, configurations);
    plugged = new PluggedCard(context, configurations);
    links.add("it0", Links.address(0));
    links.await("mlx5_0");
  }

  @After
  public void cleanUp() throws Exception {
    links.removeAll();
    plugged.unplug();
  }

  private String shell(String command) {
    return Shell.run(context, command);
  }

  /** One message from the card to the other device. */
  private void send() throws Exception {
    try (Endpoint card = new Endpoint(links.await("mlx5_0"));
        Endpoint peer = new Endpoint(links.await("it0"))) {
      Endpoint.connect(card, peer);
      peer.pair()
          .postReceive(
              new ReceiveWorkRequest().wrId(1).addSge(peer.region().address(), MESSAGE, peer.region().lkey()));
      card.pair()
          .postSend(
              new SendWorkRequest()
                  .wrId(2)
                  .opcode(WrOpcode.SEND)
                  .addSge(card.region().address(), MESSAGE, card.region().lkey()));
      WorkCompletion[] batch = WorkCompletion.batch(1);
      PluggedCard.await("no completion", () -> card.queue().poll(batch) == 1);
      assertEquals(WcStatus.SUCCESS, batch[0].status());
    }
  }

  private List<String> traced(String options) throws Exception {
    Path file = DIRECTORY.resolve("trace");
    assertEquals("", shell("mlx5 trace on " + PluggedCard.SLOT + " --file " + file + " " + options));
    send();
    assertEquals("", shell("mlx5 trace off"));
    return Files.readAllLines(file);
  }

  @Test
  public void aSendThroughAllRooms() throws Exception {
    List<String> lines = traced("");
    assertOrder(
        lines,
        "verb +create_cq CQ",
        "command +CREATE_CQ\\(0x400\\) op_mod 0x0",
        "register +write cmd_dbell = 0x0000000",
        "dma +card reads 64 bytes at 0x",
        "dma +card writes \\d+ bytes at 0x",
        "command +CREATE_CQ ok, syndrome 0x0, [\\d.]+ us: cqn=0x",
        "verb +create_cq done: CQ \\d+ of mlx5_0");
    assertOrder(
        lines,
        "verb +modify_qp QP (?<qp>\\d+) of mlx5_0",
        "command +RST2INIT_QP",
        "command +INIT2RTR_QP",
        "command +RTR2RTS_QP",
        "verb +post_send QP \\d+ of mlx5_0",
        "wqe +QP \\d+: entry 0 SEND, signaled; data byte_count=0x40 lkey=0x[0-9a-f]+ address=0x",
        "register +write doorbell page \\d+: send, QP 0x[0-9a-f]+, entry 0 SEND, handed over whole .BlueFlame., 64",
        "dma +card reads 64 bytes at 0x",
        "packet +sent RC SEND Only psn \\d+ qp 0x",
        "packet +received RC ACK psn \\d+",
        "dma +card writes \\d+ bytes at 0x[0-9a-f]+ CQ 0x",
        "cqe +CQ \\d+: requester, QP 0x[0-9a-f]+, entry 0",
        "verb +destroy_qp QP \\d+ of mlx5_0",
        "command +2RST_QP|command +DESTROY_QP");
    assertTrue(
        "what belongs to a verb is indented", lines.stream().anyMatch(line -> line.contains("register     write")));
  }

  /** Everything named in order, whatever lies between. */
  private static void assertOrder(List<String> lines, String... patterns) {
    int at = 0;
    for (String each : patterns) {
      Matcher matcher = Pattern.compile("  (" + each + ")").matcher("");
      int found = at;
      while (found < lines.size() && !matcher.reset(lines.get(found)).find()) {
        found++;
      }
      assertTrue(each + " is not after line " + at + " of\n" + String.join("\n", lines), found < lines.size());
      at = found + 1;
    }
  }

  @Test
  public void asJsonAndOnlyWhatIsWanted() throws Exception {
    List<String> lines = traced("--json --only packet,command");
    assertEquals("[", lines.getFirst());
    assertEquals("]", lines.getLast());
    List<String> events = lines.subList(1, lines.size() - 1);
    for (String each : events) {
      assertTrue(
          each, each.matches("\\{\"time_us\":[\\d.]+,\"thread\":\"[^\"]+\",\"depth\":\\d+,\"layer\":\"\\w+\",.*\\},?"));
      assertTrue(each, each.contains("\"layer\":\"packet\"") || each.contains("\"layer\":\"command\""));
    }
    assertTrue(events.stream().anyMatch(each -> each.contains("\"opcode\":\"CREATE_QP\",\"number\":1280")));
    assertTrue(events.stream().anyMatch(each -> each.contains("\"sent\":true")));
  }

  @Test
  public void whileACommandRuns() {
    String reload = " -- devlink dev reload pci/" + PluggedCard.SLOT;
    String listing = shell("mlx5 trace " + PluggedCard.SLOT + " --only command" + reload);
    assertTrue(listing, listing.contains("reload_actions_performed"));
    assertOrder(
        listing.lines().toList(), "command +TEARDOWN_HCA\\(0x103\\)", "command +ENABLE_HCA ok", "command +INIT_HCA ok");
    assertTrue(shell("mlx5 trace off").contains("no trace is on"));
    String nothing = shell("mlx5 trace 0000:04:00.0" + reload);
    assertFalse("another slot", nothing.contains("ENABLE_HCA"));
  }
}
