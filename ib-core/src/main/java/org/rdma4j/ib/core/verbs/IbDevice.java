package org.rdma4j.ib.core.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.osgi.annotation.versioning.ProviderType;
import org.rdma4j.roce.address.Gid;

/**
 * A device as its provider sees it ({@code struct ib_device} and {@code struct ib_device_ops}). A provider makes a new
 * instance for every registration and registers it as an OSGi service under this class; the service's registration
 * returns when the device is there, its unregistration when the device has gone in the order of
 * {@code ib_unregister_device}. An instance serves once.
 *
 * <p>The hooks are called by the core only: those of a query from any thread, at the same time as others; those that
 * make an object likewise. {@link #addGid} and {@link #removeGid} never overlap for one device. A hook may throw
 * {@link VerbsException}; anything else it throws reaches the caller as EIO. Operations that a provider does not
 * override answer EOPNOTSUPP, as {@code libibverbs/dummy_ops.c} does.
 *
 * <p>How the device goes, after the service began to unregister: no object is made any more; clients stop; then no hook
 * but these is called: {@link QueuePair#doQuiesce} on every queue pair, {@code doDestroy} on every queue pair, address
 * handle, shared receive queue, memory window and memory region, {@link CompletionQueue#doDetach} on every completion
 * queue, {@code doDestroy} on every protection domain, {@link #removeGid} for every GID, and last {@link #release}.
 */
@ProviderType
public abstract class IbDevice {
  private final String requestedName;
  private DeviceControl control;
  private volatile VerbsException failure;
  private volatile VerbsTracer tracer;
  private volatile VerbsTracer.Source source;

  /**
   * Makes a device that is not registered yet.
   *
   * @param nameOrPattern the name, or a pattern with {@code %d} in it that gets the lowest free number; up to 63
   *     characters
   */
  protected IbDevice(String nameOrPattern) {
    this.requestedName = nameOrPattern;
  }

  /** {@return the name or pattern asked for} */
  public final String requestedName() {
    return requestedName;
  }

  /**
   * Hands the device over to the core that registers it. Only the first caller gets it.
   *
   * @return the core's side of the device
   * @throws VerbsException EBUSY where the device was handed over before
   */
  public final synchronized DeviceControl bind() {
    if (control != null) {
      throw new VerbsException(Errno.EBUSY, "this instance of device " + requestedName + " was registered before");
    }
    control = new DeviceControl(this);
    return control;
  }

  /**
   * Tells why the registration failed, once it did.
   *
   * @return the reason, or null where it did not fail or is still to come
   */
  public final VerbsException registrationFailure() {
    return failure;
  }

  /** {@return true from the moment the device takes users until it begins to go} */
  public final boolean isRegistered() {
    DeviceControl bound = bound();
    return bound != null && bound.state().isAccepting();
  }

  /** {@return for providers: whether somebody sees verbs now; a look at a field} */
  protected final boolean isTraced() {
    return tracer != null;
  }

  /** {@return for providers: who sees verbs now, or null for nobody} */
  protected final VerbsTracer tracer() {
    return tracer;
  }

  /** {@return for providers: the device as tracers know it} */
  protected final VerbsTracer.Source source() {
    VerbsTracer.Source known = source;
    if (known == null) {
      known = new VerbsTracer.Source(name(), parentDevice());
      source = known;
    }
    return known;
  }

  final void trace(VerbsTracer who) {
    tracer = who;
  }

  /** Runs a verb under the eyes of the tracer, if there is one. */
  final <T> T traced(String verb, Object subject, Supplier<T> hook) {
    VerbsTracer now = tracer;
    if (now == null) {
      return hook.get();
    }
    now.begins(source(), verb, String.valueOf(subject));
    String result = "failed";
    try {
      T made = hook.get();
      result = made instanceof VerbsObject ? made.toString() : "";
      return made;
    } catch (VerbsException e) {
      result = e.errno().name();
      throw e;
    } finally {
      now.ends(source(), verb, result);
    }
  }

  final void tracedRun(String verb, Object subject, Runnable hook) {
    traced(
        verb,
        subject,
        () -> {
          hook.run();
          return null;
        });
  }

