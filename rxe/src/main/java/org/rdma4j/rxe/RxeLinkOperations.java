package org.rdma4j.rxe;

import java.io.IOException;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.ib.core.client.LinkOperations;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code rdma link add ... type rxe} and {@code rdma link delete} (kernel: {@code rxe.c:rxe_link_ops}). Links are
 * configurations, so one made by command is the same as one from a file.
 */
final class RxeLinkOperations implements LinkOperations {
  private static final Logger LOG = LoggerFactory.getLogger(RxeLinkOperations.class);
  private static final long COMING_SECONDS = 30;
  private static final long GOING_SECONDS = 120;

  private final ConfigurationAdmin configurations;
  private final String factoryPid;
  private final RxeLinks links;

  /** Of two that make the same link, the second finds that it is there. */
  private final ReentrantLock makers = new ReentrantLock();

  /**
   * Makes the operations.
   *
   * @param configurations where the configurations are
   * @param factoryPid of the configurations of links
   * @param links the links
   */
  RxeLinkOperations(ConfigurationAdmin configurations, String factoryPid, RxeLinks links) {
    this.configurations = configurations;
    this.factoryPid = factoryPid;
    this.links = links;
  }

  @Override
  public String type() {
    return "rxe";
  }

  @Override
  public void newLink(String name, String netdev, String address) {
    SettingsReader.checkName(name);
    SettingsReader.address(address);
    makers.lock();
    try {
      make(name, netdev, address);
    } finally {
      makers.unlock();
    }
  }

  private void make(String name, String netdev, String address) {
    Configuration old = find(name);
    if (old != null && links.isPresent(old.getPid())) {
      throw new VerbsException(Errno.EEXIST, "there is a link " + name + " already");
    }
    if (old != null) {
      delete(old); // It made no device, or the device went with its interface.
    }
    Dictionary<String, Object> properties = new Hashtable<>();
    properties.put("name", name);
    properties.put("netdev", netdev);
    if (address != null) {
      properties.put("addr", address);
    }
    Configuration configuration = create(name);
    String pid = configuration.getPid();
    CompletableFuture<Void> outcome = links.expect(pid);
    boolean made = false;
    try {
      configuration.update(properties);
      await(outcome, COMING_SECONDS, "link " + name + " does not come");
      made = true;
    } catch (IOException | IllegalStateException e) {
      throw failure("the configuration of link " + name + " cannot be kept", e);
    } finally {
      links.forget(pid);
      if (!made) {
        delete(configuration);
      }
    }
  }

  @Override
  public void deleteLink(String name) {
    Configuration configuration = find(name);
    if (configuration == null) {
      throw new VerbsException(Errno.ENODEV, "there is no link " + name + " of type rxe");
    }
    String pid = configuration.getPid();
    CompletableFuture<Void> end = links.expectEnd(pid);
    try {
      configuration.delete();
      await(end, GOING_SECONDS, "link " + name + " does not go; its removal goes on");
    } catch (IllegalStateException e) {
      throw new VerbsException(Errno.ENODEV, "link " + name + " was deleted by another already", e);
    } catch (IOException e) {
      throw failure("the configuration of link " + name + " cannot be deleted", e);
    } finally {
      links.forget(pid);
    }
  }

  private Configuration create(String name) {
    try {
      return configurations.getFactoryConfiguration(factoryPid, name, "?");
    } catch (IOException e) {
      throw failure("there can be no configuration for link " + name, e);
    }
  }

  private Configuration find(String name) {
    try {
      String filter = "(" + ConfigurationAdmin.SERVICE_FACTORYPID + "=" + factoryPid + ")";
      Configuration[] all = configurations.listConfigurations(filter);
      for (Configuration each : all == null ? new Configuration[0] : all) {
        if (each.getProperties() != null && name.equals(each.getProperties().get("name"))) {
          return each;
        }
      }
      return null;
    } catch (IOException | InvalidSyntaxException e) {
      throw failure("the configurations cannot be read", e);
    }
  }

  private static void delete(Configuration configuration) {
    try {
      configuration.delete();
    } catch (IOException | IllegalStateException e) {
      LOG.warn("the configuration {} of a link that is not there cannot be deleted", configuration.getPid(), e);
    }
  }

  private static void await(CompletableFuture<Void> outcome, long seconds, String what) {
    try {
      outcome.get(seconds, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new VerbsException(Errno.ETIMEDOUT, what + " within " + seconds + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new VerbsException(Errno.ECANCELED, "interrupted while waiting: " + what, e);
    } catch (ExecutionException e) {
      VerbsException cause = (VerbsException) e.getCause();
      throw new VerbsException(cause.errno(), cause.getMessage(), cause);
    }
  }

  private static VerbsException failure(String what, Exception cause) {
    return new VerbsException(Errno.EIO, what + ": " + cause.getMessage(), cause);
  }
}
