package org.rdma4j.it.peer.cm;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Hashtable;
import java.util.List;
import org.apache.felix.service.command.CommandSession;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmState;

/**
 * A bundle of its own, which the tests put into the product's container: the command {@code cm_peer}, with the options
 * and the output of {@code linux-peer/cm.py}, and {@code cm_listeners}.
 */
public final class CmPeerBundle implements BundleActivator {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final long LOOK_MILLIS = 20;

  private BundleContext context;

  @Override
  public void start(BundleContext bundle) {
    context = bundle;
    var properties = new Hashtable<String, Object>();
    properties.put("osgi.command.scope", "rdma");
    properties.put("osgi.command.function", new String[] {"cm_peer", "cm_listeners"});
    bundle.registerService(CmPeerBundle.class, this, properties);
  }

  @Override
  public void stop(BundleContext bundle) {
    context = null;
  }

  /** Waits until so many identifiers listen, and says so. */
  public int cm_listeners(CommandSession session, String count) throws InterruptedException {
    ServiceReference<RdmaCm> reference = context.getServiceReference(RdmaCm.class);
    RdmaCm manager = context.getService(reference);
    long end = System.nanoTime() + LIMIT.toNanos();
    while (listeners(manager) < Integer.parseInt(count)) {
      if (System.nanoTime() - end > 0) {
        session.getConsole().println("only " + manager.resources());
        return 1;
      }
      Thread.sleep(LOOK_MILLIS);
    }
    context.ungetService(reference);
    session.getConsole().println(count + " listen");
    return 0;
  }

  private static long listeners(RdmaCm manager) {
    return manager.resources().stream().filter(each -> each.state() == RdmaCmState.LISTEN).count();
  }

  /** One end of connections. */
  public int cm_peer(CommandSession session, String... arguments) throws InterruptedException {
    PrintStream out = session.getConsole();
    ServiceReference<RdmaCm> reference = context.getServiceReference(RdmaCm.class);
    try (RdmaCm manager = context.getService(reference).open("cm_peer")) {
      CmPeerOptions options = new CmPeerOptions(List.of(arguments));
      CmPeer peer = new CmPeer(manager, options, out);
      if (options.server()) {
        peer.serve();
      } else {
        peer.connect();
      }
      out.println("end");
      return 0;
    } catch (VerbsException e) {
      out.println("failed: " + e);
      return 1;
    } finally {
      context.ungetService(reference);
    }
  }
}
