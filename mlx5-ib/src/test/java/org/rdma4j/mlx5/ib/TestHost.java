package org.rdma4j.mlx5.ib;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.cm.ConfigurationException;
import org.osgi.service.cm.ManagedServiceFactory;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.GidType;
import org.rdma4j.mlx5.core.AuxiliaryDevice;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.internal.CoreBundle;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.mlx5.device.internal.CardBundle;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciBus;
import org.rdma4j.pci.PciCard;
import org.rdma4j.pci.PciDriver;
import org.rdma4j.pci.standalone.StandaloneBus;
import org.rdma4j.roce.address.Gid;

/** A modelled card, its PCI driver and its verbs device, without a container: a bus, and services that go to it. */
final class TestHost implements AutoCloseable {
  static final PciAddress SLOT = PciAddress.parse("0000:03:00.0");
  private static final long PATIENCE_MILLIS = 10_000;

  private final List<AuxiliaryDevice> offered = new ArrayList<>();
  private final StandaloneBus bus = new StandaloneBus();
  private final BundleContext context = proxy(BundleContext.class, this::called);
  private final ServiceReference<?> busReference =
      proxy(
          ServiceReference.class,
          (self, method, arguments) ->
              switch (method.getName()) {
                case "hashCode" -> 1;
                case "equals" -> self == arguments[0];
                case "compareTo" -> 0;
                default -> null;
              });
  private final CoreBundle driver = new CoreBundle();
  private final CardBundle card = new CardBundle();
  private ManagedServiceFactory cards;
  final Mlx5Device core;
  final ConnectxDevice device;
  final DeviceControl control;
  final Gid gid;
  private ModelledCard model;
  private boolean removed;

  TestHost() {
    this(UnaryOperator.identity());
  }

  /** With something between the two drivers. */
  TestHost(UnaryOperator<Mlx5Device> between) {
    int address = anyLoopback();
    gid = Gid.ofIpv4(address);
    driver.start(context);
    card.start(context);
    plug();
    core = between.apply(offered.getFirst().device());
    device = new ConnectxDevice(core, which -> {});
    control = device.bind();
    control.load("mlx5_0", 0);
    control.addGid(1, gid, GidType.ROCE_V2, "lo", false);
    control.enable();
    control.accept();
    device.registered();
  }

  private void plug() {
    Map<String, String> settings =
        Map.of("netdev", "lo", "addr", gid.toInetAddress().getHostAddress(), "slot", SLOT.toString());
    try {
      cards.updated("test", new Hashtable<>(settings));
    } catch (ConfigurationException e) {
      throw new AssertionError(e);
    }
  }

  private static int anyLoopback() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return 127 << 24 | random.nextInt(1, 255) << 16 | random.nextInt(1, 255) << 8 | random.nextInt(1, 255);
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  /** The only service of others is the bus. */
  private Object called(Object self, Method method, Object[] arguments) throws InvalidSyntaxException {
    return switch (method.getName()) {
      case "registerService" -> register(arguments);
      case "createFilter" -> FrameworkUtil.createFilter((String) arguments[0]);
      case "getServiceReferences" ->
          PciBus.class.getName().equals(arguments[0]) ? new ServiceReference<?>[] {busReference} : null;
      case "getService" -> bus;
      case "ungetService" -> true;
      case "getServiceReference", "addServiceListener", "removeServiceListener" -> null;
      default -> throw new UnsupportedOperationException(method.toString());
    };
  }

  /** Unregistering a service undoes what its registration did. */
  private Object register(Object... arguments) {
    Runnable undo =
        switch (arguments[1]) {
          case PciDriver each -> {
            bus.add(each);
            yield () -> bus.remove(each);
          }
          case PciCard each when arguments[0] == PciCard.class -> {
            bus.plug(each, SLOT);
            yield () -> bus.function(SLOT).ifPresent(function -> bus.unplug(SLOT));
          }
          case ModelledCard each -> {
            model = each;
            yield () -> {};
          }
          case AuxiliaryDevice each -> {
            offered.add(each);
            yield () -> remove();
          }
          case ManagedServiceFactory each -> {
            cards = each;
            yield () -> {};
          }
          default -> () -> {};
        };
    return proxy(
        ServiceRegistration.class,
        (registration, called, nothing) -> {
          undo.run();
          return null;
        });
  }

  /** The card as its builder sees it. */
  ModelledCard model() {
    return model;
  }

  Context open() {
    return control.view("org.rdma4j.test").open();
  }

  /** The card is pulled out of its slot. */
  void pull() {
    bus.pull(SLOT);
  }

  /** The removal as the core does it. */
  void remove() {
    if (!removed) {
      removed = true;
      control.refuse();
      control.disassociate(PATIENCE_MILLIS);
      control.destroyLeft(PATIENCE_MILLIS);
      control.release();
    }
  }

  @Override
  public void close() {
    remove();
    card.stop(context);
    driver.stop(context);
    bus.close();
  }
}
