package org.rdma4j.roce.capture;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.ForwardingLink;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.PacketHandler;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.link.Route;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A link whose packets, of both directions, can be captured. Everything goes through to the link behind it; while no
 * capture runs that costs one volatile read a packet.
 *
 * <p>A packet sent is captured when it is committed, also when the network refuses it afterwards; a packet received,
 * before its handler sees it, and not when its ICRC was wrong. What the link does not show is made up:
 * identification 0 when unknown, hop limit 64, and the ICRC to match. Writing happens on the link's thread, so a
 * slow disk slows the link; an error of the file ends the capture, never the link.
 *
 * <p>{@link #start}, {@link #stop} and {@link #isCapturing} may be called from any thread, the rest as {@link Link}
 * says.
 */
public final class CapturingLink extends ForwardingLink {

  private static final Logger LOG = LoggerFactory.getLogger(CapturingLink.class);
  private static final int DEFAULT_HOP_LIMIT = 64;
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** A running capture and this link's interface in it. */
  private record Tap(PcapngWriter writer, int interfaceNumber) {}

  private final Link link;
  private final String name;
  private final Clock epochClock;
  private final MemorySegment transmitMemory;
  private final RoceFrame headers = new RoceFrame();
  private final PacketHandler capturingHandler = this::onPacket;
  private volatile Tap tap;
  private PacketHandler handler;
  private Route claimedRoute;
  private long claimedOffset;
  private int claimedLength;

  /**
   * Makes a link capturable, with the time of day for its packets.
   *
   * @param link what carries the packets; closed with this one
   * @param name of the interface in captures, for example {@code rxe0}
   */
  public CapturingLink(Link link, String name) {
    this(link, name, timeOfDay());
  }

  /**
   * Makes a link capturable, with times of a given clock.
   *
   * @param link what carries the packets; closed with this one
   * @param name of the interface in captures, for example {@code rxe0}
   * @param epochClock counts from 1970, or from what shall be shown as 1970
   */
  public CapturingLink(Link link, String name, Clock epochClock) {
    super(link);
    this.link = link;
    this.name = name;
    this.epochClock = epochClock;
    this.transmitMemory = link.transmitMemory();
  }

  private static Clock timeOfDay() {
    long origin = System.currentTimeMillis() * NANOS_PER_MILLI - Clock.SYSTEM.nanoTime();
    return () -> origin + Clock.SYSTEM.nanoTime();
  }

  /**
   * Starts a capture, in place of one that may run.
   *
   * @param writer where to; stays its owner's to close, after {@link #stop}
   * @throws IOException when the writer cannot write
   */
  public void start(PcapngWriter writer) throws IOException {
    tap = new Tap(writer, writer.addInterface(name));
  }

  /** Ends the capture, if one runs. A packet that is just being written may still appear. */
  public void stop() {
    tap = null;
  }

  /**
   * Says whether a capture runs.
   *
   * @return false before {@link #start}, after {@link #stop}, and after an error of the capture
   */
  public boolean isCapturing() {
    return tap != null;
  }

  @Override
  public MemorySegment transmitMemory() {
    return transmitMemory;
  }

  @Override
  public long claim(Route route, int length) {
    claimedRoute = route;
    claimedLength = length;
    claimedOffset = link.claim(route, length);
    return claimedOffset;
  }

  @Override
  public void commit() {
    Tap current = tap;
    if (current != null) {
      Route route = claimedRoute;
      Gid source = route.source();
      Gid destination = route.destination();
      headers.addresses(source.hi(), source.lo(), destination.hi(), destination.lo());
      headers.ip(route.trafficClass(), route.flowLabel(), route.hopLimit(), 0);
      write(current, Direction.OUTBOUND, transmitMemory, claimedOffset, claimedLength);
    }
    link.commit();
  }

  @Override
  public int receive(PacketHandler receiver, int limit) {
    handler = receiver;
    return link.receive(capturingHandler, limit);
  }

  private void onPacket(ReceivedPacket packet) {
    Tap current = tap;
    if (current != null) {
      headers.addresses(packet.sourceHi(), packet.sourceLo(), packet.destinationHi(), packet.destinationLo());
      headers.ip(
          known(packet.trafficClass(), 0), known(packet.flowLabel(), 0), known(packet.hopLimit(), DEFAULT_HOP_LIMIT),
          known(packet.identification(), 0));
      write(current, Direction.INBOUND, packet.buffer(), packet.offset(), packet.length());
    }
    handler.onPacket(packet);
  }

  private static int known(int value, int otherwise) {
    return value == ReceivedPacket.UNKNOWN ? otherwise : value;
  }

  private void write(Tap current, Direction direction, MemorySegment packet, long offset, int length) {
    try {
      current.writer.write(
          current.interfaceNumber, epochClock.nanoTime(), direction, headers, packet, offset, length);
    } catch (IOException e) {
      if (current.equals(tap)) {
        tap = null;
        LOG.warn("capture of {} ended: {}", name, e.toString(), e);
      }
    }
  }

  /** Not during a capture: its destination may block, and be closed by an interrupt of the thread that writes. */
  @Override
  public boolean mayBeLent() {
    return tap == null && link.mayBeLent();
  }

  @Override
  public void close() {
    stop();
    link.close();
  }
}
