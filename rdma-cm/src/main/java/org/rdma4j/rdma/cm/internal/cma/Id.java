package org.rdma4j.rdma.cm.internal.cma;

import static org.rdma4j.rdma.cm.RdmaCmState.ADDR_BOUND;
import static org.rdma4j.rdma.cm.RdmaCmState.ADDR_QUERY;
import static org.rdma4j.rdma.cm.RdmaCmState.ADDR_RESOLVED;
import static org.rdma4j.rdma.cm.RdmaCmState.CONNECT;
import static org.rdma4j.rdma.cm.RdmaCmState.DESTROYING;
import static org.rdma4j.rdma.cm.RdmaCmState.DEVICE_REMOVAL;
import static org.rdma4j.rdma.cm.RdmaCmState.DISCONNECT;
import static org.rdma4j.rdma.cm.RdmaCmState.IDLE;
import static org.rdma4j.rdma.cm.RdmaCmState.LISTEN;
import static org.rdma4j.rdma.cm.RdmaCmState.ROUTE_RESOLVED;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.CmIdResource;
import org.rdma4j.rdma.cm.ConnectionParameters;
import org.rdma4j.rdma.cm.Ece;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.MulticastJoin;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmEventType;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.rdma.cm.RdmaCmState;
import org.rdma4j.rdma.cm.RdmaRoute;
import org.rdma4j.rdma.cm.ib.CmEvent;
import org.rdma4j.rdma.cm.ib.CmHandler.Verdict;
import org.rdma4j.rdma.cm.ib.CmId;
import org.rdma4j.roce.address.Gid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An identifier (kernel: {@code struct rdma_id_private}): its addresses, its states, and what it owns. What it says to
 * the peer and hears from it is {@link Conversation}'s; what waits for events of a synchronous one is {@link Waits}'.
 */
final class Id implements RdmaCmId, PortTable.User {
  private static final Logger LOG = LoggerFactory.getLogger(Id.class);
  private static final int MOST_BACKLOG = 1024;
  private static final int PSN_BITS = 24;
  private static final int BYTE = 0xff;
  private static final int MOST_TIMEOUT = 31;
  private static final int FULL_PKEY = 0xffff;
  private static final int FLOW_LABEL = 0xfffff;
  private static final int HOP_LIMIT = 64;
  private static final int FLOW_FACTOR = 31;

  final Object lock = new Object(); // guards all that is not final
  final int startingPsn = ThreadLocalRandom.current().nextInt(1 << PSN_BITS);
  private final Owner owner;
  private final Cma cma;
  private final PortSpace portSpace;
  private final Conversation conversation = new Conversation(this);
  private final Groups groups = new Groups(this);
  private final Waits waits = new Waits(this);
  private final AtomicInteger waiting = new AtomicInteger(); // requests that nobody has taken

  private int number;
  private volatile Channel channel;
  private volatile boolean synchronous;
  private volatile Object context;
  private volatile RdmaCmState state = IDLE;
  private volatile InetSocketAddress local = new InetSocketAddress(0);
  private volatile InetSocketAddress remote;
  private boolean hasPort;
  private volatile CmaDevice device;
  private volatile GidEntry gid;
  private volatile Context verbs;
  private boolean addressLost;
  private boolean self;
  private volatile RdmaRoute route;
  private volatile QueuePairs pairs;
  private int backlog;
  private ProtectionDomain requestDomain;
  private QpInitAttributes requestAttributes;

  private int typeOfService;
  private int ackTimeout;
  private volatile boolean reuses;
  private volatile Boolean familyOnly;

  Id(Owner owner, Channel channel, boolean synchronous, PortSpace portSpace) {
    this.owner = owner;
    this.cma = owner.cma();
    this.channel = channel;
    this.synchronous = synchronous;
    this.portSpace = portSpace;
  }

