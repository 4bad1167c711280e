package org.rdma4j.ib.core.internal;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.rdma4j.ib.core.fake.FakeDevice;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.DeviceControl;

/** Changes the loopback interface of the network namespace it runs in and checks that a device on it is told. */
final class NetdevProbe {
  /** Less than the watch needs when it only looks every few seconds: what comes in time came by rtnetlink. */
  private static final Duration SOON = Duration.ofMillis(2_500);

  private NetdevProbe() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    GidManager manager = new GidManager(Netdevs::read);
    try (NetdevWatch watch = new NetdevWatch(manager::rescan)) {
      watch.start();
      FakeDevice device = new FakeDevice("fake0").netdev("lo");
      DeviceControl control = device.bind();
      control.load("fake0", 0);
      manager.attach(control);
      control.accept();
      Context context = control.view("test").open();
      List<String> before = List.copyOf(device.log);
      ip("address", "add", "192.0.2.9/32", "dev", "lo");
      expectGidChange(context, "addGid", device);
      ip("address", "del", "192.0.2.9/32", "dev", "lo");
      expectGidChange(context, "removeGid", device);
      ip("address", "add", "2001:db8::9/128", "dev", "lo", "nodad");
      expectGidChange(context, "addGid", device);
      manager.detach(control);
      check(before.stream().anyMatch(each -> each.endsWith("::ffff:127.0.0.1")), "loopback address first: " + before);
      check(device.log.getLast().endsWith("2001:db8::9"), "IPv6 last: " + device.log);
    }
  }

  private static void expectGidChange(Context context, String what, FakeDevice device) {
    var event = context.getAsyncEvent(SOON);
    check(event != null && event.type() == AsyncEventType.GID_CHANGE, "GID_CHANGE expected, not " + event);
    check(device.log.getLast().startsWith(what), what + " expected: " + device.log);
  }

  private static void check(boolean condition, String otherwise) {
    if (!condition) {
      throw new IllegalStateException(otherwise);
    }
  }

  private static void ip(String... arguments) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder("ip");
    builder.command().addAll(List.of(arguments));
    int status = builder.inheritIO().start().waitFor();
    check(status == 0, "ip " + List.of(arguments) + " exits with " + status);
  }
}
