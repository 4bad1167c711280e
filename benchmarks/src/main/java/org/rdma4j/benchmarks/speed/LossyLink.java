package org.rdma4j.benchmarks.speed;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.LinkCounters;
import org.rdma4j.roce.link.PacketHandler;
import org.rdma4j.roce.link.ReceivedPacket;
import org.rdma4j.roce.link.Route;

/** Passes packets on but for some that arrive and get lost, each with the same probability. */
final class LossyLink implements Link {
  private static final int SEED = 4791;

  private final Link link;
  private final double loss;
  private final SplittableRandom random = new SplittableRandom(SEED);
  private final PacketHandler losing = this::onPacket;
  private PacketHandler handler;

  /** Loses so many of all packets, from 0 to 1. */
  LossyLink(Link link, double loss) {
    this.link = link;
    this.loss = loss;
  }

  private void onPacket(ReceivedPacket packet) {
    if (random.nextDouble() >= loss) {
      handler.onPacket(packet);
    }
  }

  @Override
  public int receive(PacketHandler receiver, int limit) {
    handler = receiver;
    return link.receive(losing, limit);
  }

  @Override
  public int maxPacketLength() {
    return link.maxPacketLength();
  }

  @Override
  public void addAddress(Gid gid) {
    link.addAddress(gid);
  }

  @Override
  public void removeAddress(Gid gid) {
    link.removeAddress(gid);
  }

  @Override
  public Route route(Gid source, Gid destination, int trafficClass, int flowLabel, int hopLimit) {
    return link.route(source, destination, trafficClass, flowLabel, hopLimit);
  }

  @Override
  public MemorySegment transmitMemory() {
    return link.transmitMemory();
  }

  @Override
  public long claim(Route route, int length) {
    return link.claim(route, length);
  }

  @Override
  public void commit() {
    link.commit();
  }

  @Override
  public void abort() {
    link.abort();
  }

  @Override
  public int flush() {
    return link.flush();
  }

  @Override
  public void await(long timeoutNanos) {
    link.await(timeoutNanos);
  }

  @Override
  public void wakeup() {
    link.wakeup();
  }

  @Override
  public LinkCounters counters() {
    return link.counters();
  }

  @Override
  public void close() {
    link.close();
  }
}