  void number(int given) {
    number = given;
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public PortSpace portSpace() {
    return portSpace;
  }

  @Override
  public QpType qpType() {
    return portSpace.qpType();
  }

  @Override
  public EventChannel channel() {
    return synchronous ? null : channel;
  }

  Channel events() {
    return channel;
  }

  boolean isAt(Channel other) {
    return channel == other;
  }

  boolean isSynchronous() {
    return synchronous;
  }

  @Override
  public Object context() {
    return context;
  }

  @Override
  public void context(Object object) {
    context = object;
  }

  @Override
  public RdmaCmState state() {
    return state;
  }

  void state(RdmaCmState next) {
    state = next;
  }

  @Override
  public InetSocketAddress localAddress() {
    return local;
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return remote;
  }

  @Override
  public InetAddress address() {
    return local.getAddress();
  }

  @Override
  public InetSocketAddress destination() {
    return remote;
  }

  @Override
  public boolean reusesAddress() {
    return reuses;
  }

  @Override
  public boolean isFamilyOnly() {
    Boolean said = familyOnly;
    return said == null ? address() instanceof Inet4Address : said;
  }

  @Override
  public Context verbs() {
    return verbs;
  }

  @Override
  public int port() {
    GidEntry entry = gid;
    return entry == null ? 0 : entry.port();
  }

  @Override
  public Gid localGid() {
    GidEntry entry = gid;
    return entry == null ? null : entry.gid();
  }

  GidEntry gid() {
    return gid;
  }

  CmaDevice device() {
    return device;
  }

  Cma cma() {
    return cma;
  }

  int ackTimeout() {
    return ackTimeout;
  }

  @Override
  public RdmaRoute route() {
    return route;
  }

  long serviceId() {
    return portSpace.serviceId(local.getPort());
  }

  /** Both ends and the device, in words. */
  String between() {
    CmaDevice where = device;
    return "%s %s%s%s"
        .formatted(
            portSpace,
            text(local),
            remote == null ? "" : " with " + text(remote),
            where == null ? "" : " over " + where.name() + "/" + port());
  }

  static String text(InetSocketAddress address) {
    String host = address.getAddress().getHostAddress();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
  }

  @Override
  public String toString() {
    return "cm_id %d (%s, %s)".formatted(number, between(), state);
  }

  /** Refuses a call in a state that does not allow it. */
  void require(String what, RdmaCmState... allowed) {
    if (state == DEVICE_REMOVAL) {
      throw new VerbsException(Errno.ENODEV, "%s: the device of cm_id %d was removed".formatted(what, number));
    }
    if (!Arrays.asList(allowed).contains(state)) {
      throw new VerbsException(
          Errno.EINVAL, "%s: %s must be in %s".formatted(what, this, Arrays.toString(allowed)));
    }
  }

  private void requireAlive(String what) {
    if (state == DEVICE_REMOVAL || state == DESTROYING) {
      require(what);
    }
  }

  /** Tells an event, unless the identifier is about to go. */
  void post(RdmaCmEventType type, int status, String detail) {
    post(new RdmaCmEvent(type, status, this, null, null, null, Ece.NONE, detail));
  }

  void post(RdmaCmEvent event) {
    channel.add(new Channel.Waiting(event, () -> {}));
  }

  @Override
  public void bindAddress(InetSocketAddress address) {
    checkAddress("bind", address);
    synchronized (lock) {
      require("bind", IDLE);
      bind(address);
    }
  }

  private static void checkAddress(String what, InetSocketAddress address) {
    if (address.isUnresolved()) {
      throw new VerbsException(
          Errno.EINVAL, "%s: %s is a name, an address is needed".formatted(what, address.getHostString()));
    }
    if (address.getAddress() instanceof Inet6Address v6
        && v6.isLinkLocalAddress()
        && v6.getScopedInterface() == null
        && v6.getScopeId() == 0) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s: link-local address %s needs a scope, such as %%eth0".formatted(what, v6.getHostAddress()));
    }
  }

