package org.rdma4j.roce.link;

import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.address.Gid;

/**
 * A port's way to the network.
 *
 * <p>A packet is handed over from its BTH to the end of its pad. IP header, UDP header and ICRC are the link's: it
 * writes them, checks them and strips them.
 *
 * <p>All methods but {@link #wakeup()} and reading {@link #counters()} belong to one thread, the one that runs the
 * engine, or to the set-up before that thread starts. After {@link #close()} the control-path methods throw {@link
 * LinkException} EBADF, {@link #claim} returns -1, {@link #flush} and {@link #receive} return 0, {@link #await}
 * returns at once and {@link #wakeup()} does nothing. Packets between local addresses travel as all others do.
 */
public interface Link extends AutoCloseable {
  /**
   * Returns the length of the longest packet this link carries.
   *
   * @return bytes from BTH to the end of the pad, at least 4172 (4096 bytes of payload and 76 of headers)
   */
  int maxPacketLength();

  /**
   * Starts receiving on a local address, which also becomes usable as the source of routes.
   *
   * @param gid the address; an IPv4-mapped GID means IPv4
   * @throws LinkException EADDRINUSE when another has the port, or this link has the address already; EADDRNOTAVAIL
   *     when the address is not local; EINVAL when it is no unicast address; EMFILE, ENFILE or ENOMEM without
   *     resources; EBADF when closed
   */
  void addAddress(Gid gid);

  /**
   * Stops receiving on a local address. Packets committed with it as their source and not yet flushed are dropped and
   * counted as {@link LinkCounter#SEND_ERRORS}; its routes carry no packet any more.
   *
   * @param gid the address
   * @throws LinkException EADDRNOTAVAIL when it was not added; EBADF when closed
   */
  void removeAddress(Gid gid);

  /**
   * Starts receiving what anybody sends to a multicast group, on the network interface of this link's addresses: the
   * host joins it by IGMP or MLD. What this link itself sends to the group comes back to it. Control path.
   *
   * @param group the multicast address, of the family of one of the addresses
   * @throws LinkException EINVAL when it is no multicast address; EADDRINUSE when this link has joined it already;
   *     EADDRNOTAVAIL when no address of the family was added; ENODEV without the interface; EMFILE, ENFILE, ENOMEM
   *     or ENOBUFS without resources; EOPNOTSUPP for a link without multicast, as all are that do not override this;
   *     EBADF when closed
   */
  default void joinGroup(Gid group) {
    throw LinkErrno.EOPNOTSUPP.exception("this link cannot join " + group);
  }

  /**
   * Stops receiving what is sent to a multicast group.
   *
   * @param group the group
   * @throws LinkException EADDRNOTAVAIL when it was not joined; EBADF when closed
   */
  default void leaveGroup(Gid group) {
    throw LinkErrno.EADDRNOTAVAIL.exception(group + " was not joined by this link");
  }

  /**
   * Prepares what packets from one address to another need. Control path: may allocate.
   *
   * @param source one of the added addresses
   * @param destination where to, also a multicast group; of the same family as the source
   * @param trafficClass TOS or traffic class, 0 to 255
   * @param flowLabel IPv6 flow label, 0 to 0xfffff; a wish, because Linux sockets choose their own. The ICRC does not
   *     cover it
   * @param hopLimit time to live or hop limit, 1 to 255; 0 means 64
   * @return the route, usable until its source is removed or the link is closed
   * @throws LinkException EADDRNOTAVAIL when the source was not added or is of the other family; ENETUNREACH when the
   *     destination is zero or a group that the host has no route to; ENODEV without the interface that a group
   *     needs; EINVAL when a number is out of range; EBADF when closed
   */
  Route route(Gid source, Gid destination, int trafficClass, int flowLabel, int hopLimit);

  /**
   * Returns the memory that claimed packets are written to.
   *
   * @return one segment, the same for the life of the link
   */
  MemorySegment transmitMemory();

  /**
   * Takes room for one packet. At most one packet is claimed at a time: each claim is followed by {@link #commit()}
   * or {@link #abort()}.
   *
   * @param route where to, made by this link
   * @param length exact length from BTH to the end of the pad, a multiple of 4, 12 to {@link #maxPacketLength()}
   * @return where in {@link #transmitMemory()} to write the packet; the memory holds anything before. -1 when there
   *     is no room now: flush and try later
   * @throws IllegalStateException when the packet claimed before was neither committed nor aborted
   * @throws IllegalArgumentException when the length is out of range or the route is another link's
   */
  long claim(Route route, int length);

  /**
   * Says that the packet last claimed is complete. It leaves at the latest with the next {@link #flush()}, in the
   * order of commits.
   *
   * @throws IllegalStateException when no packet is claimed
   */
  void commit();

  /**
   * Gives the packet last claimed back; nothing is sent.
   *
   * @throws IllegalStateException when no packet is claimed
   */
  void abort();

  /**
   * Hands the committed packets to the network. What it cannot take now stays for the next call; what it refuses for
   * good is dropped and counted as {@link LinkCounter#SEND_ERRORS}.
   *
   * @return how many packets the network took
   */
  int flush();

  /**
   * Delivers packets that have arrived, without waiting. Packets with a wrong ICRC are counted and dropped. The
   * handler may claim, commit, abort and flush, but not receive or close. An exception of the handler comes out of
   * this method; the packets that were to follow stay for the next call.
   *
   * @param handler called for each packet
   * @param limit about how many packets at most, at least 1; a burst that the system delivered as one may exceed it
   * @return how many packets were delivered
   */
  int receive(PacketHandler handler, int limit);

  /**
   * Waits until packets may be there, {@link #wakeup()} was called, or the time is over. Returns early without a
   * reason now and then. A wake-up that came before the call ends it at once; wake-ups do not add up.
   *
   * @param timeoutNanos the longest wait in nanoseconds; 0 or less does not wait
   */
  void await(long timeoutNanos);

  /** Ends the current or the next {@link #await}. From any thread; cheap when the link's thread is not waiting. */
  void wakeup();

  /**
   * Says whether another thread than the usual one may use the link for a moment, one after the other: the thread of a
   * user, which may be interrupted and should not have to wait. From any thread.
   *
   * @return false when what the link does now could block, or suffer from an interrupt
   */
  default boolean mayBeLent() {
    return true;
  }

  /**
   * Returns the counters of this link.
   *
   * @return the live counters, the same object for the life of the link, readable from any thread
   */
  LinkCounters counters();

  /** Gives everything back: sockets, memory. Committed packets that were not flushed are dropped. Idempotent. */
  @Override
  void close();
}
