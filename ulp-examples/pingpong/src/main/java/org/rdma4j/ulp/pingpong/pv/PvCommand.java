package org.rdma4j.ulp.pingpong.pv;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.util.Collection;
import java.util.List;
import org.apache.felix.service.command.CommandSession;
import org.osgi.framework.BundleContext;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.VerbsException;

/** The command {@code pv}: plays one scenario and prints every completion. */
@Component(
    service = PvCommand.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=pv"})
public final class PvCommand {
  private final BundleContext bundle;

  /**
   * Made by the container.
   *
   * @param bundle finds the devices
   */
  @Activate
  public PvCommand(BundleContext bundle) {
    this.bundle = bundle;
  }

  /**
   * Plays a scenario.
   *
   * @param session where to print
   * @param arguments as {@code pv --help} tells
   * @return 0 when the scenario was played and all bytes were right
   */
  public int pv(CommandSession session, String... arguments) {
    PrintStream out = session.getConsole();
    if (List.of(arguments).contains("--help")) {
      out.println(PvOptions.HELP);
      return 0;
    }
    String name = "pv";
    try {
      PvOptions options = PvOptions.parse(List.of(arguments));
      name = options.role() + " " + options.scenario();
      play(options, out);
      out.println(name + ": end");
      return 0;
    } catch (ScenarioFailed | VerbsException | IOException e) {
      out.println(name + ": failed: " + e.getMessage());
      return 1;
    }
  }

  /** What a scenario does, without the transport that its name begins with. */
  static String operation(String scenario) {
    return scenario.startsWith("uc-") || scenario.startsWith("ud-") ? scenario.substring(3) : scenario;
  }

  private void play(PvOptions options, PrintStream out) throws IOException {
    ServiceReference<RdmaDevice> reference = device(options.device());
    RdmaDevice device = bundle.getService(reference);
    if (options.scenario().equals("mcast")) {
      try (Arena memory = Arena.ofShared();
          Context context = device.open("pv")) {
        new Multicast(options, out).play(context, memory);
      } finally {
        bundle.ungetService(reference);
      }
      return;
    }
    try (Arena memory = Arena.ofShared();
        Context context = device.open("pv");
        Exchange exchange = exchange(options)) {
      Endpoint endpoint = new Endpoint(context, memory, options, out);
      endpoint.connect(exchange);
      if (options.server()) {
        new PassiveSide(endpoint, options, exchange).serve();
      } else {
        new ActiveSide(endpoint, options, exchange).work();
      }
    } finally {
      bundle.ungetService(reference);
    }
  }

  private static Exchange exchange(PvOptions options) throws IOException {
    return options.server()
        ? Exchange.accept(options.port(), options.patience())
        : Exchange.connect(options.host(), options.port(), options.patience());
  }

  private ServiceReference<RdmaDevice> device(String name) {
    try {
      Collection<ServiceReference<RdmaDevice>> found =
          bundle.getServiceReferences(RdmaDevice.class, "(" + RdmaDevice.PROPERTY_DEVICE + "=" + name + ")");
      return found.stream().findFirst().orElseThrow(() -> new ScenarioFailed("no device " + name));
    } catch (InvalidSyntaxException e) {
      throw new ScenarioFailed("no device " + name);
    }
  }
}
