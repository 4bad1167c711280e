package org.rdma4j.rdma.cm.internal.cma;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceTable;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.CmIdResource;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a bundle, or a program in it, has made: what a process is to librdmacm. */
public final class Owner implements RdmaCm {
  private static final Logger LOG = LoggerFactory.getLogger(Owner.class);

  /** A device that it has opened. */
  private static final class Opened {
    final Context context;
    ProtectionDomain domain;
    int users;

    Opened(Context context) {
      this.context = context;
    }
  }

  private final Cma cma;
  private final String bundle;
  private final String comm;
  private final Function<RdmaDevice, RdmaDevice> view;
  private final Owner parent;

  private final Set<Owner> programs = new HashSet<>(); // guarded by this, as are
  private final Set<Id> ids = new HashSet<>();
  private final Set<Channel> channels = new HashSet<>();
  private final Map<CmaDevice, Opened> opened = new HashMap<>();
  private boolean closed;

  /**
   * Makes one that has nothing.
   *
   * @param cma the manager
   * @param bundle symbolic name of the bundle
   * @param view gives the bundle's own view of a device, null when the device has gone
   */
  public Owner(Cma cma, String bundle, Function<RdmaDevice, RdmaDevice> view) {
    this(cma, bundle, bundle, view, null);
  }

  private Owner(Cma cma, String bundle, String comm, Function<RdmaDevice, RdmaDevice> view, Owner parent) {
    this.cma = cma;
    this.bundle = bundle;
    this.comm = comm;
    this.view = view;
    this.parent = parent;
  }

  Cma cma() {
    return cma;
  }

  String bundle() {
    return bundle;
  }

  String comm() {
    return comm;
  }

  @Override
  public EventChannel createEventChannel() {
    return makeChannel();
  }

  Channel makeChannel() {
    Channel channel = new Channel(this);
    synchronized (this) {
      requireOpen();
      channels.add(channel);
    }
    return channel;
  }

  private void requireOpen() {
    if (closed) {
      throw new VerbsException(Errno.ENODEV, "the connection manager of " + comm + " is closed");
    }
  }

  @Override
  public RdmaCmId createId(EventChannel channel, PortSpace portSpace, Object context) {
    if (portSpace.qpType() == null) {
      throw new VerbsException(
          Errno.EINVAL, "port space " + portSpace + " does not say what queue pairs there will be; TCP and UDP do");
    }
    Channel where = channel == null ? makeChannel() : own(channel);
    boolean made = false;
    try {
      Id id = add(new Id(this, where, channel == null, portSpace));
      id.context(context);
      made = true;
      return id;
    } finally {
      if (!made && channel == null) {
        where.close();
      }
    }
  }

  /** A channel of this owner that is open. */
  Channel own(EventChannel channel) {
    if (!(channel instanceof Channel mine) || mine.owner() != this) {
      throw new VerbsException(Errno.EINVAL, "the event channel is somebody else's");
    }
    mine.requireOpen();
    return mine;
  }

  Id add(Id id) {
    synchronized (this) {
      requireOpen();
      ids.add(id);
    }
    id.number(cma.number(id));
    return id;
  }

  void forget(Id id) {
    cma.forget(id);
    synchronized (this) {
      ids.remove(id);
    }
  }

  void forget(Channel channel) {
    synchronized (this) {
      channels.remove(channel);
    }
  }

  void closeIds(Channel channel) {
    List<Id> left;
    synchronized (this) {
      left = ids.stream().filter(id -> id.isAt(channel)).toList();
    }
    left.forEach(Id::close);
  }

  /** Opens a device for one more identifier. */
  synchronized Context acquire(CmaDevice device) {
    requireOpen();
    Opened known = opened.get(device);
    if (known == null || known.context.isClosed()) {
      RdmaDevice own = view.apply(device.device);
      if (own == null) {
        throw new VerbsException(Errno.ENODEV, device + " was removed");
      }
      known = new Opened(own.open(comm));
      known.context.addAsyncEventHandler(this::onAsyncEvent);
      opened.put(device, known);
    }
    known.users++;
    return known.context;
  }

  /** The domain that all identifiers on a device share. */
  synchronized ProtectionDomain domain(CmaDevice device) {
    Opened known = opened.get(device);
    if (known == null) {
      throw new VerbsException(Errno.ENODEV, device + " was removed");
    }
    if (known.domain == null) {
      known.domain = known.context.allocatePd();
    }
    return known.domain;
  }

  /** An identifier has left a device. The device is closed with the last, unless somebody made something there. */
  void release(CmaDevice device) {
    Context unused;
    synchronized (this) {
      Opened known = opened.get(device);
      if (known == null || --known.users > 0) {
        return;
      }
      if (!device.gone && isUsed(known)) {
        return;
      }
      opened.remove(device);
      unused = known.context;
    }
    unused.close();
  }

  private static boolean isUsed(Opened known) {
    int id = known.context.id();
    ResourceTable table;
    try {
      table = known.context.device().resources();
      return table.queuePairs().stream().anyMatch(each -> each.owner().contextId() == id)
          || table.completionQueues().stream().anyMatch(each -> each.owner().contextId() == id)
          || table.memoryRegions().stream().anyMatch(each -> each.owner().contextId() == id)
          || table.sharedReceiveQueues().stream().anyMatch(each -> each.owner().contextId() == id)
          || table.protectionDomains().stream()
              .anyMatch(
                  each ->
                      each.owner().contextId() == id && (known.domain == null || each.id() != known.domain.id()));
    } catch (VerbsException e) {
      LOG.debug("{} has gone", known.context, e);
      return false;
    }
  }

  private void onAsyncEvent(AsyncEvent event) {
    if (event.type() == AsyncEventType.COMM_EST) {
      // A packet came before the peer said that it is ready: then it is.
      all().stream().filter(id -> id.qp() == event.element()).forEach(Id::heardFromPeer);
    } else if (event.type() == AsyncEventType.GID_CHANGE) {
      all().stream().filter(id -> id.isOn(event.deviceName())).forEach(Id::addressesChanged);
    }
  }

  private synchronized Collection<Id> all() {
    return List.copyOf(ids);
  }

  @Override
  public RdmaCm open(String name) {
    Owner program = new Owner(cma, bundle, name, view, this);
    synchronized (this) {
      requireOpen();
      programs.add(program);
    }
    return program;
  }

  @Override
  public List<CmIdResource> resources() {
    return cma.resources();
  }

  /** The bundle's own can be used again, since the framework gives no other; a program's not. */
  @Override
  public void close() {
    end(parent != null);
  }

  /** Nothing is made here any more. */
  public void shut() {
    end(true);
  }

  private void end(boolean forEver) {
    List<Owner> allPrograms;
    List<Id> allIds;
    List<Channel> allChannels;
    synchronized (this) {
      closed |= forEver;
      allPrograms = List.copyOf(programs);
      allIds = List.copyOf(ids);
      allChannels = List.copyOf(channels);
    }
    allPrograms.forEach(Owner::close);
    allIds.forEach(Id::close);
    allChannels.forEach(Channel::close);
    List<Opened> rest;
    synchronized (this) {
      rest = new ArrayList<>(opened.values());
      opened.clear();
    }
    rest.forEach(each -> each.context.close());
    if (parent != null) {
      parent.forget(this);
    }
  }

  private void forget(Owner program) {
    synchronized (this) {
      programs.remove(program);
    }
  }
}
