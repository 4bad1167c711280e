package org.rdma4j.ulp.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.roce.address.Gid;

/** The bundle that registered a device, known only by that; and what it may leave behind when it is stopped. */
final class Provider {
  private static final Path OWN_FILES = Path.of("/proc/self/fd");
  private static final List<Path> UDP = List.of(Path.of("/proc/self/net/udp"), Path.of("/proc/self/net/udp6"));
  private static final String ROCE_PORT = ":12B7";
  private static final int INODE_COLUMN = 9;

  private final Bundle bundle;

  private Provider(Bundle bundle) {
    this.bundle = bundle;
  }

  /** The provider of a device, or null where it is not known. */
  static Provider of(BundleContext context, String device) {
    try {
      for (ServiceReference<IbDevice> each : context.getServiceReferences(IbDevice.class, null)) {
        IbDevice found = context.getService(each);
        try {
          if (found != null && found.name().equals(device)) {
            return new Provider(each.getBundle());
          }
        } finally {
          context.ungetService(each);
        }
      }
      return null;
    } catch (InvalidSyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  String name() {
    return bundle.getSymbolicName();
  }

  boolean isSame(Provider other) {
    return other != null && bundle.equals(other.bundle);
  }

  /** Stops the bundle; returns when it is stopped. */
  void stop() throws BundleException {
    bundle.stop(Bundle.STOP_TRANSIENT);
  }

  /** Starts the bundle again. */
  void start() throws BundleException {
    bundle.start(Bundle.START_TRANSIENT);
  }

  /** How many services it has registered. */
  int services() {
    ServiceReference<?>[] found = bundle.getRegisteredServices();
    return found == null ? 0 : found.length;
  }

  /** Threads that are named after one of the devices or run code of the bundle. */
  List<String> threads(List<String> devices) {
    Set<String> classes = classes();
    Pattern named = Pattern.compile("\\b(" + String.join("|", devices) + ")\\b");
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(each -> !each.getKey().getName().startsWith(DemoCommand.NAME))
        .filter(
            each -> named.matcher(each.getKey().getName()).find() || runs(each.getValue(), classes))
        .map(Map.Entry::getKey)
        .map(Thread::getName)
        .toList();
  }

  private static boolean runs(StackTraceElement[] stack, Set<String> classes) {
    return Arrays.stream(stack).map(StackTraceElement::getClassName).anyMatch(classes::contains);
  }

  private Set<String> classes() {
    var entries = bundle.findEntries("/", "*.class", true);
    if (entries == null) {
      return Set.of();
    }
    return Collections.list(entries).stream()
        .map(URL::getPath)
        .map(path -> path.substring(1, path.length() - ".class".length()).replace('/', '.'))
        .collect(Collectors.toSet());
  }

  /** How many UDP sockets this process has on the port of RoCE and these addresses, or -1 where it is not told. */
  static int sockets(List<Gid> addresses) {
    if (!Files.isDirectory(OWN_FILES)) {
      return -1;
    }
    Set<String> own = new TreeSet<>();
    try (Stream<Path> files = Files.list(OWN_FILES)) {
      files.forEach(file -> own.add(target(file)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    int count = 0;
    for (Path table : UDP) {
      try {
        for (String line : Files.readAllLines(table)) {
          String[] columns = line.strip().split("\\s+");
          if (columns.length > INODE_COLUMN
              && addresses.stream().anyMatch(address -> columns[1].endsWith(lastWord(address) + ROCE_PORT))
              && own.contains("socket:[" + columns[INODE_COLUMN] + "]")) {
            count++;
          }
        }
      } catch (IOException e) {
        // A system without IPv6 has no such table.
      }
    }
    return count;
  }

  /** The kernel shows each word of an address as it lies in memory. */
  private static String lastWord(Gid address) {
    return String.format("%08X", Integer.reverseBytes((int) address.lo()));
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      return ""; // closed meanwhile, as the one of this very listing
    }
  }
}
