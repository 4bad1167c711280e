package org.rdma4j.pci.internal;

import static org.rdma4j.pci.PciRegisters.COMMAND;
import static org.rdma4j.pci.PciRegisters.COMMAND_MASTER;
import static org.rdma4j.pci.PciRegisters.COMMAND_MEMORY;
import static org.rdma4j.pci.PciRegisters.EXPRESS_DEVICE_CONTROL;
import static org.rdma4j.pci.PciRegisters.EXPRESS_RESET;
import static org.rdma4j.pci.PciRegisters.MSIX_CONTROL;
import static org.rdma4j.pci.PciRegisters.POWER_CONTROL;
import static org.rdma4j.pci.PciRegisters.POWER_STATE;

import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rdma4j.pci.BarLayout;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciCard;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciDriver;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciErrorResult;
import org.rdma4j.pci.PciException;
import org.rdma4j.pci.PciFunction;
import org.rdma4j.pci.PciIdentity;

/**
 * A slot with a card in it: configuration space, and the decoder in front of the card's registers. Whether accesses
 * get through follows from the command register, the power state and whether the card is still there.
 */
final class Function implements PciFunction {
  private static final int NOTHING = -1;

  /** What becomes of accesses to registers; one look tells it. */
  private enum Access {
    LOST,
    SEEN,
    DIRECT
  }

  private final PciAddress address;
  private final PciCard card;
  private final PciIdentity identity;
  private final Map<Integer, BarLayout> bars;
  private final ConfigSpace config;
  private final MsixTable msix;
  private final DmaSpace dma = new DmaSpace();
  private final Tracing tracing;
  private final CardHost host;
  private final Binding binding = new Binding(this);
  private volatile PciChannelState channel = PciChannelState.NORMAL;
  private final AtomicBoolean takenOut = new AtomicBoolean();
  private volatile Access access = Access.LOST;
  private volatile boolean masters;

  Function(PciAddress address, PciCard card, MsixTable.Sink interrupts, Tracing tracing) {
    this.address = address;
    this.card = card;
    this.identity = card.identity();
    this.bars = Collections.unmodifiableMap(new TreeMap<>(card.bars()));
    this.config = ConfigLayout.of(card);
    this.msix = card.msix().map(layout -> new MsixTable(layout, interrupts)).orElse(null);
    this.tracing = tracing;
    this.host = new CardHost(this);
  }

  PciCard card() {
    return card;
  }

  @Override
  public Map<Integer, BarLayout> bars() {
    return bars;
  }

  ConfigSpace config() {
    return config;
  }

  /** Null when the card has no interrupts. */
  MsixTable msix() {
    return msix;
  }

  DmaSpace dma() {
    return dma;
  }

  CardHost host() {
    return host;
  }

  Tracing tracing() {
    return tracing;
  }

  Binding binding() {
    return binding;
  }

  /** Whether the card may use memory and interrupts of the host. */
  boolean masters() {
    return masters;
  }

  @Override
  public PciAddress address() {
    return address;
  }

  @Override
  public PciIdentity identity() {
    return identity;
  }

  @Override
  public Optional<String> driverName() {
    return binding.driverName();
  }

  @Override
  public PciChannelState channelState() {
    return channel;
  }

  void channel(PciChannelState state) {
    channel = state;
    evaluate();
  }

  @Override
  public int readConfig(int offset, int width) {
    int value = config.read(offset, width);
    return channel == PciChannelState.PERMANENT_FAILURE ? NOTHING >>> (Integer.SIZE - Byte.SIZE * width) : value;
  }

  @Override
  public void writeConfig(int offset, int width, int value) {
    ConfigSpace.check(offset, width);
    if (channel == PciChannelState.PERMANENT_FAILURE) {
      return;
    }
    if (tracing.isOn()) {
      tracing.tracer().configWrite(address, offset, width, value);
    }
    int last = offset + width - 1;
    if (covers(offset, last, ConfigLayout.EXPRESS + EXPRESS_DEVICE_CONTROL + 1)
        && (value >>> (8 * (ConfigLayout.EXPRESS + EXPRESS_DEVICE_CONTROL + 1 - offset)) & EXPRESS_RESET >> 8) != 0) {
      resetCard();
      return;
    }
    config.write(offset, width, value);
    if (msix != null && covers(offset, last, ConfigLayout.MSIX + MSIX_CONTROL + 1)) {
      msix.control(config.read(ConfigLayout.MSIX + MSIX_CONTROL, 2));
    }
    evaluate();
  }

