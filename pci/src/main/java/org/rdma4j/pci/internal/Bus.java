package org.rdma4j.pci.internal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciBus;
import org.rdma4j.pci.PciCard;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciDriver;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciErrorResult;
import org.rdma4j.pci.PciException;
import org.rdma4j.pci.PciFunction;
import org.rdma4j.pci.PciInterrupt;
import org.rdma4j.pci.PciTracer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All slots and all drivers. A card and a driver that come at the same time find each other: each is listed before it
 * looks at the other list, and a function takes one driver only.
 */
public final class Bus implements PciBus, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Bus.class);
  private static final int FIRST_BUS = 3;
  private static final int LAST_BUS = 0xff;

  private final TreeMap<PciAddress, Function> functions = new TreeMap<>(); // guarded by itself
  private final Set<PciAddress> reserved = new HashSet<>(); // guarded by functions
  private final List<PciDriver> drivers = new CopyOnWriteArrayList<>();
  private final InterruptController controller = new InterruptController();
  private final MemoryWindows windows = new MemoryWindows();
  private final Tracing tracing = new Tracing();

  /** Makes an empty bus. */
  public Bus() {}

  @Override
  public List<PciFunction> functions() {
    return List.copyOf(all());
  }

  private List<Function> all() {
    synchronized (functions) {
      return new ArrayList<>(functions.values());
    }
  }

  @Override
  public Optional<PciFunction> function(PciAddress address) {
    synchronized (functions) {
      return Optional.ofNullable(functions.get(address));
    }
  }

  @Override
  public List<PciInterrupt> interrupts() {
    List<PciInterrupt> lines = new ArrayList<>();
    for (Function function : all()) {
      DriverDevice device = function.binding().device();
      if (device != null) {
        for (Map.Entry<Integer, Irq> each : device.interrupts()) {
          Irq irq = each.getValue();
          lines.add(new PciInterrupt(irq.number(), function.address(), each.getKey(), irq.name(), irq.count()));
        }
      }
    }
    lines.sort(Comparator.comparingInt(PciInterrupt::irq));
    return lines;
  }

  @Override
  public PciFunction plug(PciCard card, PciAddress slot) {
    PciAddress address = reserve(slot);
    Function function = null;
    try {
      function = new Function(address, card, controller, tracing);
    } finally {
      synchronized (functions) {
        reserved.remove(address);
        if (function != null) {
          functions.put(address, function);
        }
      }
    }
    try {
      place(function);
      card.plugged(function.host());
    } catch (RuntimeException | LinkageError e) {
      forget(function);
      throw e instanceof PciException known
          ? known
          : new PciException(PciErrno.EIO, "the card in " + function + " does not come up: " + e, e);
    }
    LOG.info("{}: {} {}", function, card.identity().vendorName(), card.identity().deviceName());
    for (PciDriver driver : drivers) {
      offer(function, driver);
    }
    return function;
  }

  private PciAddress reserve(PciAddress slot) {
    synchronized (functions) {
      PciAddress address = slot == null ? freeSlot() : slot;
      if (functions.containsKey(address) || !reserved.add(address)) {
        throw new PciException(PciErrno.EEXIST, "slot " + address + " is taken; taken are " + functions.keySet());
      }
      return address;
    }
  }

  private PciAddress freeSlot() {
    for (int bus = FIRST_BUS; bus <= LAST_BUS; bus++) {
      PciAddress candidate = new PciAddress(0, bus, 0, 0);
      if (!functions.containsKey(candidate) && !reserved.contains(candidate)) {
        return candidate;
      }
    }
    throw new PciException(PciErrno.ENOMEM, "all slots are taken");
  }

  private void place(Function function) {
    function
        .bars()
        .forEach((number, bar) -> ConfigLayout.placeBar(function.config(), number, bar, windows.take(bar)));
  }

  private void forget(Function function) {
    synchronized (functions) {
      functions.remove(function.address(), function);
    }
    function
        .bars()
        .forEach(
            (number, bar) -> windows.release(bar, ConfigLayout.barAddress(function.config(), number, bar)));
  }

  /** A driver that goes meanwhile has left the list, then its functions: one that it gets after that is taken again. */
  private void offer(Function function, PciDriver driver) {
    if (driver.matches().stream().anyMatch(match -> match.matches(function.identity()))) {
      function.binding().bind(driver, controller);
      if (!drivers.contains(driver)) {
        function.binding().unbind(driver, false);
      }
    }
  }

  @Override
  public void unplug(PciAddress address) {
    takeOut(occupied(address));
  }

  @Override
  public void pull(PciAddress address) {
    Function function = occupied(address);
    LOG.warn("{}: pulled out", function);
    function.channel(PciChannelState.PERMANENT_FAILURE);
    takeOut(function);
  }

  private Function occupied(PciAddress address) {
    synchronized (functions) {
      Function function = functions.get(address);
      if (function == null) {
        throw new PciException(PciErrno.ENXIO, "slot " + address + " is empty; taken are " + functions.keySet());
      }
      return function;
    }
  }

  private void takeOut(Function function) {
    function.binding().unbind(null, true);
    boolean mine;
    synchronized (functions) {
      mine = functions.get(function.address()) == function;
    }
    if (mine && function.takeOut()) {
      try {
        function.card().unplugged();
      } catch (RuntimeException | LinkageError e) {
        LOG.error("{}: the card failed when it lost power", function, e);
      }
      forget(function);
    }
  }

  /** Takes out the slot that a card is in, if it is in one. */
  void unplug(PciCard card) {
    all().stream().filter(each -> each.card() == card).forEach(this::takeOut);
  }

  @Override
  public PciErrorResult reportError(PciAddress address, PciChannelState state) {
    if (state == PciChannelState.PERMANENT_FAILURE) {
      throw new PciException(PciErrno.EINVAL, "a permanent failure is no error to recover from: pull the card out");
    }
    return occupied(address).recover(state);
  }

  /** Lets somebody see what passes between drivers and cards, or nobody with null. */
  public void trace(PciTracer tracer) {
    tracing.tracer(tracer);
    all().forEach(Function::evaluate);
  }

  /** A driver has come. */
  public void add(PciDriver driver) {
    drivers.add(driver);
    all().forEach(function -> offer(function, driver));
  }

  /** A driver goes; returns when it has given all functions back. */
  public void remove(PciDriver driver) {
    drivers.remove(driver);
    all().reversed().forEach(function -> function.binding().unbind(driver, false));
  }

  @Override
  public void close() {
    all().reversed().forEach(this::takeOut);
    controller.close();
  }
}
