package org.rdma4j.rxe;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.ThreadLocalRandom;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.GidType;
import org.rdma4j.roce.address.Gid;

/** A device on the loopback interface, registered without a container. */
final class TestLink implements AutoCloseable {
  private static final long PATIENCE_MILLIS = 5_000;

  final RxeDevice device;
  final DeviceControl control;
  final Gid gid;

  private TestLink(RxeSettings settings) {
    gid = settings.address();
    device =
        RxeRegistration.make(settings, device -> {}, () -> {});
    control = device.bind();
    control.load(settings.name(), 0);
    control.addGid(1, gid, GidType.ROCE_V2, settings.netdev(), false);
    control.enable();
    control.accept();
  }

  /** An address of 127.0.0.0/8 that no other test uses. */
  static Gid anyLoopback() {
    var random = ThreadLocalRandom.current();
    return Gid.ofIpv4(127 << 24 | random.nextInt(1, 255) << 16 | random.nextInt(1, 255) << 8 | random.nextInt(1, 255));
  }

  static TestLink open(String name) {
    return new TestLink(new RxeSettings(name, "lo", anyLoopback()));
  }

  static TestLink open(RxeSettings settings) {
    return new TestLink(settings);
  }

  static Gid gid(String address) {
    try {
      return Gid.of(InetAddress.getByName(address));
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(address, e);
    }
  }

  Context open() {
    return control.view("org.rdma4j.test").open();
  }

  /** The removal as the core does it. */
  void remove() {
    control.refuse();
    control.disassociate(PATIENCE_MILLIS);
    control.destroyLeft(PATIENCE_MILLIS);
    control.release();
  }

  @Override
  public void close() {
    remove();
  }
}
