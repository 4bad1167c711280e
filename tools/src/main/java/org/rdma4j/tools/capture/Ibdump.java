package org.rdma4j.tools.capture;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.osgi.framework.BundleContext;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.link.LinkException;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.Numbers;
import org.rdma4j.ulp.command.UsageException;

/** {@code ibdump}: captures until it is interrupted, has as many packets as asked for, or the device goes. */
@Component(
    service = Ibdump.class,
    immediate = true,
    property = {"osgi.command.scope=rdma", "osgi.command.function=ibdump"})
public final class Ibdump implements Command {
  private static final String NAME = "ibdump";
  private static final String DEFAULT_FILE = "sniffer.pcap";
  private static final int LOOK_MILLIS = 20;
  private static final String USAGE =
      """
      Usage: ibdump [options]

      Options:
        -d, --ib-dev=<dev>     use IB device <dev> (default rxe0)
        -w, --write=<file>     dump file name (default "sniffer.pcap"), in pcapng format
        -c, --count=<num>      end after <num> packets (default until interrupted)
        -h, --help             print this
      """;
  private static final Getopt OPTIONS =
      new Getopt(
          NAME,
          new Getopt.Option('d', "ib-dev", true),
          new Getopt.Option('w', "write", true),
          new Getopt.Option('c', "count", true),
          new Getopt.Option('h', "help", false));

  private final Function<String, PacketSource> sources;
  private final Set<PacketSource.Packets> running = ConcurrentHashMap.newKeySet();

  /** Made by Declarative Services. */
  @Activate
  public Ibdump(BundleContext context) {
    this(new PacketSources(context)::find);
  }

  Ibdump(Function<String, PacketSource> sources) {
    this.sources = sources;
  }

  /** The shell's entry. */
  public void ibdump(String[] arguments) {
    Command.execute(this, arguments);
  }

  /** When the container stops under a capture, its file is completed. */
  @Deactivate
  void deactivate() throws IOException {
    for (PacketSource.Packets each : running) {
      each.close();
    }
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException, InterruptedException {
    String device = "rxe0";
    String file = DEFAULT_FILE;
    int count = Integer.MAX_VALUE;
    try {
      for (Getopt.Given given : OPTIONS.parse(arguments).options()) {
        switch (given.letter()) {
          case 'd' -> device = given.argument();
          case 'w' -> file = given.argument();
          case 'c' -> count = Numbers.parse(NAME, "-c", given.argument(), 1, Integer.MAX_VALUE);
          default -> {
            out.print(USAGE);
            return 0;
          }
        }
      }
    } catch (UsageException e) {
      throw new CommandException(e.getMessage() + "\n" + USAGE.stripTrailing(), 1, e);
    }
    PacketSource source = sources.apply(device);
    if (source == null) {
      throw new CommandException("ibdump: IB device " + device + " not found, or its packets cannot be captured");
    }
    return capture(device, source, file, count, out);
  }

  private int capture(String device, PacketSource source, String file, int count, PrintStream out)
      throws CommandException, InterruptedException {
    out.println(" ------------------------------------------------");
    out.printf(" IB device                      : \"%s\"%n", device);
    out.printf(" Dump file                      : %s%n", file);
    out.println(" ------------------------------------------------");
    try (FileChannel channel = open(file)) {
      PacketSource.Packets capture = source.start(channel);
      running.add(capture);
      try {
        out.println("Ready to capture (Press ^c to stop):");
        out.flush();
        while (capture.isActive() && capture.packets() < count) {
          Thread.sleep(LOOK_MILLIS);
        }
      } finally {
        running.remove(capture);
        capture.close();
        out.printf("Captured: %8d packets, %8d bytes%n", capture.packets(), capture.bytes());
      }
    } catch (IOException | VerbsException | LinkException e) {
      throw new CommandException("ibdump: cannot capture to " + file, e);
    }
    return 0;
  }

  private static FileChannel open(String file) throws IOException {
    try {
      return FileChannel.open(
          Path.of(file), StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
    } catch (IllegalArgumentException e) {
      throw new IOException(e);
    }
  }
}
