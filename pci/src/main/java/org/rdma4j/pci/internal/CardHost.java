package org.rdma4j.pci.internal;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.DmaWindow;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciErrno;
import org.rdma4j.pci.PciException;
import org.rdma4j.pci.PciHost;
import org.rdma4j.pci.PciRegisters;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The host as one card sees it: every access is checked against what its driver has mapped. */
final class CardHost implements PciHost {
  private static final Logger LOG = LoggerFactory.getLogger(CardHost.class);
  private static final int LOGGED_FAULTS = 10;

  private final Function function;
  private final AtomicLong faults = new AtomicLong();

  CardHost(Function function) {
    this.function = function;
  }

  /** How often the card has touched what it must not. */
  long faults() {
    return faults.get();
  }

  @Override
  public void read(long address, MemorySegment target, long at, long length) throws DmaFault {
    trace(address, length, false);
    long done = 0;
    while (done < length) {
      DmaWindow window = find(address + done, 1, false);
      long offset = address + done - window.address();
      long count = Math.min(length - done, window.length() - offset);
      copy(window.segment(), offset, target, at + done, count, false, address + done);
      done += count;
    }
  }

  @Override
  public void write(long address, MemorySegment source, long at, long length) throws DmaFault {
    trace(address, length, true);
    long done = 0;
    while (done < length) {
      DmaWindow window = find(address + done, 1, true);
      long offset = address + done - window.address();
      long count = Math.min(length - done, window.length() - offset);
      copy(source, at + done, window.segment(), offset, count, true, address + done);
      done += count;
    }
  }

  /** The driver may free the memory at any moment: then it is not mapped any more. */
  private void copy(
      MemorySegment from, long fromAt, MemorySegment to, long toAt, long count, boolean write, long address)
      throws DmaFault {
    try {
      MemorySegment.copy(from, fromAt, to, toAt, count);
    } catch (IllegalStateException e) {
      throw fault(DmaFault.Reason.UNMAPPED, write, address, count);
    }
  }

  @Override
  public DmaWindow window(long address, long length, boolean write) throws DmaFault {
    trace(address, length, write);
    return find(address, length, write);
  }

  private void trace(long address, long length, boolean write) {
    if (function.tracing().isOn()) {
      function.tracing().tracer().dma(function.address(), write, address, length);
    }
  }

  private DmaWindow find(long address, long length, boolean write) throws DmaFault {
    if (!function.masters()) {
      boolean gone = function.channelState() == PciChannelState.PERMANENT_FAILURE;
      throw fault(gone ? DmaFault.Reason.GONE : DmaFault.Reason.BUS_MASTER_OFF, write, address, length);
    }
    Range range = function.dma().find(address);
    if (range == null || length > range.length() - (address - range.address())) {
      throw fault(DmaFault.Reason.UNMAPPED, write, address, length);
    }
    if (write ? !range.direction().deviceWrites() : !range.direction().deviceReads()) {
      throw fault(DmaFault.Reason.DIRECTION, write, address, length);
    }
    return range;
  }

  private DmaFault fault(DmaFault.Reason reason, boolean write, long address, long length) {
    DmaFault fault = new DmaFault(reason, write, address, length);
    if (reason == DmaFault.Reason.UNMAPPED || reason == DmaFault.Reason.DIRECTION) {
      function.config().raise(PciRegisters.STATUS, PciRegisters.STATUS_RECEIVED_MASTER_ABORT);
      long number = faults.incrementAndGet();
      if (number <= LOGGED_FAULTS) {
        LOG.warn(
            "{}: {}{}", function, fault.getMessage(), number == LOGGED_FAULTS ? "; further faults are not logged" : "");
      }
    }
    return fault;
  }

  @Override
  public void raise(int vector) {
    MsixTable msix = function.msix();
    if (msix == null || vector < 0 || vector >= msix.vectors()) {
      throw new PciException(
          PciErrno.EINVAL, function + " has no vector " + vector + " among " + (msix == null ? 0 : msix.vectors()));
    }
    if (function.masters()) {
      if (function.tracing().isOn()) {
        function.tracing().tracer().interrupt(function.address(), vector);
      }
      msix.raise(vector);
    }
  }
}