  private void bind(InetSocketAddress address) {
    InetAddress host = address.getAddress();
    Resolver.Found found = null;
    if (!host.isAnyLocalAddress()) {
      found = Resolver.at(cma.devices(host), host);
      if (found == null && !host.isLoopbackAddress()) {
        throw new VerbsException(
            Errno.ENODEV,
            "bind: no device has the address %s; devices are %s".formatted(host.getHostAddress(), cma.devices()));
      }
    }
    InetSocketAddress before = local;
    boolean done = false;
    try {
      if (found != null) {
        use(found.device(), found.gid());
      }
      local = address;
      local = new InetSocketAddress(host, cma.bind(this, address.getPort()));
      hasPort = true;
      state = ADDR_BOUND;
      done = true;
    } finally {
      if (!done) {
        local = before;
        leaveDevice();
      }
    }
  }

  /** From now on the identifier has a device. */
  private void use(CmaDevice found, GidEntry entry) {
    cma.attach(this, found);
    boolean done = false;
    try {
      verbs = owner.acquire(found);
      device = found;
      gid = entry;
      done = true;
    } finally {
      if (!done) {
        cma.detach(this, found);
      }
    }
  }

  private void leaveDevice() {
    CmaDevice left;
    synchronized (lock) {
      left = device;
      device = null;
      gid = null;
      verbs = null;
    }
    if (left != null) {
      cma.detach(this, left);
      owner.release(left);
    }
  }

  @Override
  public void resolveAddress(InetSocketAddress source, InetSocketAddress destination, Duration timeout) {
    checkAddress("resolve address", destination);
    checkTime("resolve address", timeout);
    if (source != null) {
      checkAddress("resolve address", source);
      if (source.getAddress().getClass() != destination.getAddress().getClass()) {
        throw new VerbsException(
            Errno.EINVAL, "resolve address: %s and %s are of different families".formatted(source, destination));
      }
    }
    synchronized (lock) {
      require("resolve address", IDLE, ADDR_BOUND);
      if (state == IDLE) {
        bind(source == null ? new InetSocketAddress(any(destination.getAddress()), 0) : source);
      } else if (address().getClass() != destination.getAddress().getClass()) {
        throw new VerbsException(
            Errno.EINVAL, "resolve address: %s is bound to another family than %s".formatted(this, destination));
      }
      state = ADDR_QUERY;
      resolve(destination);
    }
    waits.complete(RdmaCmEventType.ADDR_RESOLVED);
  }

  private static InetAddress any(InetAddress like) {
    return new InetSocketAddress(like instanceof Inet6Address ? "::" : "0.0.0.0", 0).getAddress();
  }

  private static void checkTime(String what, Duration timeout) {
    if (timeout.toMillis() < 1) {
      throw new VerbsException(Errno.EINVAL, what + ": " + timeout + " is no time; at least 1 ms is allowed");
    }
  }

  private void resolve(InetSocketAddress destination) {
    InetAddress host = destination.getAddress();
    try {
      Resolver.Found found = Resolver.find(cma, address(), host);
      if (device == null) {
        use(found.device(), found.gid());
      }
      local = new InetSocketAddress(found.local(), local.getPort());
      self = found.self();
      remote = new InetSocketAddress(host.isAnyLocalAddress() ? Resolver.loopback(host) : host, destination.getPort());
      state = ADDR_RESOLVED;
      post(RdmaCmEventType.ADDR_RESOLVED, 0, between());
    } catch (VerbsException e) {
      state = ADDR_BOUND;
      post(
          RdmaCmEventType.ADDR_ERROR,
          -e.errno().number(),
          "%s to %s: %s".formatted(between(), text(destination), e.getMessage()));
    }
  }

