package org.rdma4j.rdma.cm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.osgi.annotation.versioning.ProviderType;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.roce.address.Gid;

/**
 * An end of a connection, or a listener ({@code struct rdma_cm_id}). Safe for any thread. A call in a state that does
 * not allow it is refused with EINVAL and says which do; after the device went every call but {@link #close} fails with
 * ENODEV.
 *
 * <p>What a call begins is told by an event. At a synchronous identifier, one without channel, the call waits for it
 * and throws {@link org.rdma4j.ib.core.verbs.VerbsException} where it is an error: ECONNREFUSED where the peer refused,
 * or the error that the event has.
 */
@ProviderType
public interface RdmaCmId extends AutoCloseable {
  /** {@return its number in resource tracking} */
  int number();

  /** {@return the space of its port} */
  PortSpace portSpace();

  /** {@return type of its queue pairs} */
  QpType qpType();

  /** {@return where its events go; null for a synchronous identifier} */
  EventChannel channel();

  /** {@return what was given to find here again, or null; a new connection has that of its listener} */
  Object context();

  /**
   * Gives something to find here again.
   *
   * @param object anything, or null
   */
  void context(Object object);

  /** {@return the state it is in} */
  RdmaCmState state();

  /** {@return its local address; unspecified with port 0 before it has one} */
  InetSocketAddress localAddress();

  /** {@return the address of its peer, null before it has one} */
  InetSocketAddress remoteAddress();

  /** {@return the device, opened for its owner; null before the identifier has one ({@code id->verbs})} */
  Context verbs();

  /** {@return the port of the device, 0 before the identifier has one} */
  int port();

  /** {@return the local GID, null before the identifier has a device} */
  Gid localGid();

  /** {@return the way to the peer, null before it is known} */
  RdmaRoute route();

  /**
   * Binds to a local address and port ({@code rdma_bind_addr}).
   *
   * @param local unspecified for all addresses of all devices; port 0 for any free one
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL in another state than IDLE, or for an IPv6 link-local
   *     address without scope; ENODEV where no device has the address; EADDRINUSE, EADDRNOTAVAIL where somebody has
   *     the port; EACCES for a port below 1024 without privilege
   */
  void bindAddress(InetSocketAddress local);

  /**
   * Finds the device that reaches an address ({@code rdma_resolve_addr}); ADDR_RESOLVED or ADDR_ERROR follows.
   *
   * @param source the local address, null to leave it to routing
   * @param destination the peer
   * @param timeout how long it may take, at least 1 ms
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL in another state than IDLE and ADDR_BOUND or for addresses
   *     of different families; what {@link #bindAddress} throws
   */
  void resolveAddress(InetSocketAddress source, InetSocketAddress destination, Duration timeout);

  /**
   * Finds the way to the resolved address ({@code rdma_resolve_route}); ROUTE_RESOLVED or ROUTE_ERROR follows.
   *
   * @param timeout how long it may take, at least 1 ms
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL in another state than ADDR_RESOLVED or for no time
   */
  void resolveRoute(Duration timeout);

  /**
   * Listens ({@code rdma_listen}); CONNECT_REQUEST comes for each who asks. Bound to all addresses it listens on
   * every device, also on those that come later.
   *
   * @param backlog how many requests may wait to be taken from the channel; 0 or less and more than 1024 for 1024. A
   *     request too many is dropped and the peer asks again
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL in another state than IDLE and ADDR_BOUND; EADDRINUSE,
   *     EADDRNOTAVAIL where somebody has the port
   */
  void listen(int backlog);

  /**
   * Waits for a request at a synchronous listener ({@code rdma_get_request}).
   *
   * @param timeout how long to wait, null for ever
   * @return a synchronous identifier for it, with a queue pair where {@link #requestAttributes} said so; null
   *     where the time was over first
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL where the identifier does not listen or is not synchronous;
   *     ENODEV, ECANCELED
   */
  RdmaCmId getRequest(Duration timeout);

  /**
   * Says what {@link #getRequest} makes the queue pair of each new identifier with (what {@code rdma_create_ep} keeps
   * of its passive side); without, it makes none.
   *
   * @param domain their protection domain, null for the one that identifiers on a device share
   * @param attributes what they are to be; copied. Null for no queue pairs
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL for attributes of another type than {@link #qpType}
   */
  void requestAttributes(ProtectionDomain domain, QpInitAttributes attributes);

  /** {@return the event that the last call of a synchronous identifier waited for, or null} */
  RdmaCmEvent event();

  /**
   * Asks for a connection ({@code rdma_connect}); ESTABLISHED or, without queue pair, CONNECT_RESPONSE follows, or
   * REJECTED, UNREACHABLE, CONNECT_ERROR. Datagrams: asks for the peer's queue pair.
   *
   * @param parameters what to say, null for {@link ConnectionParameters#DEFAULT}
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL in another state than ROUTE_RESOLVED, for too long private
   *     data, or for numbers out of range
   */
  void connect(ConnectionParameters parameters);

  /**
   * Agrees to a connection ({@code rdma_accept}); ESTABLISHED follows. Datagrams: says which queue pair answers.
   *
   * @param parameters what to say, null for {@link ConnectionParameters#DEFAULT} within what the peer asked for
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL in another state than CONNECT with a request, for too long
   *     private data, or for numbers out of range
   */
  void accept(ConnectionParameters parameters);

