package org.rdma4j.tools.launcher;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.felix.service.command.CommandProcessor;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.startlevel.FrameworkStartLevel;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.runtime.ServiceComponentRuntime;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What {@code java -jar rdma.jar} runs once the container is up: one command and its exit status, or else the shell.
 * The launcher stops the container when this returns.
 */
@Component(service = Callable.class, property = "main.thread:Boolean=true")
public final class Main implements Callable<Integer> {
  private static final int USAGE_ERROR = 2;
  private static final int PRODUCT_LEVEL = 10;
  private static final Duration DEVICE_LIMIT = Duration.ofSeconds(5);
  private static final Duration STOP_LIMIT = Duration.ofSeconds(5);
  private static final Logger LOG = LoggerFactory.getLogger(Main.class);

  private final String[] arguments;
  private final CommandProcessor processor;
  private final DefaultDevices devices;
  private final BundleContext context;

  /** Made by Declarative Services as soon as the launcher has registered the command line. */
  @Activate
  public Main(
      @Reference(service = Object.class, target = "(launcher.arguments=*)") Map<String, Object> launcher,
      @Reference CommandProcessor processor,
      @Reference ConfigurationAdmin configurations,
      @Reference ServiceComponentRuntime components,
      BundleContext context) {
    arguments = (String[]) launcher.get("launcher.arguments");
    this.processor = processor;
    devices = new DefaultDevices(context, configurations, components);
    this.context = context;
  }

  @Override
  public Integer call() throws InterruptedException {
    // Gogo replaces System.out by a stream that leads to the session's own: hand it the raw descriptors, and leave
    // them open, for System.out and System.err end in them too.
    PrintStream out = stream(FileDescriptor.out, "stdout.encoding");
    PrintStream err = stream(FileDescriptor.err, "stderr.encoding");
    awaitStart();
    stopAtExit(err);
    Options options;
    try {
      options = Options.parse(arguments);
    } catch (IllegalArgumentException e) {
      err.println("rdma: " + e.getMessage() + " (\"rdma --help\" lists them)");
      return USAGE_ERROR;
    }
    if (options.help()) {
      out.printf(Options.USAGE, commands());
      return 0;
    }
    if (options.version()) {
      out.println("rdma4j " + context.getBundle().getVersion());
      return 0;
    }
    if (!options.bare()) {
      devices.start(DEVICE_LIMIT, err);
    }
    ShellCommands.register(context, processor);
    return options.command().isEmpty() ? shell(err) : run(options, out, err);
  }

  /**
   * The launcher calls as soon as this service is there, while other bundles are still being started. Start levels
   * are worked off one after the other, so that asking for the present one again tells when all are up.
   */
  private void awaitStart() throws InterruptedException {
    var started = new CountDownLatch(1);
    context.getBundle(0).adapt(FrameworkStartLevel.class).setStartLevel(PRODUCT_LEVEL, event -> started.countDown());
    started.await();
  }

  /**
   * A process that is told to end stops the container first, so that bundles give back what they have and connections
   * say goodbye to their peers, as a kernel does for a process; one that is killed does not. What commands and the
   * launcher have to say of that is no news to who ends them.
   */
  private void stopAtExit(PrintStream err) {
    if (context.getBundle(0) instanceof Framework framework) {
      Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().name("rdma exit").unstarted(() -> stop(framework, err)));
    }
  }

  private static void stop(Framework framework, PrintStream err) {
    try {
      err.close();
      framework.stop();
      framework.waitForStop(STOP_LIMIT.toMillis());
    } catch (BundleException e) {
      LOG.warn("the container does not stop", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int run(Options options, PrintStream out, PrintStream err) {
    List<String> command = options.command();
    try (var session = processor.createSession(new FileInputStream(FileDescriptor.in), out, err)) {
      var runner = new CommandRunner(session, out, err);
      return options.script()
          ? runner.runScript(command.getFirst())
          : runner.run(command.getFirst(), command.subList(1, command.size()));
    } finally {
      out.flush();
    }
  }

  private int shell(PrintStream err) {
    try {
      new InteractiveShell(context, processor).run();
      return 0;
    } catch (Exception e) {
      err.println("rdma: no shell: " + e.getMessage());
      return 1;
    }
  }

  private String commands() {
    try {
      ServiceReference<?>[] found = context.getServiceReferences((String) null, "(osgi.command.scope=rdma)");
      return Stream.of(found == null ? new ServiceReference<?>[0] : found)
          .map(reference -> reference.getProperty("osgi.command.function"))
          .flatMap(names -> names instanceof Object[] several ? Stream.of(several) : Stream.of(names))
          .map(Object::toString)
          .sorted()
          .distinct()
          .collect(Collectors.joining(", "));
    } catch (InvalidSyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static PrintStream stream(FileDescriptor descriptor, String encoding) {
    var charset = Charset.forName(System.getProperty(encoding, "UTF-8"));
    return new PrintStream(new BufferedOutputStream(new FileOutputStream(descriptor)), true, charset);
  }
}