  @Override
  public void resolveRoute(Duration timeout) {
    checkTime("resolve route", timeout);
    synchronized (lock) {
      require("resolve route", ADDR_RESOLVED);
      try {
        int lifeTime = ackTimeout == 0 ? Conversation.PACKET_LIFE_TIME : ackTimeout - 1;
        int label = local.getPort() * FLOW_FACTOR + remote.getPort() & FLOW_LABEL;
        Gid peer = self ? gid.gid() : Gid.of(remote.getAddress());
        route =
            new RdmaRoute(
                gid.gid(),
                peer,
                FULL_PKEY,
                device.device.port(gid.port()).activeMtu(),
                0,
                lifeTime,
                typeOfService,
                label,
                HOP_LIMIT,
                0);
        state = ROUTE_RESOLVED;
        post(RdmaCmEventType.ROUTE_RESOLVED, 0, between());
      } catch (VerbsException e) {
        post(RdmaCmEventType.ROUTE_ERROR, -e.errno().number(), between() + ": " + e.getMessage());
      }
    }
    waits.complete(RdmaCmEventType.ROUTE_RESOLVED);
  }

  @Override
  public void listen(int most) {
    synchronized (lock) {
      require("listen", IDLE, ADDR_BOUND);
      if (state == IDLE) {
        bind(new InetSocketAddress("0.0.0.0", 0));
      }
      backlog = most <= 0 || most > MOST_BACKLOG ? MOST_BACKLOG : most;
      cma.listen(this, device, local.getPort());
      state = LISTEN;
    }
  }

  /** Whether a request to an address of a device is for this listener; called by who has the ports. */
  boolean listensFor(CmaDevice where, InetAddress asked) {
    if (state != LISTEN || device != null && device != where) {
      return false;
    }
    InetAddress mine = address();
    boolean sameFamily = mine.getClass() == asked.getClass();
    return mine.isAnyLocalAddress() ? sameFamily || !isFamilyOnly() : sameFamily && sameAddress(mine, asked);
  }

  private static boolean sameAddress(InetAddress mine, InetAddress asked) {
    return Arrays.equals(mine.getAddress(), asked.getAddress()); // a scope does not travel
  }

  /** Offers a new identifier to whoever listens here. */
  Verdict offer(Function<Id, RdmaCmEvent> making) {
    synchronized (lock) {
      if (state != LISTEN) {
        return Verdict.DESTROY;
      }
      if (waiting.get() >= backlog) {
        return Verdict.FORGET;
      }
      Channel where = synchronous ? owner.makeChannel() : channel;
      Id made = null;
      boolean done = false;
      try {
        made = owner.add(new Id(owner, where, synchronous, portSpace));
        made.context(context);
        synchronized (made.lock) { // so that the request is told before anything else of it
          RdmaCmEvent event = making.apply(made);
          waiting.incrementAndGet();
          channel.add(new Channel.Waiting(event, waiting::decrementAndGet));
        }
        done = true;
      } finally {
        if (!done) {
          if (made != null) {
            made.abandon();
          } else if (synchronous) {
            where.close();
          }
        }
      }
      return Verdict.KEEP;
    }
  }

  /** Becomes the passive end of what somebody asks for. */
  void beginPassive(
      CmId cm,
      CmaDevice where,
      int portNumber,
      GidEntry entry,
      InetSocketAddress here,
      InetSocketAddress peer,
      RdmaRoute way,
      Ece ece) {
    synchronized (lock) {
      local = here;
      remote = peer;
      use(where, entry);
      route = way;
      state = CONNECT;
      conversation.beginPassive(cm, ece);
      LOG.trace("{} has port {}", this, portNumber);
    }
  }

  void asked(int resources, int depth) {
    synchronized (lock) {
      conversation.asked(resources, depth);
    }
  }

  @Override
  public RdmaCmId getRequest(Duration timeout) {
    synchronized (lock) {
      require("get request", LISTEN);
    }
    Id made = waits.request(timeout);
    if (made != null && requestAttributes != null) {
      boolean done = false;
      try {
        made.createQp(requestDomain, requestAttributes);
        done = true;
      } finally {
        if (!done) {
          made.close();
        }
      }
    }
    return made;
  }

