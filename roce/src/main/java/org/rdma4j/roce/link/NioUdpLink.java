package org.rdma4j.roce.link;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.rdma4j.roce.address.Gid;

/**
 * RoCEv2 over {@link java.nio.channels.DatagramChannel}s: the fallback where {@link UdpLink} does not work. One
 * packet in one system call, so several times slower with many packets.
 *
 * <p>What it cannot do, because Java shows no way to it:
 *
 * <ul>
 *   <li><b>IPv6 from senders that leave the UDP checksum 0, as Linux {@code rdma_rxe} and RDMA network cards do:
 *     their packets never arrive</b> ({@code UDP_NO_CHECK6_RX} is needed). IPv6 between two links of this kind, or
 *     with {@link UdpLink}, works.
 *   <li>Traffic class, flow label and hop limit of a route: packets carry the system's defaults. Those of received
 *       packets are {@link ReceivedPacket#UNKNOWN}.
 *   <li>Waits shorter than a millisecond: they last up to one, unless a packet or a wake-up comes.
 * </ul>
 */
public final class NioUdpLink implements Link {
  private static final int MAX_MESSAGES = 512;
  private static final int DATAGRAM_SIZE = 64 * 1024;

  private final UdpLinkConfig config;
  private final Arena arena = Arena.ofShared();
  private final LinkCounters counters = new LinkCounters();
  private final TransmitBatch batch;
  private final ByteBuffer transmitView;
  private final MemorySegment receiveMemory;
  private final ByteBuffer receiveView;
  private final PacketCheck check;
  private final ReceivedPacket packet = new ReceivedPacket();
  private final Selector selector;
  private final Doorbell doorbell;
  private final List<NioSocket> sockets = new ArrayList<>();
  private final Consumer<SelectionKey> nothing = key -> {};
  private int nextSocket;
  private boolean closed;

  private SocketAddress lastSource;
  private long sourceHi;
  private long sourceLo;
  private int sourcePort;

  /**
   * Opens a link without addresses. The offloads that the settings allow are not used.
   *
   * @param config the settings
   * @throws LinkException EIO when Java cannot open a selector
   */
  public NioUdpLink(UdpLinkConfig config) {
    this.config = config;
    boolean made = false;
    try {
      MemorySegment memory = arena.allocate(config.transmitBytes(), Long.BYTES);
      transmitView = memory.asByteBuffer();
      receiveMemory = arena.allocate(DATAGRAM_SIZE, Long.BYTES);
      receiveView = receiveMemory.asByteBuffer();
      batch = new TransmitBatch(this, memory, config.port(), UdpLink.MAX_PACKET_LENGTH, MAX_MESSAGES);
      check = new PacketCheck(receiveMemory, config.icrcCheck(), counters);
      selector = Selector.open();
      made = true;
    } catch (IOException e) {
      throw LinkErrno.EIO.exception("no selector for a UDP link", e);
    } finally {
      if (!made) {
        arena.close();
      }
    }
    doorbell = new Doorbell(selector::wakeup);
  }

  @Override
  public int maxPacketLength() {
    return UdpLink.MAX_PACKET_LENGTH;
  }

  @Override
  public void addAddress(Gid gid) {
    requireOpen();
    LinkAddress.requireUnicast(gid);
    if (find(gid) != null) {
      throw LinkErrno.EADDRINUSE.exception(gid + " is an address of this link already");
    }
    sockets.add(NioSocket.open(selector, gid, config));
  }

  @Override
  public void removeAddress(Gid gid) {
    requireOpen();
    NioSocket socket = find(gid);
    if (socket == null || gid.isMulticast()) {
      throw LinkErrno.EADDRNOTAVAIL.exception(gid + " is no address of this link");
    }
    remove(socket);
  }

  @Override
  public void joinGroup(Gid group) {
    requireOpen();
    LinkAddress.requireMulticast(group);
    if (find(group) != null) {
      throw LinkErrno.EADDRINUSE.exception(group + " has been joined by this link already");
    }
    for (NioSocket each : sockets) {
      if (!each.gid().isMulticast() && each.gid().isIpv4Mapped() == group.isIpv4Mapped()) {
        NetworkInterface on = LinkAddress.interfaceOf(each.gid(), config.networkInterface());
        sockets.add(NioSocket.openGroup(selector, group, config, on));
        return;
      }
    }
    throw LinkErrno.EADDRNOTAVAIL.exception(group + " cannot be joined without an address of its family");
  }

  @Override
  public void leaveGroup(Gid group) {
    requireOpen();
    NioSocket socket = find(group);
    if (socket == null || !group.isMulticast()) {
      throw LinkErrno.EADDRNOTAVAIL.exception(group + " was not joined by this link");
    }
    remove(socket);
  }

  private void remove(NioSocket socket) {
    sockets.remove(socket);
    nextSocket = 0;
    socket.close();
    // A channel gives its port back only when the selector has let go of it.
    select(0);
  }

  private NioSocket find(Gid gid) {
    for (NioSocket socket : sockets) {
      if (socket.gid().equals(gid)) {
        return socket;
      }
    }
    return null;
  }

  @Override
  public Route route(Gid source, Gid destination, int trafficClass, int flowLabel, int hopLimit) {
    requireOpen();
    NioSocket socket = find(source);
    if (socket == null || source.isMulticast()) {
      throw LinkErrno.EADDRNOTAVAIL.exception("no route from " + source + ": it is no address of this link");
    }
    if (destination.isMulticast() && destination.isIpv4Mapped() == source.isIpv4Mapped()) {
      NetworkInterface through = LinkAddress.interfaceOf(source, config.networkInterface());
      LinkAddress.requireRoute(source, destination, through);
      socket.sendGroupsThrough(through);
    }
    return new NioRoute(this, socket, destination, trafficClass, flowLabel, hopLimit);
  }