  final void fail(VerbsException reason) {
    this.failure = reason;
  }

  /** {@return the name given at registration; the requested one before} */
  public final synchronized String name() {
    return control == null || control.state().name() == null ? requestedName : control.state().name();
  }

  /**
   * {@return the driver's name, which is the link type of {@code LinkOperations} where links can be made by command}
   */
  protected abstract String linkType();

  /**
   * {@return what the device is a device of ({@code dev.parent}), such as the address of its PCI function; null unless
   * overridden}
   */
  protected String parentDevice() {
    return null;
  }

  /** {@return what the device is and can do ({@code query_device}); read once at registration} */
  protected abstract DeviceAttributes queryDevice();

  /**
   * Queries a port ({@code query_port}).
   *
   * @param port from 1
   * @return its state and attributes now
   */
  protected abstract PortAttributes queryPort(int port);

  /**
   * What never changes about a port ({@code get_port_immutable}); read once at registration.
   *
   * @param port from 1
   * @return the data
   */
  protected abstract PortImmutable portImmutable(int port);

  /**
   * A P_Key ({@code query_pkey}); read at registration and after PKEY_CHANGE.
   *
   * @param port from 1
   * @param index 0 to the table's length - 1
   * @return the P_Key; the default one, full member, unless overridden
   */
  protected int queryPkey(int port, int index) {
    return 0xffff;
  }

  /**
   * A GID is about to appear in the table of a RoCE port ({@code add_gid}).
   *
   * @param entry the GID and its slot
   * @throws VerbsException where the device cannot use the address; the slot stays empty
   */
  protected void addGid(GidEntry entry) {
    throw unsupported("add_gid");
  }

  /**
   * A GID has gone from the table of a RoCE port ({@code del_gid}).
   *
   * @param entry the GID and its slot
   */
  protected void removeGid(GidEntry entry) {
    throw unsupported("del_gid");
  }

  /**
   * The network interface of a port ({@code get_netdev}), whose addresses fill the GID table.
   *
   * @param port from 1
   * @return the name of the interface, or null where the port has none
   */
  protected String portNetdev(int port) {
    return null;
  }

  /**
   * A restriction to one address of the interface.
   *
   * @param port from 1
   * @return the only GID the port shall have, or null for all of the interface
   */
  protected Gid portAddressFilter(int port) {
    return null;
  }

  /**
   * Something happened to the network interface of a port. The provider updates the port and reports with {@link
   * #portEvent}. Calls never overlap; they may come before {@link #enable} has returned.
   *
   * @param port from 1
   * @param event what happened
   * @param netdev the interface as it is now
   */
  protected void netdevEvent(int port, NetdevEvent event, Netdev netdev) {}

  /**
   * Reads the counters of a port ({@code get_hw_stats}).
   *
   * @param port from 1
   * @return the counters; none unless overridden
   */
  protected CounterSet hwCounters(int port) {
    return CounterSet.EMPTY;
  }

  /**
   * The device is registered, but not published yet ({@code enable_driver}): the provider may start its threads and
   * report the port's state.
   *
   * @throws VerbsException where it cannot; the device is not registered then and {@link #release} follows
   */
  protected void enable() {}

  /**
   * Nothing of the device is in use any more ({@code dealloc_driver}): the provider ends its threads and gives sockets
   * and memory back. The last call; also follows a registration that failed.
   */
  protected void release() {}

  /**
   * Makes a protection domain ({@code alloc_pd}).
   *
   * @param owner for the constructor of the base class
   * @return the domain
   */
  protected abstract ProtectionDomain createPd(ObjectContext owner);

  /**
   * Makes a completion queue ({@code create_cq}).
   *
   * @param owner for the constructor of the base class
   * @param attributes what it is to be, within the device's limits
   * @return the queue
   */
  protected abstract CompletionQueue createCq(ObjectContext owner, CqInitAttributes attributes);