  @Override
  public void requestAttributes(ProtectionDomain domain, QpInitAttributes attributes) {
    if (attributes != null) {
      checkType(attributes.type());
    }
    synchronized (lock) {
      requestDomain = domain;
      requestAttributes = attributes == null ? null : new QpInitAttributes(attributes);
    }
  }

  void waits(RdmaCmEvent event) {
    waits.last(event);
  }

  @Override
  public RdmaCmEvent event() {
    return waits.last();
  }

  @Override
  public void connect(ConnectionParameters parameters) {
    synchronized (lock) {
      require("connect", ROUTE_RESOLVED);
      conversation.connect(parameters == null ? ConnectionParameters.DEFAULT : parameters);
    }
    waits.complete(RdmaCmEventType.ESTABLISHED, RdmaCmEventType.CONNECT_RESPONSE);
  }

  @Override
  public void accept(ConnectionParameters parameters) {
    synchronized (lock) {
      require("accept", CONNECT);
      conversation.accept(parameters == null ? ConnectionParameters.DEFAULT : parameters);
    }
    if (qpType() != QpType.UD) {
      waits.complete(RdmaCmEventType.ESTABLISHED);
    }
  }

  @Override
  public void reject(byte[] privateData) {
    synchronized (lock) {
      require("reject", CONNECT);
      conversation.reject(privateData);
    }
  }

  @Override
  public void rejectEce(byte[] privateData) {
    synchronized (lock) {
      require("reject", CONNECT);
      conversation.rejectEce(privateData);
    }
  }

  @Override
  public void establish() {
    synchronized (lock) {
      require("establish", CONNECT);
      conversation.establish();
    }
  }

  @Override
  public void notifyEstablished() {
    synchronized (lock) {
      require("notify", CONNECT);
      conversation.notifyEstablished();
    }
  }

  /** The queue pair got a packet. */
  void heardFromPeer() {
    try {
      notifyEstablished();
    } catch (VerbsException e) {
      LOG.trace("{} is established already", this, e);
    }
  }

  @Override
  public void disconnect() {
    synchronized (lock) {
      require("disconnect", CONNECT, DISCONNECT);
      conversation.disconnect();
    }
    waits.complete(RdmaCmEventType.DISCONNECTED);
  }

  Verdict onEvent(CmId cm, CmEvent event) {
    synchronized (lock) {
      return state == CONNECT || state == DISCONNECT ? conversation.onEvent(cm, event) : Verdict.KEEP;
    }
  }

  @Override
  public void migrate(EventChannel next) {
    Channel to = next == null ? owner.makeChannel() : owner.own(next);
    Channel from;
    boolean wasSynchronous;
    synchronized (lock) {
      requireAlive("migrate");
      from = channel;
      wasSynchronous = synchronous;
      channel = to;
      synchronous = next == null;
      from.extract(each -> each.concerns(this)).forEach(to::add);
    }
    from.awaitHandler(this);
    if (wasSynchronous) {
      from.close();
    }
  }

  @Override
  public QueuePair createQp(ProtectionDomain domain, QpInitAttributes attributes) {
    synchronized (lock) {
      requireAlive("create QP");
      if (device == null) {
        throw new VerbsException(Errno.EINVAL, "create QP: " + this + " has no device yet");
      }
      if (pairs != null) {
        throw new VerbsException(Errno.EINVAL, "create QP: " + this + " has QP " + pairs.qp().number());
      }
      checkType(attributes.type());
      if (domain != null && domain.context().device().index() != device.device.index()) {
        throw new VerbsException(
            Errno.EINVAL, "create QP: %s is of %s, not of %s".formatted(domain, domain.context(), device));
      }
      ProtectionDomain where = domain == null ? owner.domain(device) : domain;
      pairs = QueuePairs.make(where.context(), where, attributes, initAttributes());
      return pairs.qp();
    }
  }