  private void requireOpen() {
    if (closed) {
      throw LinkErrno.EBADF.exception("the link is closed");
    }
  }

  @Override
  public MemorySegment transmitMemory() {
    return batch.memory();
  }

  @Override
  public long claim(Route route, int length) {
    return closed ? -1 : batch.claim(route, length);
  }

  @Override
  public void commit() {
    batch.commit();
  }

  @Override
  public void abort() {
    batch.abort();
  }

  @Override
  public int flush() {
    int taken = 0;
    while (!closed && !batch.isEmpty()) {
      NioRoute route = (NioRoute) batch.route(batch.first());
      int length = batch.length(batch.first());
      int sent = route.isUsable() ? send(route, batch.offset(batch.first()), length) : -1;
      if (sent == 0) {
        counters.increment(LinkCounter.SEND_BUSY);
        route.socket().setBusy(true);
        return taken;
      }
      if (sent > 0) {
        taken++;
        counters.increment(LinkCounter.PACKETS_SENT);
        counters.increment(LinkCounter.SEND_CALLS);
        counters.add(LinkCounter.BYTES_SENT, length - PacketSeal.ICRC_LENGTH);
        route.socket().setBusy(false);
      } else {
        counters.increment(LinkCounter.SEND_ERRORS);
      }
      batch.take(1);
    }
    return taken;
  }

  /** Returns the bytes sent, 0 when the socket can take no more, -1 when it refuses the packet. */
  private int send(NioRoute route, int offset, int length) {
    transmitView.limit(offset + length).position(offset);
    try {
      return route.socket().channel().send(transmitView, route.address());
    } catch (IOException e) {
      return -1;
    }
  }

  @Override
  public int receive(PacketHandler handler, int limit) {
    int delivered = 0;
    int empty = 0;
    while (!closed && delivered < limit && empty < sockets.size()) {
      nextSocket = nextSocket + 1 < sockets.size() ? nextSocket + 1 : 0;
      NioSocket socket = sockets.get(nextSocket);
      int length = receiveDatagram(socket);
      if (length < 0) {
        empty++;
      } else {
        empty = 0;
        if (accept(socket, length)) {
          delivered++;
          handler.onPacket(packet);
        }
      }
    }
    return delivered;
  }

  /** Returns the length of the datagram, or -1 when there is none. */
  private int receiveDatagram(NioSocket socket) {
    receiveView.clear();
    try {
      SocketAddress source = socket.channel().receive(receiveView);
      if (source == null) {
        return -1;
      }
      // Java gives the same object for datagrams of the same source: look into it only when it is another.
      if (!source.equals(lastSource)) {
        readSource((InetSocketAddress) source);
      }
      lastSource = source;
    } catch (IOException e) {
      counters.increment(LinkCounter.RECEIVE_ERRORS);
      return -1;
    }
    counters.increment(LinkCounter.RECEIVE_CALLS);
    return receiveView.position();
  }

  private void readSource(InetSocketAddress source) {
    Gid gid = Gid.of(source.getAddress());
    sourceHi = gid.hi();
    sourceLo = gid.lo();
    sourcePort = source.getPort();
  }

  private boolean accept(NioSocket socket, int datagram) {
    int length = datagram - PacketSeal.ICRC_LENGTH;
    if (length < PacketSeal.MIN_PACKET_LENGTH) {
      counters.increment(LinkCounter.RUNTS);
      return false;
    }
    long destinationHi = socket.gid().hi();
    long destinationLo = socket.gid().lo();
    int identification =
        check.check(0, length, sourceHi, sourceLo, sourcePort, destinationHi, destinationLo, socket.port(), 0);
    if (identification == PacketCheck.REFUSED) {
      return false;
    }
    counters.increment(LinkCounter.PACKETS_RECEIVED);
    counters.add(LinkCounter.BYTES_RECEIVED, length);
    packet
        .wrap(receiveMemory, 0, length)
        .source(sourceHi, sourceLo)
        .destination(destinationHi, destinationLo)
        .ip(ReceivedPacket.UNKNOWN, ReceivedPacket.UNKNOWN, ReceivedPacket.UNKNOWN, identification);
    return true;
  }

  @Override
  public void await(long timeoutNanos) {
    if (closed || !doorbell.beginWait()) {
      return;
    }
    try {
      if (timeoutNanos > 0) {
        select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(timeoutNanos)));
      }
    } finally {
      doorbell.endWait();
    }
  }

  private void select(long timeoutMillis) {
    try {
      if (timeoutMillis == 0) {
        selector.selectNow(nothing);
      } else {
        selector.select(nothing, timeoutMillis);
      }
    } catch (IOException e) {
      throw LinkErrno.EIO.exception("the sockets of a UDP link could not be polled", e);
    }
  }

  @Override
  public void wakeup() {
    doorbell.ring();
  }

  @Override
  public LinkCounters counters() {
    return counters;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    doorbell.close();
    RuntimeException failure = null;
    for (NioSocket each : sockets) {
      try {
        each.close();
      } catch (LinkException e) {
        failure = e;
      }
    }
    try {
      selector.close();
    } catch (IOException e) {
      failure = LinkErrno.EIO.exception("the selector of a UDP link could not be closed", e);
    } finally {
      arena.close();
    }
    if (failure != null) {
      throw failure;
    }
  }
}