  /**
   * Refuses a connection ({@code rdma_reject}), with the reason 28 of consumers.
   *
   * @param privateData for the peer, at most 148 bytes, of datagrams 136
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL where nothing is to refuse or for too long private data
   */
  void reject(byte[] privateData);

  /**
   * Refuses a connection since its enhanced options do not fit ({@code rdma_reject_ece}), with the reason 35.
   *
   * @param privateData for the peer, at most 148 bytes
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL where nothing is to refuse or for too long private data
   */
  void rejectEce(byte[] privateData);

  /**
   * Completes a connection after CONNECT_RESPONSE, when the caller's queue pair is ready ({@code rdma_establish}). No
   * event follows.
   *
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL where there was no response, or with a queue pair
   */
  void establish();

  /**
   * Says that the queue pair got a packet before the connection was established ({@code rdma_notify} with
   * COMM_EST). An identifier with a queue pair does so itself.
   *
   * @throws org.rdma4j.ib.core.verbs.VerbsException EISCONN when it is established, EINVAL without a peer
   */
  void notifyEstablished();

  /**
   * Ends the connection ({@code rdma_disconnect}): its queue pair fails, what is posted is flushed; DISCONNECTED
   * follows, and later TIMEWAIT_EXIT. After DISCONNECTED, by the peer, it confirms.
   *
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL where there is no connection
   */
  void disconnect();

  /**
   * Takes the identifier, with its events that wait, to another channel ({@code rdma_migrate_id}).
   *
   * @param channel the channel; null makes it synchronous
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL for a channel that is closed or somebody else's
   */
  void migrate(EventChannel channel);

  /**
   * Makes a queue pair, which the identifier takes through its states ({@code rdma_create_qp}). Completion queues that
   * the attributes do not have are made, each with a channel, and go with the queue pair.
   *
   * @param domain protection domain, null for {@link #domain()}
   * @param attributes what it is to be; its type must be that of the identifier. They are not changed
   * @return the queue pair: of datagrams ready, of connections in INIT
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL without a device, with a queue pair there already, for a
   *     domain of another device or another type; what {@link ProtectionDomain#createQp} throws
   */
  QueuePair createQp(ProtectionDomain domain, QpInitAttributes attributes);

  /**
   * Destroys the queue pair and the completion queues made with it ({@code rdma_destroy_qp}). Does nothing where there
   * is none.
   */
  void destroyQp();

  /** {@return the queue pair, null without one} */
  QueuePair qp();

  /**
   * The protection domain that all identifiers of an owner on a device share ({@code id->pd}).
   *
   * @return the domain: that of the queue pair where there is one
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL without a device
   */
  ProtectionDomain domain();

  /**
   * What a queue pair that the caller made needs to get to a state ({@code rdma_init_qp_attr}).
   *
   * @param state INIT, RTR or RTS
   * @return attributes for {@link QueuePair#modify}
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL where that is not known yet
   */
  QpAttributes qpAttributes(QpState state);

  /**
   * Joins a multicast group ({@code rdma_join_multicast}); MULTICAST_JOIN follows. The queue pair of a full
   * member is attached by then.
   *
   * @param group IPv4 address of the group
   * @param how to send and receive or to send only
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL for another type than datagrams, without a device, or for
   *     an address that is no group or is joined already; EOPNOTSUPP for IPv6 groups over RoCE v2, as in Linux
   */
  void joinMulticast(InetAddress group, MulticastJoin how);

  /**
   * Leaves a multicast group ({@code rdma_leave_multicast}).
   *
   * @param group address of the group
   * @throws org.rdma4j.ib.core.verbs.VerbsException EADDRNOTAVAIL where it is not joined
   */
  void leaveMulticast(InetAddress group);

  /**
   * Sets the type of service of its packets ({@code RDMA_OPTION_ID_TOS}), before the route is resolved.
   *
   * @param tos 8 bits
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL for another number
   */
  void typeOfService(int tos);

  /**
   * Allows others that allow it, too, to have the same port ({@code RDMA_OPTION_ID_REUSEADDR}).
   *
   * @param allowed whether it does
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL for one that listens
   */
  void reuseAddress(boolean allowed);

  /**
   * Keeps an IPv6 identifier from serving IPv4, too ({@code RDMA_OPTION_ID_AFONLY}).
   *
   * @param only whether it serves the family of its address only
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL in another state than IDLE and ADDR_BOUND
   */
  void addressFamilyOnly(boolean only);

  /**
   * Sets how long a packet waits for its acknowledge ({@code RDMA_OPTION_ID_ACK_TIMEOUT}), before the connection is
   * asked for.
   *
   * @param exponent 4.096 us times a power of two, 0 to 31; 0 leaves it to the path
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL for another number
   */
  void ackTimeout(int exponent);

  /**
   * Sets the enhanced connection options that the next request or acceptance says ({@code rdma_set_local_ece}).
   *
   * @param options the options
   */
  void localEce(Ece options);

  /** {@return the peer's enhanced connection options ({@code rdma_get_remote_ece})} */
  Ece remoteEce();

  /**
   * Destroys the identifier ({@code rdma_destroy_id}), with its queue pair and whatever it has joined, and ends its
   * connection. Events of it that wait are dropped, also requests that nobody took. Does nothing when done before.
   */
  @Override
  void close();
}