  private void checkType(QpType type) {
    if (type != qpType()) {
      throw new VerbsException(
          Errno.EINVAL, "queue pairs of port space %s are %s, not %s".formatted(portSpace, qpType(), type));
    }
  }

  private QpAttributes initAttributes() {
    int pkeyIndex = Math.max(0, device.device.findPkey(gid.port(), FULL_PKEY));
    QpAttributes init = new QpAttributes().state(QpState.INIT).pkeyIndex(pkeyIndex).port(gid.port());
    return qpType() == QpType.UD ? init.qkey(Conversation.QKEY) : init.access(Set.<Access>of());
  }

  @Override
  public void destroyQp() {
    QueuePairs gone;
    synchronized (lock) {
      gone = pairs;
      groups.detach();
      pairs = null;
    }
    if (gone != null) {
      gone.destroy();
    }
  }

  QueuePairs pairs() {
    return pairs;
  }

  @Override
  public QueuePair qp() {
    QueuePairs present = pairs;
    return present == null ? null : present.qp();
  }

  @Override
  public ProtectionDomain domain() {
    synchronized (lock) {
      requireAlive("domain");
      if (pairs != null) {
        return pairs.qp().protectionDomain();
      }
      if (device == null) {
        throw new VerbsException(Errno.EINVAL, "domain: " + this + " has no device yet");
      }
      return owner.domain(device);
    }
  }

  @Override
  public QpAttributes qpAttributes(QpState target) {
    synchronized (lock) {
      requireAlive("attributes");
      if (device == null) {
        throw new VerbsException(Errno.EINVAL, "attributes: " + this + " has no device yet");
      }
      if (qpType() == QpType.UD || !conversation.hasBegun()) {
        return switch (target) {
          case INIT -> initAttributes();
          case RTR, RTS -> {
            if (qpType() != QpType.UD) {
              throw new VerbsException(Errno.EINVAL, "attributes for " + target + ": " + this + " has no peer yet");
            }
            QpAttributes next = new QpAttributes().state(target);
            yield target == QpState.RTR ? next : next.sqPsn(0);
          }
          default ->
              throw new VerbsException(Errno.EINVAL, "attributes: there are some for INIT, RTR and RTS, not " + target);
        };
      }
      return conversation.qpAttributes(target);
    }
  }

  @Override
  public void joinMulticast(InetAddress group, MulticastJoin how, Object mark) {
    synchronized (lock) {
      require("join", ADDR_BOUND, ADDR_RESOLVED, ROUTE_RESOLVED);
      groups.join(group, how);
    }
    waits.complete(RdmaCmEventType.MULTICAST_JOIN);
  }

  @Override
  public void leaveMulticast(InetAddress group) {
    synchronized (lock) {
      requireAlive("leave");
      groups.leave(group);
    }
  }

  @Override
  public void typeOfService(int tos) {
    checkRange("type of service", tos, BYTE);
    synchronized (lock) {
      requireAlive("type of service");
      typeOfService = tos;
    }
  }

  @Override
  public void reuseAddress(boolean allowed) {
    synchronized (lock) {
      if (state == LISTEN && allowed) {
        throw new VerbsException(Errno.EINVAL, "reuse address: " + this + " listens, and has its port for itself");
      }
      requireAlive("reuse address");
      reuses = allowed;
    }
  }

  @Override
  public void addressFamilyOnly(boolean only) {
    synchronized (lock) {
      require("address family only", IDLE, ADDR_BOUND);
      familyOnly = only;
    }
  }

  @Override
  public void ackTimeout(int exponent) {
    checkRange("ACK timeout", exponent, MOST_TIMEOUT);
    synchronized (lock) {
      requireAlive("ACK timeout");
      ackTimeout = exponent;
      if (route != null && exponent != 0 && !conversation.hasBegun()) {
        route = Routes.withLifeTime(route, exponent - 1);
      }
    }
  }

  private static void checkRange(String what, int value, int most) {
    if (value < 0 || value > most) {
      throw new VerbsException(Errno.EINVAL, "%s: %d is not from 0 to %d".formatted(what, value, most));
    }
  }

