package org.rdma4j.it.container;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;
import org.osgi.framework.BundleContext;
import org.osgi.framework.InvalidSyntaxException;
import org.rdma4j.ib.core.client.CaptureSource;
import org.rdma4j.ib.core.verbs.IbDevice;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.mlx5.core.AuxiliaryDevice;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.pci.PciCard;

/**
 * What the process holds at one moment that devices could have left: threads, sockets and event descriptors, services,
 * and blocks of native memory. Memory of arenas that the collector frees is known to the JDK as that of direct buffers;
 * arenas that are closed appear in the JVM's native memory tracking only.
 */
record Remains(int threads, long descriptors, int services, long nativeBlocks) {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);
  private static final List<Class<?>> SERVICES =
      List.of(
          IbDevice.class, RdmaDevice.class, CaptureSource.class, PciCard.class, ModelledCard.class, Mlx5Device.class,
          AuxiliaryDevice.class);
  private static final Pattern BLOCKS = Pattern.compile("Other \\(reserved=.*?#(\\d+)", Pattern.DOTALL);

  /** Now, after what can be collected has been: the JDK frees memory some time after a collection. */
  static Remains now(BundleContext context) {
    long[] blocks = {-1};
    collect(
        () -> {
          long before = blocks[0];
          blocks[0] = blocks();
          return blocks[0] == before;
        });
    try {
      int services = 0;
      for (Class<?> type : SERVICES) {
        var found = context.getAllServiceReferences(type.getName(), null);
        services += found == null ? 0 : found.length;
      }
      return new Remains(deviceThreads(), descriptorCount(), services, blocks[0]);
    } catch (InvalidSyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Collects garbage, more than once and until something holds or it is late. */
  static boolean collect(BooleanSupplier enough) {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    for (int round = 0; !enough.getAsBoolean() || round < 3; round++) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      System.gc();
    }
    return true;
  }

  private static int deviceThreads() {
    return (int)
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .filter(name -> name.startsWith("rxe-") || name.startsWith("ib-") || name.startsWith("mlx5-"))
            .filter(name -> !name.equals("ib-core netdev"))
            .count();
  }

  private static long descriptorCount() {
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all.map(Remains::target).filter(to -> to.startsWith("socket:") || to.contains("[eventfd]")).count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "closed";
    }
  }

  /** Allocated blocks of native memory that belong to no part of the JVM: those of arenas and direct buffers. */
  private static long blocks() {
    try {
      String summary =
          (String)
              ManagementFactory.getPlatformMBeanServer()
                  .invoke(
                      new ObjectName("com.sun.management:type=DiagnosticCommand"),
                      "vmNativeMemory",
                      new Object[] {new String[] {"summary"}},
                      new String[] {String[].class.getName()});
      Matcher blocks = BLOCKS.matcher(summary);
      if (!blocks.find()) {
        throw new IllegalStateException("start the JVM with -XX:NativeMemoryTracking=summary: " + summary);
      }
      return Long.parseLong(blocks.group(1));
    } catch (JMException e) {
      throw new IllegalStateException(e);
    }
  }
}
