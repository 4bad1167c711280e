package org.rdma4j.mlx5.core.internal;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.rdma4j.mlx5.core.CommandTracer;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciDevice;
import org.rdma4j.pci.PciDriver;
import org.rdma4j.pci.PciErrorResult;
import org.rdma4j.pci.PciMatch;

/** The driver, as the bus sees it (kernel: {@code main.c}, {@code mlx5_core_driver}). */
final class CoreDriver implements PciDriver {
  private static final int MELLANOX = 0x15b3;
  private static final int[] DEVICES = {
    0x1011, 0x1012, 0x1013, 0x1014, 0x1015, 0x1016, 0x1017, 0x1018, 0x1019, 0x101a, 0x101b, 0x101c, 0x101d, 0x101e,
    0x101f, 0x1021, 0x1023, 0x1025, 0x1027, 0x2101, 0xa2d2, 0xa2d3, 0xa2d6, 0xa2dc, 0xa2df
  };
  private static final List<PciMatch> MATCHES =
      IntStream.of(DEVICES).mapToObj(device -> new PciMatch(MELLANOX, device)).toList();

  private record Held(CoreDevice device, int index) {}

  private final AuxiliaryPublisher publisher;
  private final Map<PciDevice, Held> devices = new ConcurrentHashMap<>();
  private final BitSet indices = new BitSet(); // guarded by itself
  private final Tracing tracing = new Tracing();
  private volatile CoreSettings settings;

  CoreDriver(AuxiliaryPublisher publisher, CoreSettings settings) {
    this.publisher = publisher;
    this.settings = settings;
  }

  /** From now on cards are taken over with other settings; those that are there keep theirs. */
  void settings(CoreSettings changed) {
    settings = changed;
  }

  /** Lets somebody see the commands of all cards, or nobody with null. */
  void trace(CommandTracer tracer) {
    tracing.tracer(tracer);
  }

  @Override
  public String name() {
    return "mlx5_core";
  }

  @Override
  public List<PciMatch> matches() {
    return MATCHES;
  }

  @Override
  public void probe(PciDevice pci) {
    int index = takeIndex();
    CoreDevice device = new CoreDevice(pci, publisher, index, settings, tracing);
    boolean done = false;
    try {
      device.probe();
      devices.put(pci, new Held(device, index));
      done = true;
    } finally {
      if (!done) {
        giveIndex(index);
      }
    }
  }

  private int takeIndex() {
    synchronized (indices) {
      int index = indices.nextClearBit(0);
      indices.set(index);
      return index;
    }
  }

  private void giveIndex(int index) {
    synchronized (indices) {
      indices.clear(index);
    }
  }

  @Override
  public void remove(PciDevice pci) {
    Held held = devices.remove(pci);
    if (held != null) {
      held.device().remove();
      giveIndex(held.index());
    }
  }

  @Override
  public void shutdown(PciDevice pci) {
    Held held = devices.remove(pci);
    if (held != null) {
      held.device().shutdown();
      giveIndex(held.index());
    }
  }

  @Override
  public PciErrorResult errorDetected(PciDevice pci, PciChannelState state) {
    return devices.get(pci).device().pciError(state) ? PciErrorResult.NEED_RESET : PciErrorResult.DISCONNECT;
  }

  @Override
  public PciErrorResult slotReset(PciDevice pci) {
    return devices.get(pci).device().slotReset() ? PciErrorResult.RECOVERED : PciErrorResult.DISCONNECT;
  }

  @Override
  public void resume(PciDevice pci) {
    devices.get(pci).device().resume();
  }
}