  @Override
  public void localEce(Ece options) {
    synchronized (lock) {
      conversation.localEce(options);
    }
  }

  @Override
  public Ece remoteEce() {
    synchronized (lock) {
      return conversation.remoteEce();
    }
  }

  boolean isOn(String name) {
    CmaDevice where = device;
    return where != null && where.name().equals(name);
  }

  /** The table of addresses is another; told once when that of the identifier is not where it was. */
  void addressesChanged() {
    synchronized (lock) {
      if (device == null || addressLost || state == DESTROYING || state == DEVICE_REMOVAL) {
        return;
      }
      GidEntry now = device.find(gid.gid(), gid.netdev());
      if (!gid.equals(now)) {
        addressLost = true;
        String where = now == null ? "is no address of the device any more" : "has moved to slot " + now.index();
        post(RdmaCmEventType.ADDR_CHANGE, 0, "%s: %s %s".formatted(between(), gid.gid(), where));
      }
    }
  }

  /** The device goes: nothing of the identifier is on it when this returns but what its owner made. */
  void deviceGoes() {
    CmId cm;
    CmaDevice left;
    synchronized (lock) {
      left = device;
      if (state == DESTROYING || state == DEVICE_REMOVAL || left == null) {
        return;
      }
      state = DEVICE_REMOVAL;
      if (pairs != null && conversation.hasBegun()) {
        pairs.fail();
      }
      groups.detach();
      cm = conversation.end();
      post(RdmaCmEventType.DEVICE_REMOVAL, 0, between());
    }
    endConversation(cm);
    releasePort();
    cma.detach(this, left);
  }

  private void endConversation(CmId cm) {
    if (cm != null) {
      cm.destroy();
      cma.forget(cm);
    }
  }

  private void releasePort() {
    boolean had;
    synchronized (lock) {
      had = hasPort;
      hasPort = false;
    }
    if (had) {
      cma.release(this, local.getPort());
    }
  }

  /** A request that could not be offered; the message for the peer is up to who called. */
  private void abandon() {
    CmId cm;
    synchronized (lock) {
      cm = conversation.end();
    }
    if (cm != null) {
      cma.forget(cm);
    }
    close();
  }

  @Override
  public void close() {
    RdmaCmState before;
    CmId cm;
    Channel events;
    synchronized (lock) {
      before = state;
      if (before == DESTROYING) {
        return;
      }
      state = DESTROYING;
      cm = conversation.end();
      events = channel;
    }
    if (before == LISTEN) {
      cma.unlisten(this, device);
    }
    List<Channel.Waiting> untaken = events.extract(each -> each.concerns(this));
    events.awaitHandler(this);
    untaken.stream()
        .filter(each -> each.event().listener() == this)
        .forEach(each -> each.event().id().close());
    QueuePairs present = pairs;
    if (present != null && cm != null) {
      present.fail();
    }
    endConversation(cm);
    destroyQp();
    releasePort();
    leaveDevice();
    if (synchronous) {
      events.close();
    }
    owner.forget(this);
  }

  /** What resource tracking says of it: a line, or one for each device that it listens on. */
  void describe(List<CmIdResource> lines, Collection<CmaDevice> devices) {
    QueuePair qp = qp();
    CmaDevice where = device;
    if (where == null && state == LISTEN) {
      devices.forEach(each -> lines.add(line(each.name(), 0, 0))); // on all of its ports
      return;
    }
    lines.add(line(where == null ? null : where.name(), port(), qp == null ? conversation.qpNumber() : qp.number()));
  }

  private CmIdResource line(String name, int portNumber, int qpNumber) {
    return new CmIdResource(
        number,
        name,
        portNumber,
        qpNumber,
        qpType(),
        state,
        portSpace,
        state == IDLE ? null : local,
        remote,
        owner.bundle(),
        owner.comm(),
        ProcessHandle.current().pid());
  }
}
