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

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
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
  private static final int PSN_BITS = 24;
  private static final int FULL_PKEY = 0xffff;

  final Object lock = new Object(); // guards all that is not final
  final int startingPsn = ThreadLocalRandom.current().nextInt(1 << PSN_BITS);
  private final Owner owner;
  private final Cma cma;
  private final PortSpace portSpace;
  private final Conversation conversation = new Conversation(this);
  private final Groups groups = new Groups(this);
  private final Waits waits = new Waits(this);
  private final Options options = new Options();
  private final Place place;
  private final Listening listening;

  private int number;
  private volatile Channel channel;
  private volatile boolean synchronous;
  private volatile Object context;
  private volatile RdmaCmState state = IDLE;
  private volatile QueuePairs pairs;
  Id(Owner owner, Channel channel, boolean synchronous, PortSpace portSpace) {
    this.owner = owner;
    this.cma = owner.cma();
    this.channel = channel;
    this.synchronous = synchronous;
    this.portSpace = portSpace;
    this.place = new Place(this, owner);
    this.listening = new Listening(this, owner);
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
    return place.local();
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return place.remote();
  }

  @Override
  public InetAddress address() {
    return place.local().getAddress();
  }

  @Override
  public InetSocketAddress destination() {
    return place.remote();
  }

  @Override
  public boolean reusesAddress() {
    return options.reusesAddress();
  }

  @Override
  public boolean isFamilyOnly() {
    return options.familyOnly(address());
  }

  @Override
  public Context verbs() {
    return place.verbs();
  }

  @Override
  public int port() {
    return place.port();
  }

  @Override
  public Gid localGid() {
    GidEntry entry = place.gid();
    return entry == null ? null : entry.gid();
  }

  GidEntry gid() {
    return place.gid();
  }

  CmaDevice device() {
    return place.device();
  }

  Cma cma() {
    return cma;
  }

  int ackTimeout() {
    return options.ackTimeout();
  }

  @Override
  public RdmaRoute route() {
    return place.route();
  }

  long serviceId() {
    return portSpace.serviceId(place.local().getPort());
  }

  String between() {
    return place.between();
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
    Place.check("bind", address);
    synchronized (lock) {
      require("bind", IDLE);
      place.bind(address);
      state = ADDR_BOUND;
    }
  }

  @Override
  public void resolveAddress(InetSocketAddress source, InetSocketAddress destination, Duration timeout) {
    Place.check("resolve address", destination);
    checkTime("resolve address", timeout);
    if (source != null) {
      Place.check("resolve address", source);
      if (source.getAddress().getClass() != destination.getAddress().getClass()) {
        throw new VerbsException(
            Errno.EINVAL, "resolve address: %s and %s are of different families".formatted(source, destination));
      }
    }
    synchronized (lock) {
      require("resolve address", IDLE, ADDR_BOUND);
      if (state == IDLE) {
        place.bind(source == null ? new InetSocketAddress(any(destination.getAddress()), 0) : source);
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
    try {
      place.resolve(destination);
      state = ADDR_RESOLVED;
      post(RdmaCmEventType.ADDR_RESOLVED, 0, between());
    } catch (VerbsException e) {
      state = ADDR_BOUND;
      post(
          RdmaCmEventType.ADDR_ERROR,
          -e.errno().number(),
          "%s to %s: %s".formatted(between(), Place.text(destination), e.getMessage()));
    }
  }

  @Override
  public void resolveRoute(Duration timeout) {
    checkTime("resolve route", timeout);
    synchronized (lock) {
      require("resolve route", ADDR_RESOLVED);
      try {
        place.findRoute(options);
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
        place.bind(new InetSocketAddress("0.0.0.0", 0));
        state = ADDR_BOUND;
      }
      listening.begin(most);
      state = LISTEN;
    }
  }

  Listening listening() {
    return listening;
  }

  /** Offers a new identifier to whoever listens here. */
  Verdict offer(Function<Id, RdmaCmEvent> making) {
    synchronized (lock) {
      return listening.offer(making);
    }
  }

  /** Becomes the passive end of what somebody asks for. */
  void beginPassive(
      CmId cm,
      CmaDevice where,
      GidEntry entry,
      InetSocketAddress here,
      InetSocketAddress peer,
      RdmaRoute way,
      Ece ece) {
    synchronized (lock) {
      place.begin(where, entry, here, peer, way);
      state = CONNECT;
      conversation.beginPassive(cm, ece);
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
    return listening.prepared(waits.request(timeout));
  }

  @Override
  public void requestAttributes(ProtectionDomain domain, QpInitAttributes attributes) {
    if (attributes != null) {
      checkType(attributes.type());
    }
    synchronized (lock) {
      listening.requestAttributes(domain, attributes);
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
      CmaDevice device = place.device();
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
    int pkeyIndex = Math.max(0, place.device().device.findPkey(port(), FULL_PKEY));
    QpAttributes init = new QpAttributes().state(QpState.INIT).pkeyIndex(pkeyIndex).port(port());
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
      if (place.device() == null) {
        throw new VerbsException(Errno.EINVAL, "domain: " + this + " has no device yet");
      }
      return owner.domain(place.device());
    }
  }

  @Override
  public QpAttributes qpAttributes(QpState target) {
    synchronized (lock) {
      requireAlive("attributes");
      if (place.device() == null) {
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
  public void joinMulticast(InetAddress group, MulticastJoin how) {
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
    Options.checkTypeOfService(tos);
    synchronized (lock) {
      requireAlive("type of service");
      options.typeOfService(tos);
    }
  }

  @Override
  public void reuseAddress(boolean allowed) {
    synchronized (lock) {
      if (state == LISTEN && allowed) {
        throw new VerbsException(Errno.EINVAL, "reuse address: " + this + " listens, and has its port for itself");
      }
      requireAlive("reuse address");
      options.reusesAddress(allowed);
    }
  }

  @Override
  public void addressFamilyOnly(boolean only) {
    synchronized (lock) {
      require("address family only", IDLE, ADDR_BOUND);
      options.familyOnly(only);
    }
  }

  @Override
  public void ackTimeout(int exponent) {
    Options.checkAckTimeout(exponent);
    synchronized (lock) {
      requireAlive("ACK timeout");
      options.ackTimeout(exponent);
      if (!conversation.hasBegun()) {
        place.packetLifeTime(options.packetLifeTime());
      }
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
    CmaDevice where = place.device();
    return where != null && where.name().equals(name);
  }

  /** The table of addresses is another; told once when that of the identifier is not where it was. */
  void addressesChanged() {
    synchronized (lock) {
      String change = state == DESTROYING || state == DEVICE_REMOVAL ? null : place.addressChange();
      if (change != null) {
        post(RdmaCmEventType.ADDR_CHANGE, 0, change);
      }
    }
  }

  /** The device goes: nothing of the identifier is on it when this returns but what its owner made. */
  void deviceGoes() {
    CmId cm;
    CmaDevice left;
    synchronized (lock) {
      left = place.device();
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
    synchronized (lock) {
      place.releasePort();
    }
  }

  /** A request that could not be offered; the message for the peer is up to who called. */
  void abandon() {
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
      cma.unlisten(this, place.device());
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
    CmaDevice left;
    synchronized (lock) {
      left = place.forgetDevice();
    }
    place.leave(left);
    if (synchronous) {
      events.close();
    }
    owner.forget(this);
  }

  /** What resource tracking says of it: a line, or one for each device that it listens on. */
  void describe(List<CmIdResource> lines, Collection<CmaDevice> devices) {
    QueuePair qp = qp();
    CmaDevice where = place.device();
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
        state == IDLE ? null : place.local(),
        place.remote(),
        owner.bundle(),
        owner.comm(),
        ProcessHandle.current().pid());
  }
}