  /**
   * Makes a queue pair in RESET ({@code create_qp}). An initiator of an extended reliable connection has no receive
   * side; a target has no queue and no protection domain, but {@link QpInitAttributes#xrcd()}.
   *
   * @param owner for the constructor of the base class
   * @param attributes what it is to be, within the device's limits; the provider's own copy
   * @return the queue pair
   * @throws VerbsException EOPNOTSUPP for a type the device does not know
   */
  protected abstract QueuePair createQp(ObjectContext owner, QpInitAttributes attributes);

  /**
   * Registers memory ({@code reg_user_mr}).
   *
   * @param owner for the constructor of the base class
   * @param segment native memory that any thread may touch, not empty
   * @param iova the address of its first byte for work requests and peers
   * @param access the rights; those that are optional may be ignored
   * @return the region
   */
  protected abstract MemoryRegion registerMr(
      ObjectContext owner, MemorySegment segment, long iova, Set<Access> access);

  /**
   * Makes a memory region without memory, for fast registration ({@code alloc_mr} of type MEM_REG). Its keys are equal;
   * the owner chooses their lower 8 bits.
   *
   * @param owner for the constructor of the base class
   * @param maxPages pages that can be mapped at once, within the device's limit
   * @return the region
   */
  protected MemoryRegion allocateMr(ObjectContext owner, int maxPages) {
    throw unsupported("alloc_mr");
  }

  /**
   * Makes a memory window that is not bound ({@code alloc_mw}). While a window is bound, the provider refuses with
   * EBUSY to end its region and names the windows.
   *
   * @param owner for the constructor of the base class
   * @param type a type that the device's capabilities name
   * @return the window
   */
  protected MemoryWindow allocateMw(ObjectContext owner, MwType type) {
    throw unsupported("alloc_mw");
  }

  /**
   * Makes a shared receive queue ({@code create_srq}).
   *
   * @param owner for the constructor of the base class
   * @param attributes what it is to be, within the device's limits
   * @return the queue
   */
  protected SharedReceiveQueue createSrq(ObjectContext owner, SrqInitAttributes attributes) {
    throw unsupported("create_srq");
  }

  /**
   * Makes an XRC domain ({@code alloc_xrcd}). Queue pairs of type XRC_TGT and shared receive queues of type XRC name it
   * by {@link XrcDomain#number()}; they are gone when it ends.
   *
   * @return its number, of the provider's choice
   */
  protected int allocateXrcd() {
    throw unsupported("alloc_xrcd");
  }

  /**
   * Ends an XRC domain ({@code dealloc_xrcd}); nothing uses it any more.
   *
   * @param number what {@link #allocateXrcd} gave
   */
  protected void releaseXrcd(int number) {
    throw unsupported("dealloc_xrcd");
  }

  /**
   * Makes an address handle ({@code create_ah}).
   *
   * @param owner for the constructor of the base class
   * @param attributes the way, with the source GID filled in
   * @return the handle
   */
  protected AddressHandle createAh(ObjectContext owner, AhAttributes attributes) {
    throw unsupported("create_ah");
  }

  /**
   * What the vendor errors in completions of this device mean.
   *
   * @return for each code a clause of a sentence; none unless overridden
   */
  protected SortedMap<Integer, String> vendorErrors() {
    return new TreeMap<>();
  }

  /**
   * Reports an event of a port ({@code ib_dispatch_event}), from any thread; does not block. Every open context
   * receives it. PORT_ACTIVE and PORT_ERR are reported after {@link #queryPort} answers accordingly.
   *
   * @param port from 1
   * @param type an event of scope PORT
   */
  protected final void portEvent(int port, AsyncEventType type) {
    DeviceControl bound = bound();
    if (bound != null) {
      bound.state().raise(type, port);
    }
  }

  /**
   * Reports an event of the whole device, from any thread; does not block. After DEVICE_FATAL the provider unregisters
   * its service.
   *
   * @param type an event of scope DEVICE
   */
  protected final void raise(AsyncEventType type) {
    DeviceControl bound = bound();
    if (bound != null) {
      bound.state().raise(type, 0);
    }
  }

  private synchronized DeviceControl bound() {
    return control;
  }

  private VerbsException unsupported(String operation) {
    return new VerbsException(Errno.EOPNOTSUPP, "device " + name() + " does not support " + operation);
  }
}
