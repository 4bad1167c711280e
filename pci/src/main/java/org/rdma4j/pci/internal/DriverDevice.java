package org.rdma4j.pci.internal;

import static org.rdma4j.pci.PciRegisters.CAP_POWER;
import static org.rdma4j.pci.PciRegisters.COMMAND;
import static org.rdma4j.pci.PciRegisters.COMMAND_INTX_DISABLE;
import static org.rdma4j.pci.PciRegisters.COMMAND_MASTER;
import static org.rdma4j.pci.PciRegisters.COMMAND_MEMORY;
import static org.rdma4j.pci.PciRegisters.MSIX_CONTROL;
import static org.rdma4j.pci.PciRegisters.MSIX_ENABLE;
import static org.rdma4j.pci.PciRegisters.POWER_CONTROL;
import static org.rdma4j.pci.PciRegisters.POWER_STATE;
import static org.rdma4j.pci.PciRegisters.VENDOR_ID;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.rdma4j.pci.Bar;
import org.rdma4j.pci.BarLayout;
import org.rdma4j.pci.DmaDirection;
import org.rdma4j.pci.DmaMapping;
import org.rdma4j.pci.DmaScatter;
import org.rdma4j.pci.IrqHandler;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciDevice;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;
import org.rdma4j.pci.PciIdentity;

/** A function in the hands of one driver, from probe to remove; knows what the driver holds. */
final class DriverDevice implements PciDevice {
  private final Function function;
  private final InterruptController controller;
  private final Map<Integer, Irq> irqs = new TreeMap<>(); // guarded by this
  private int vectors; // guarded by this
  private volatile boolean closed;

  DriverDevice(Function function, InterruptController controller) {
    this.function = function;
    this.controller = controller;
  }

  @Override
  public PciAddress address() {
    return function.address();
  }

  @Override
  public PciIdentity identity() {
    return function.identity();
  }

  @Override
  public Optional<String> driverName() {
    return function.driverName();
  }

  @Override
  public PciChannelState channelState() {
    return function.channelState();
  }

  @Override
  public Map<Integer, BarLayout> bars() {
    return function.bars();
  }

  @Override
  public int readConfig(int offset, int width) {
    return function.readConfig(offset, width);
  }

  @Override
  public void writeConfig(int offset, int width, int value) {
    checkOpen();
    function.writeConfig(offset, width, value);
  }

  @Override
  public void enable() {
    checkOpen();
    int power = findCapability(CAP_POWER);
    if (power != 0) {
      writeConfig(power + POWER_CONTROL, 2, readConfig(power + POWER_CONTROL, 2) & ~POWER_STATE);
    }
    command(COMMAND_MEMORY | COMMAND_INTX_DISABLE, 0);
    if (readConfig(VENDOR_ID, 2) != identity().vendor()) {
      throw new PciException(PciErrno.EIO, function + " does not answer");
    }
  }

  @Override
  public void disable() {
    checkOpen();
    command(0, COMMAND_MEMORY | COMMAND_MASTER);
  }

  @Override
  public void setMaster(boolean on) {
    checkOpen();
    command(on ? COMMAND_MASTER : 0, on ? 0 : COMMAND_MASTER);
  }

  private void command(int set, int clear) {
    function.writeConfig(COMMAND, 2, function.readConfig(COMMAND, 2) & ~clear | set);
  }

  @Override
  public void setDmaMask(int bits) {
    checkOpen();
    function.dma().limit(bits);
  }

  @Override
  public Bar bar(int number) {
    checkOpen();
    return new MappedBar(function, number);
  }

  @Override
  public DmaMapping allocate(long length) {
    checkOpen();
    return function.dma().allocate(length);
  }

  @Override
  public DmaMapping map(MemorySegment segment, DmaDirection direction) {
    checkOpen();
    return function.dma().map(segment, direction);
  }

  @Override
  public DmaScatter map(List<MemorySegment> pieces, long pageSize, DmaDirection direction) {
    checkOpen();
    return function.dma().map(pieces, pageSize, direction);
  }

