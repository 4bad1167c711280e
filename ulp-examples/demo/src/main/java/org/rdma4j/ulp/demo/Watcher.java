package org.rdma4j.ulp.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.rdma4j.ib.core.client.DeviceClient;
import org.rdma4j.ib.core.verbs.Context;

/** Two kernel style clients, one registered after the other, and the order in which they are told of devices. */
final class Watcher {
  /** The clients in order of registration. */
  static final List<String> CLIENTS = List.of("first", "second");

  private final List<Call> calls = new ArrayList<>();
  private final List<ServiceRegistration<DeviceClient>> registrations = new ArrayList<>();

  /**
   * One thing a client was told.
   *
   * @param client which client
   * @param added whether the device came; else it went
   * @param device which device
   */
  record Call(String client, boolean added, String device) {}

  /** Registers the clients; they are told of the devices that are there. */
  void start(BundleContext bundle) {
    for (String name : CLIENTS) {
      registrations.add(bundle.registerService(DeviceClient.class, new Client(name), null));
    }
  }

  /** Withdraws the clients. */
  void stop() {
    registrations.forEach(ServiceRegistration::unregister);
    registrations.clear();
  }

  /**
   * Which clients were told of a device coming or going, in order of the calls; waits until all were, within bounds.
   */
  List<String> order(boolean added, String device) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
    synchronized (calls) {
      while (found(added, device).size() < CLIENTS.size()) {
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (left <= 0) {
          break;
        }
        calls.wait(left);
      }
      return found(added, device);
    }
  }

  /** Forgets the calls so far. */
  void clear() {
    synchronized (calls) {
      calls.clear();
    }
  }

  private List<String> found(boolean added, String device) {
    return calls.stream()
        .filter(call -> call.added() == added && call.device().equals(device))
        .map(Call::client)
        .toList();
  }

  private void called(Call call) {
    synchronized (calls) {
      calls.add(call);
      calls.notifyAll();
    }
  }

  private final class Client implements DeviceClient {
    private final String name;

    Client(String name) {
      this.name = name;
    }

    @Override
    public String name() {
      return DemoCommand.NAME + " " + name;
    }

    @Override
    public void add(Context context) {
      called(new Call(name, true, context.deviceName()));
    }

    @Override
    public void remove(Context context) {
      called(new Call(name, false, context.deviceName()));
    }
  }
}
