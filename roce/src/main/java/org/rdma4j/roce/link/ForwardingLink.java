package org.rdma4j.roce.link;

import java.lang.foreign.MemorySegment;
import org.rdma4j.roce.address.Gid;

/**
 * A link that passes everything on to another, for those that look at packets or change what becomes of them: they
 * override what they care for, and miss nothing that links learn later. Thread rules are those of {@link Link}.
 */
public abstract class ForwardingLink implements Link {
  private final Link link;

  /**
   * Passes on to a link.
   *
   * @param link what carries the packets; closed with this one
   */
  protected ForwardingLink(Link link) {
    this.link = link;
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
  public void joinGroup(Gid group) {
    link.joinGroup(group);
  }

  @Override
  public void leaveGroup(Gid group) {
    link.leaveGroup(group);
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
  public int receive(PacketHandler handler, int limit) {
    return link.receive(handler, limit);
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
  public boolean mayBeLent() {
    return link.mayBeLent();
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
