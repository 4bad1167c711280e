package org.rdma4j.mlx5.device.internal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.WritableByteChannel;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.rdma4j.mlx5.device.CardFaults;
import org.rdma4j.mlx5.device.EntryTableUsage;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.mlx5.device.PageUsage;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.pci.BarLayout;
import org.rdma4j.pci.MsixLayout;
import org.rdma4j.pci.PciCard;
import org.rdma4j.pci.PciHost;
import org.rdma4j.pci.PciIdentity;
import org.rdma4j.roce.address.Guid;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.capture.CapturingLink;
import org.rdma4j.roce.capture.LinkCapture;
import org.rdma4j.roce.engine.Engine;
import org.rdma4j.roce.engine.EngineConfig;
import org.rdma4j.roce.engine.EngineCounter;
import org.rdma4j.roce.engine.EngineRunner;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Link;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A ConnectX-5 Ex as PCI sees it: one region with the initialization segment, the MSI-X table and the doorbell pages;
 * behind it the firmware and the transport engine. It is plugged in once.
 */
final class Card implements PciCard, ModelledCard, Faults.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(Card.class);
  private static final int LOG_ENTRIES = 5;
  private static final int LOG_STRIDE = 6;
  private static final int MAJOR = 16;
  private static final int MINOR = 35;
  private static final int SUB_MINOR = 1;
  private static final long MSIX_TABLE = 0x4000;
  private static final long MSIX_PENDING = 0x5000;
  private static final int ADDRESS_HIGH = (int) Layouts.INIT_SEGMENT.field("cmdq_addr_h").offset();
  private static final int ADDRESS_LOW = (int) Layouts.INIT_SEGMENT.field("cmdq_addr_l").offset();
  private static final int DOORBELL = (int) Layouts.INIT_SEGMENT.field("cmd_dbell").offset();
  private static final long FIRST_DOORBELL_PAGE = (long) Limits.FIRST_UAR * HostPages.PAGE;
  private static final int NIC_DISABLED = 1;
  private static final int NIC_SOFTWARE_RESET = 7;
  private static final int WINDOW_PACKETS = 128;
  private static final int READ_CHUNK_PACKETS = 64;
  private static final int RECEIVE_BATCH = 256;
  private static final int TRANSMIT_BURST = 64;

  private final CardSettings settings;
  private final CableLink link;
  private final LinkCapture captures;
  private final Faults faults = new Faults();
  private final Port port;
  private final Engine engine;
  private final Doorbells doorbells = new Doorbells(this::armed);
  private PciHost host; // this and the following: set when it is plugged in
  private EngineRunner runner;
  private FirmwareThread thread;
  private volatile Boot boot;
  private volatile Registers registers;

  /** A card whose packets nobody sees. */
  Card(CardSettings settings, Link way) {
    this(settings, way, new Tracing());
  }

  /** Builds a card without power; the link becomes its own. */
  Card(CardSettings settings, Link way, Tracing tracing) {
    this.settings = settings;
    CapturingLink tap = new CapturingLink(way, settings.name());
    this.link = new CableLink(tap, way, settings.name(), tracing);
    this.captures = new LinkCapture(settings.name(), tap);
    this.port = new Port(settings, link);
    int mtu = PathMtu.largestFor(settings.mtu()).bytes();
    EngineConfig config =
        new EngineConfig(
            mtu, 1L << Limits.LOG_MAX_MESSAGE, WINDOW_PACKETS, READ_CHUNK_PACKETS, RECEIVE_BATCH, TRANSMIT_BURST);
    this.engine = new Engine(config, Clock.SYSTEM, link, key -> boot.objects().keys().find(key), this::report);
    int[] pkeys = new int[Limits.PKEYS];
    pkeys[0] = 0xffff;
    engine.setPkeys(pkeys);
  }

  private void report(String where, Throwable cause) {
    LOG.error("{}: unexpected failure of the engine in {}", settings.name(), where, cause);
  }

  @Override
  public PciIdentity identity() {
    return new PciIdentity(
        0x15b3, 0x1019, 0x15b3, 0x0008, 0x020000, 0, "Mellanox Technologies", "MT28800 Family [ConnectX-5 Ex]");
  }

  @Override
  public Map<Integer, BarLayout> bars() {
    return Map.of(0, new BarLayout(1L << Limits.LOG_UAR_BYTES, true, true));
  }

  @Override
  public Optional<MsixLayout> msix() {
    return Optional.of(new MsixLayout(Limits.VECTORS, 0, MSIX_TABLE, 0, MSIX_PENDING));
  }

  @Override
  public void plugged(PciHost newHost) {
    host = new CardHost(newHost, faults, () -> link.connected(false));
    thread = new FirmwareThread(settings.name(), engine, faults, host);
    powerOn();
    faults.listener(this);
    runner = new EngineRunner(engine, "mlx5-" + settings.name(), Clock.SYSTEM, settings.idle());
  }

  @Override
  public void reset() {
    engine.run(this::powerOn);
  }

  @Override
  public void unplugged() {
    faults.listener(null);
    if (runner != null) {
      thread.close();
      engine.run(boot.objects()::clear);
      runner.close();
    }
    captures.close();
    link.close();
  }

  /** The card is thrown away; where it was never plugged in its way to the network ends here. */
  void discard() {
    if (host == null) {
      link.close();
    }
  }

  /** All that was is gone; the firmware starts. Engine thread. */
  private void powerOn() {
    if (boot != null) {
      boot.objects().clear();
    }
    faults.reset();
    Registers fresh = new Registers(MAJOR, MINOR, SUB_MINOR, LOG_ENTRIES, LOG_STRIDE);
    boot = new Boot(fresh, host, faults, link, engine, port);
    registers = fresh;
    thread.boot(boot);
  }

  @Override
  public int read(int bar, long offset) {
    return offset <= Registers.SIZE - Integer.BYTES ? registers.read(offset) : 0;
  }

  @Override
  public void write(int bar, long offset, int value) {
    int bigEndian = Integer.reverseBytes(value);
    if (offset < FIRST_DOORBELL_PAGE) {
      writeRegister((int) offset, bigEndian);
    } else if (!faults.isAsserted()) {
      doorbells.write(boot, offset, bigEndian);
    }
  }

  @Override
  public void write(int bar, long offset, long value) {
    if (offset < FIRST_DOORBELL_PAGE) {
      PciCard.super.write(bar, offset, value);
    } else if (!faults.isAsserted()) {
      doorbells.write(boot, offset, Long.reverseBytes(value));
    }
  }

  @Override
  public void write(int bar, long offset, MemorySegment source, long from, int length) {
    if (offset < FIRST_DOORBELL_PAGE || length < SendReader.BLOCK) {
      PciCard.super.write(bar, offset, source, from, length);
    } else if (!faults.isAsserted()) {
      doorbells.write(boot, offset, source, from, length);
    }
  }

  /** Who polls drives the engine, as the doorbell of one who arms calls it back. */
  @Override
  public boolean relax() {
    return runner.help(Clock.SYSTEM.nanoTime());
  }

  /** A completion queue was armed: who did it is going to sleep. */
  private void armed() {
    runner.recall();
  }

  private void writeRegister(int offset, int value) {
    if (offset == ADDRESS_HIGH) {
      registers.set("cmdq_addr_h", value);
    } else if (offset == ADDRESS_LOW) {
      registers.set("cmdq_addr_l", value >>> 12);
      interfaceState(value >>> 8 & 7);
    } else if (offset == DOORBELL) {
      thread.ring(value);
    }
  }

  /** The driver changes the state of its interface to the card. */
  private void interfaceState(int state) {
    registers.set("nic_interface", state == NIC_SOFTWARE_RESET ? NIC_DISABLED : state);
    if (state == NIC_SOFTWARE_RESET) {
      LOG.info("{}: software reset", settings.name());
      engine.run(this::powerOn);
    } else if (state == NIC_DISABLED) {
      engine.run(boot.objects().queuePairs()::freeze);
    }
  }

  @Override
  public void asserted(int syndrome) {
    LOG.warn("{}: the firmware asserts with syndrome 0x{}", settings.name(), Integer.toHexString(syndrome));
    registers.asserted(syndrome);
    engine.run(boot.objects().queuePairs()::freeze);
  }

  @Override
  public void cable(boolean plugged) {
    engine.run(() -> port.cable(plugged));
  }

  @Override
  public String name() {
    return settings.name();
  }

  @Override
  public String port() {
    return settings.port();
  }

  @Override
  public List<EntryTableUsage> tables() {
    Boot now = boot;
    return now == null ? List.of() : engine.call(now.objects()::usage);
  }

  @Override
  public List<String> entries(String table, int most) {
    Boot now = boot;
    if (now == null) {
      return List.of();
    }
    return engine.call(
        () -> {
          EntryTable found = now.objects().table(table);
          if (found == null) {
            throw new IllegalArgumentException("no table " + table);
          }
          return found.describe(most);
        });
  }

  @Override
  public Guid nodeGuid() {
    return Guid.ofMac(settings.mac());
  }

  @Override
  public LinkCapture.Running capture(WritableByteChannel destination) throws IOException {
    return captures.start(destination);
  }

  @Override
  public String syndrome(int number) {
    return Syndrome.text(number);
  }

  @Override
  public PageUsage pages() {
    Boot now = boot;
    if (now == null) {
      return new PageUsage(0, 0, 0);
    }
    return engine.call(
        () -> {
          HostPages pages = now.objects().pages();
          return new PageUsage(pages.size(), pages.free(), pages.requested());
        });
  }

  /** Duty cycles that were run by who waits for the card. */
  long helped() {
    return runner.helped();
  }

  /** Exceptions of the engine that no code expected. */
  long engineFaults() {
    return engine.counters().get(EngineCounter.FAULTS);
  }

  @Override
  public CardFaults faults() {
    return faults;
  }
}
