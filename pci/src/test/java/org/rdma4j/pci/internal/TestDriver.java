package org.rdma4j.pci.internal;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciDevice;
import org.rdma4j.pci.PciDriver;
import org.rdma4j.pci.PciErrorResult;
import org.rdma4j.pci.PciMatch;

/** A driver that notes what happens to it. */
final class TestDriver implements PciDriver {
  final List<String> calls = new CopyOnWriteArrayList<>();
  final String name;
  Consumer<PciDevice> onProbe = device -> {};
  Consumer<PciDevice> onRemove = device -> {};
  PciErrorResult onError = PciErrorResult.NEED_RESET;
  volatile PciDevice device;

  TestDriver(String name) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public List<PciMatch> matches() {
    return List.of(new PciMatch(0x15b3, 0x1019));
  }

  @Override
  public void probe(PciDevice probed) {
    calls.add("probe");
    onProbe.accept(probed);
    device = probed;
  }

  @Override
  public void remove(PciDevice removed) {
    calls.add("remove " + removed.channelState());
    onRemove.accept(removed);
    device = null;
  }

  @Override
  public PciErrorResult errorDetected(PciDevice failed, PciChannelState state) {
    calls.add("error " + state);
    return onError;
  }

  @Override
  public PciErrorResult slotReset(PciDevice reset) {
    calls.add("reset");
    return PciErrorResult.RECOVERED;
  }

  @Override
  public void resume(PciDevice recovered) {
    calls.add("resume");
  }
}