  @Override
  public synchronized int allocateVectors(int least, int most) {
    checkOpen();
    if (least < 1 || most < least) {
      throw new PciException(
          PciErrno.EINVAL, "vectors %d to %d: at least 1 is needed, and no more than wanted".formatted(least, most));
    }
    MsixTable msix = function.msix();
    if (msix == null) {
      throw new PciException(PciErrno.ENOTSUP, function + " has no MSI-X");
    }
    if (vectors > 0) {
      throw new PciException(PciErrno.EBUSY, function + " has " + vectors + " vectors allocated already");
    }
    if (msix.vectors() < least) {
      throw new PciException(
          PciErrno.ENOSPC, function + " has " + msix.vectors() + " vectors, " + least + " are needed");
    }
    vectors = Math.min(most, msix.vectors());
    msixControl(MSIX_ENABLE);
    return vectors;
  }

  private void msixControl(int bits) {
    function.writeConfig(ConfigLayout.MSIX + MSIX_CONTROL, 2, bits);
  }

  @Override
  public boolean relax() {
    return function.relax();
  }

  @Override
  public synchronized void requestIrq(int vector, int processor, String name, IrqHandler handler) {
    checkOpen();
    if (vector < 0 || vector >= vectors) {
      throw new PciException(
          PciErrno.EINVAL, function + ": vector " + vector + " is not among the " + vectors + " allocated");
    }
    if (irqs.containsKey(vector)) {
      throw new PciException(
          PciErrno.EBUSY, function + ": vector " + vector + " is in use as " + irqs.get(vector).name());
    }
    if (processor < 0) {
      throw new PciException(PciErrno.EINVAL, function + ": processor " + processor + ": at least 0 is allowed");
    }
    Irq irq = controller.connect(vector, processor, name, handler);
    irqs.put(vector, irq);
    program(vector, irq);
  }

  @Override
  public synchronized int processor(int vector) {
    Irq irq = irqs.get(vector);
    if (irq == null) {
      throw new PciException(
          PciErrno.EINVAL, function + ": vector " + vector + " has no handler, only " + irqs.keySet() + " have");
    }
    return irq.processor();
  }

  private void program(int vector, Irq irq) {
    MsixTable msix = function.msix();
    msix.program(vector, InterruptController.addressOf(irq), irq.number());
  }

  @Override
  public void freeIrq(int vector) {
    Irq irq;
    synchronized (this) {
      irq = irqs.get(vector);
    }
    if (irq != null) {
      irq.checkOutside();
      function.msix().mask(vector);
      controller.disconnect(irq);
      synchronized (this) {
        irqs.remove(vector, irq);
      }
    }
  }

  @Override
  public synchronized void freeVectors() {
    if (!irqs.isEmpty()) {
      throw new PciException(PciErrno.EBUSY, function + ": vectors " + irqs.keySet() + " have handlers");
    }
    if (vectors > 0) {
      vectors = 0;
      msixControl(0);
    }
  }

  @Override
  public void reset() {
    checkOpen();
    if (channelState() == PciChannelState.PERMANENT_FAILURE) {
      throw new PciException(PciErrno.EIO, function + " does not answer");
    }
    byte[] saved = function.config().save();
    function.resetCard();
    restore(saved);
  }

  /** Gives the function the configuration and the vectors that it had before a reset. */
  synchronized void restore(byte[] saved) {
    function.config().restore(saved);
    irqs.forEach(this::program);
    function.writeConfig(COMMAND, 2, function.readConfig(COMMAND, 2));
    if (vectors > 0) {
      msixControl(MSIX_ENABLE);
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new PciException(PciErrno.ENODEV, function + " does not belong to this driver any more");
    }
  }

  /** A line of the interrupts of this function. */
  synchronized List<Map.Entry<Integer, Irq>> interrupts() {
    return irqs.entrySet().stream().map(each -> Map.entry(each.getKey(), each.getValue())).toList();
  }

  /**
   * Takes everything back.
   *
   * @return what the driver still held, in words
   */
  List<String> close() {
    List<String> held = new ArrayList<>();
    for (Map.Entry<Integer, Irq> each : interrupts()) {
      held.add("irq of vector " + each.getKey() + " (" + each.getValue().name() + ")");
      freeIrq(each.getKey());
    }
    synchronized (this) {
      if (vectors > 0) {
        held.add(vectors + " vectors");
      }
    }
    freeVectors();
    command(0, COMMAND_MASTER);
    for (DmaMapping each : function.dma().mappings()) {
      held.add("DMA mapping " + each);
      each.close();
    }
    command(0, COMMAND_MEMORY);
    closed = true;
    return held;
  }
}
