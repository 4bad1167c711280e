package org.rdma4j.tools.launcher;

import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleEvent;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceEvent;
import org.osgi.framework.ServiceListener;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.SynchronousBundleListener;
import org.osgi.framework.startlevel.BundleStartLevel;
import org.osgi.framework.startlevel.FrameworkStartLevel;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.component.runtime.ServiceComponentRuntime;
import org.osgi.service.component.runtime.dto.ComponentConfigurationDTO;
import org.rdma4j.ib.core.client.DeviceFailure;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.mlx5.device.CardFailure;

/**
 * The devices that configuration files describe: has the files read, then waits until each device is there or is
 * known to have failed. A file makes a device when its configuration has a {@code name}.
 */
final class DefaultDevices {
  private static final String READER = "org.apache.felix.fileinstall";
  private static final String DIRECTORIES = "felix.fileinstall.dir";

  private final BundleContext context;
  private final ConfigurationAdmin configurations;
  private final ServiceComponentRuntime components;

  DefaultDevices(BundleContext context, ConfigurationAdmin configurations, ServiceComponentRuntime components) {
    this.context = context;
    this.configurations = configurations;
    this.components = components;
  }

  /** Makes the devices; those that did not come within {@code limit} are named on {@code err}, with the reason. */
  void start(Duration limit, PrintStream err) throws InterruptedException {
    if (context.getProperty(DIRECTORIES) == null) {
      return;
    }
    long deadline = System.nanoTime() + limit.toNanos();
    if (!startReader(deadline)) {
      err.println("rdma: the configuration files are not read: bundle " + READER + " does not start");
      return;
    }
    awaitDevices(deadline)
        .forEach((pid, name) -> err.println("rdma: no device " + name + ": " + reason(pid, limit)));
  }

  /** FileInstall waits at a start level that is not reached by itself; it has read all files once it is active. */
  private boolean startReader(long deadline) throws InterruptedException {
    Bundle reader =
        Arrays.stream(context.getBundles())
            .filter(b -> READER.equals(b.getSymbolicName()))
            .findFirst()
            .orElse(null);
    if (reader == null) {
      return false;
    }
    var signal = new Signal();
    SynchronousBundleListener listener =
        event -> {
          if (event.getType() == BundleEvent.STARTED) {
            signal.raise();
          }
        };
    context.addBundleListener(listener);
    try {
      int reached = context.getBundle(0).adapt(FrameworkStartLevel.class).getStartLevel();
      reader.adapt(BundleStartLevel.class).setStartLevel(reached);
      return signal.await(() -> reader.getState() == Bundle.ACTIVE, deadline);
    } finally {
      context.removeBundleListener(listener);
    }
  }

  /** Waits for the devices of all configuration files; returns those that are missing: PID to name. */
  private Map<String, String> awaitDevices(long deadline) throws InterruptedException {
    Map<String, String> wanted = configured();
    var signal = new Signal();
    ServiceListener listener =
        event -> {
          if (event.getType() != ServiceEvent.UNREGISTERING) {
            signal.raise();
          }
        };
    context.addServiceListener(listener);
    try {
      signal.await(
          () -> wanted.entrySet().stream().allMatch(e -> present(e.getValue()) || failure(e.getKey()) != null),
          deadline);
    } finally {
      context.removeServiceListener(listener);
    }
    wanted.values().removeIf(this::present);
    return wanted;
  }

  private Map<String, String> configured() {
    var names = new HashMap<String, String>();
    try {
      Configuration[] found = configurations.listConfigurations("(&(felix.fileinstall.filename=*)(name=*))");
      for (Configuration configuration : found == null ? new Configuration[0] : found) {
        names.put(configuration.getPid(), configuration.getProperties().get("name").toString());
      }
    } catch (IOException | InvalidSyntaxException e) {
      throw new IllegalStateException(e);
    }
    return names;
  }

  private boolean present(String name) {
    try {
      String filter = "(" + RdmaDevice.PROPERTY_DEVICE + "=" + name + ")";
      return !context.getServiceReferences(RdmaDevice.class, filter).isEmpty();
    } catch (InvalidSyntaxException e) {
      return false;
    }
  }

  /** What the provider says, or who was to make the card, or a component that was to make the device. */
  private String failure(String pid) {
    try {
      String filter = "(" + DeviceFailure.PROPERTY_PID + "=" + pid + ")";
      for (ServiceReference<DeviceFailure> each : context.getServiceReferences(DeviceFailure.class, filter)) {
        DeviceFailure failure = context.getService(each);
        if (failure != null) {
          return failure.reason().toString();
        }
      }
      filter = "(" + CardFailure.PROPERTY_PID + "=" + pid + ")";
      for (ServiceReference<CardFailure> each : context.getServiceReferences(CardFailure.class, filter)) {
        CardFailure failure = context.getService(each);
        if (failure != null) {
          return failure.reason();
        }
      }
    } catch (InvalidSyntaxException e) {
      throw new IllegalStateException(e);
    }
    return components.getComponentDescriptionDTOs().stream()
        .flatMap(description -> components.getComponentConfigurationDTOs(description).stream())
        .filter(component -> component.state == ComponentConfigurationDTO.FAILED_ACTIVATION)
        .filter(component -> pid.equals(component.properties.get("service.pid")))
        .map(component -> component.failure)
        .findFirst()
        .orElse(null);
  }

  private String reason(String pid, Duration limit) {
    String failure = failure(pid);
    return failure == null
        ? "not there after " + limit.toMillis() + " ms"
        : failure.lines().findFirst().orElse(failure);
  }
}
