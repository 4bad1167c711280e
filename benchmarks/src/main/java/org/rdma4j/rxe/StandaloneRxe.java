package org.rdma4j.rxe;

import java.util.function.UnaryOperator;
import org.rdma4j.benchmarks.speed.MeasuredDevice;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.GidType;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.capture.CapturingLink;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.LinkCounter;
import org.rdma4j.roce.link.UdpLinks;

/**
 * A device on the loopback interface without a container, brought through the steps that the core takes it through. In
 * the provider's package, because the provider exports nothing.
 */
public final class StandaloneRxe implements MeasuredDevice {
  private static final String NETDEV = "lo";
  private static final long PATIENCE_MILLIS = 5_000;

  private final DeviceControl control;
  private final RxeDevice device;

  /**
   * Makes a device.
   *
   * @param name its name
   * @param address an address of 127.0.0.0/8, as an IPv4-mapped GID
   */
  public StandaloneRxe(String name, Gid address) {
    this(name, address, UnaryOperator.identity());
  }

  /**
   * Makes and enables a device whose link is changed.
   *
   * @param name name of the device
   * @param address an address of 127.0.0.0/8, as an IPv4-mapped GID
   * @param around makes a link from the usual one
   */
  public StandaloneRxe(String name, Gid address, UnaryOperator<Link> around) {
    RxeSettings settings = new RxeSettings(name, NETDEV, address);
    Link link = around.apply(UdpLinks.open(settings.link()));
    device =
        new RxeDevice(settings, PortNetdev.find(NETDEV), new CapturingLink(link, name), released -> {}, () -> {});
    control = device.bind();
    control.load(name, 0);
    control.addGid(1, address, GidType.ROCE_V2, NETDEV, false);
    control.enable();
    control.accept();
  }

  @Override
  public Context open() {
    return control.view("org.rdma4j.benchmarks").open();
  }

  /**
   * Opens the device in the kernel's style.
   *
   * @param name name of the client
   * @return a context of its own
   */
  public Context openClient(String name) {
    return control.openClient("org.rdma4j.benchmarks", name);
  }

  /**
   * Reads a counter of the device's link.
   *
   * @param counter which one
   * @return its value
   */
  public long linkCounter(LinkCounter counter) {
    return device.engine().link().counters().get(counter);
  }

  @Override
  public void close() {
    control.refuse();
    control.disassociate(PATIENCE_MILLIS);
    control.destroyLeft(PATIENCE_MILLIS);
    control.release();
  }
}
