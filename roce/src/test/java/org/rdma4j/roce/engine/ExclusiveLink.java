package org.rdma4j.roce.engine;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.LinkCounters;
import org.rdma4j.roce.link.PacketHandler;
import org.rdma4j.roce.link.Route;

/** Passes on to another link and notes when two threads use it at once, or one after its end. */
final class ExclusiveLink implements Link {
  final AtomicInteger violations = new AtomicInteger();
  volatile boolean mayBeLent = true;
  private final Link link;
  private final AtomicReference<Thread> inside = new AtomicReference<>();
  private volatile boolean closed;

  ExclusiveLink(Link link) {
    this.link = link;
  }

  private void enter() {
    if (closed || !inside.compareAndSet(null, Thread.currentThread())) {
      violations.incrementAndGet();
    }
  }

  private void leave() {
    if (!inside.compareAndSet(Thread.currentThread(), null)) {
      violations.incrementAndGet();
    }
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
    enter();
    Route route = link.route(source, destination, trafficClass, flowLabel, hopLimit);
    leave();
    return route;
  }

  @Override
  public MemorySegment transmitMemory() {
    return link.transmitMemory();
  }

  @Override
  public long claim(Route route, int length) {
    enter();
    long at = link.claim(route, length);
    leave();
    return at;
  }

  @Override
  public void commit() {
    enter();
    link.commit();
    leave();
  }

  @Override
  public void abort() {
    link.abort();
  }

  @Override
  public int flush() {
    enter();
    int count = link.flush();
    leave();
    return count;
  }

  @Override
  public int receive(PacketHandler handler, int limit) {
    enter();
    int count = link.receive(handler, limit);
    leave();
    return count;
  }

  @Override
  public void await(long timeoutNanos) {
    enter();
    link.await(timeoutNanos);
    leave();
  }

  @Override
  public void wakeup() {
    link.wakeup();
  }

  @Override
  public boolean mayBeLent() {
    return mayBeLent;
  }

  @Override
  public LinkCounters counters() {
    return link.counters();
  }

  @Override
  public void close() {
    closed = true;
    link.close();
  }
}