  private static boolean covers(int first, int last, int register) {
    return first <= register && register <= last;
  }

  /** Looks again at what decides whether accesses get through, and who sees them. */
  synchronized void evaluate() {
    int command = config.read(COMMAND, 2);
    boolean awake = (config.read(ConfigLayout.POWER + POWER_CONTROL, 2) & POWER_STATE) == 0;
    boolean reachable = channel == PciChannelState.NORMAL && awake;
    boolean decodes = reachable && (command & COMMAND_MEMORY) != 0;
    access = !decodes ? Access.LOST : tracing.isOn() ? Access.SEEN : Access.DIRECT;
    masters = reachable && (command & COMMAND_MASTER) != 0;
  }

  /** Function-level reset: the card and its configuration are as after power-on, but for where its regions lie. */
  void resetCard() {
    masters = false;
    access = Access.LOST;
    card.reset();
    Map<Integer, Long> places = new TreeMap<>();
    bars.forEach((number, bar) -> places.put(number, ConfigLayout.barAddress(config, number, bar)));
    config.restore(ConfigLayout.of(card).save());
    places.forEach((number, place) -> ConfigLayout.placeBar(config, number, bars.get(number), place));
    if (msix != null) {
      msix.reset();
    }
    evaluate();
  }

  /** The card is to lose power: true for the one who has to see to it. */
  boolean takeOut() {
    return takenOut.compareAndSet(false, true);
  }

  /** Lets the driver recover from an error ({@code pcie_do_recovery}). */
  PciErrorResult recover(PciChannelState state) {
    PciDriver driver = binding.driver();
    DriverDevice device = binding.device();
    if (driver == null || device == null) {
      return PciErrorResult.NONE;
    }
    byte[] saved = config.save();
    channel(state);
    PciErrorResult wanted = driver.errorDetected(device, state);
    if (wanted == PciErrorResult.NEED_RESET || state == PciChannelState.FROZEN && wanted != PciErrorResult.DISCONNECT) {
      resetCard();
      channel(PciChannelState.NORMAL);
      device.restore(saved);
      wanted = driver.slotReset(device);
    }
    if (wanted != PciErrorResult.RECOVERED && wanted != PciErrorResult.CAN_RECOVER) {
      channel(PciChannelState.PERMANENT_FAILURE);
      return PciErrorResult.DISCONNECT;
    }
    channel(PciChannelState.NORMAL);
    driver.resume(device);
    return PciErrorResult.RECOVERED;
  }

  /** A read through the decoder; the range was checked. */
  int read(int bar, long offset) {
    Access how = access;
    if (how == Access.LOST) {
      return NOTHING;
    }
    int value = msix != null && msix.owns(bar, offset) ? msix.read(bar, offset) : card.read(bar, offset);
    if (how == Access.SEEN) {
      tracing.tracer().registerRead(address, bar, offset, value);
    }
    return value;
  }

  void write(int bar, long offset, int value) {
    Access how = access;
    if (how == Access.LOST) {
      return;
    }
    if (how == Access.SEEN) {
      tracing.tracer().registerWrite(address, bar, offset, Integer.BYTES, value);
    }
    if (msix != null && msix.owns(bar, offset)) {
      msix.write(bar, offset, value);
    } else {
      card.write(bar, offset, value);
    }
  }

  void write(int bar, long offset, long value) {
    if (msix != null && msix.owns(bar, offset)) {
      write(bar, offset, (int) value);
      write(bar, offset + Integer.BYTES, (int) (value >>> Integer.SIZE));
      return;
    }
    Access how = access;
    if (how == Access.SEEN) {
      tracing.tracer().registerWrite(address, bar, offset, Long.BYTES, value);
    }
    if (how != Access.LOST) {
      card.write(bar, offset, value);
    }
  }

  void write(int bar, long offset, MemorySegment source, long from, int length) {
    Access how = access;
    if (how == Access.SEEN) {
      tracing.tracer().registerWrite(address, bar, offset, source, from, length);
    }
    if (how != Access.LOST) {
      card.write(bar, offset, source, from, length);
    }
  }

  /** A processor waits for the card; whether that did something meanwhile. */
  boolean relax() {
    return access != Access.LOST && card.relax();
  }

  BarLayout bar(int number) {
    BarLayout bar = bars.get(number);
    if (bar == null) {
      throw new PciException(
          PciErrno.EINVAL, address + " has no region " + number + ", only " + bars.keySet());
    }
    return bar;
  }

  @Override
  public String toString() {
    return address.toString();
  }
}
