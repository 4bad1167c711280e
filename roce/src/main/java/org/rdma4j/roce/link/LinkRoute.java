package org.rdma4j.roce.link;

import org.rdma4j.roce.address.Gid;

/** What all links keep of a route. */
class LinkRoute implements Route {
  private static final int DEFAULT_HOP_LIMIT = 64;
  private static final int MAX_TRAFFIC_CLASS = 0xff;
  private static final int MAX_HOP_LIMIT = 0xff;
  private static final int MAX_FLOW_LABEL = 0xfffff;

  private final Link owner;
  private final Gid source;
  private final Gid destination;
  private final int trafficClass;
  private final int flowLabel;
  private final int hopLimit;

  /** Checks everything that does not depend on the kind of link. */
  LinkRoute(Link owner, Gid source, Gid destination, int trafficClass, int flowLabel, int hopLimit) {
    this.owner = owner;
    this.source = source;
    this.destination = destination;
    this.trafficClass = inRange("traffic class", trafficClass, MAX_TRAFFIC_CLASS);
    this.flowLabel = inRange("flow label", flowLabel, MAX_FLOW_LABEL);
    int hops = inRange("hop limit", hopLimit, MAX_HOP_LIMIT);
    this.hopLimit = hops == 0 ? DEFAULT_HOP_LIMIT : hops;
    if (LinkAddress.isUnspecified(destination)) {
      throw LinkErrno.ENETUNREACH.exception("no route from " + source + " to the unspecified address " + destination);
    }
    if (source.isIpv4Mapped() != destination.isIpv4Mapped()) {
      throw LinkErrno.EADDRNOTAVAIL.exception(
          "no route from " + source + " to " + destination + ": both must be IPv4 or both IPv6");
    }
  }

  private static int inRange(String name, int value, int max) {
    if (value < 0 || value > max) {
      throw LinkErrno.EINVAL.exception(name + " " + value + " is not in 0 to " + max);
    }
    return value;
  }

  final Link owner() {
    return owner;
  }

  @Override
  public final Gid source() {
    return source;
  }

  @Override
  public final Gid destination() {
    return destination;
  }

  @Override
  public final int trafficClass() {
    return trafficClass;
  }

  @Override
  public final int flowLabel() {
    return flowLabel;
  }

  @Override
  public final int hopLimit() {
    return hopLimit;
  }

  /** False when it must not carry packets any more, because its source was removed. */
  boolean isUsable() {
    return true;
  }

  /** Whether packets of the other route, one of the same link, have the same IP and UDP header. */
  boolean isSameWay(LinkRoute other) {
    return this == other
        || (destination.lo() == other.destination.lo()
            && destination.hi() == other.destination.hi()
            && source.lo() == other.source.lo()
            && source.hi() == other.source.hi()
            && trafficClass == other.trafficClass
            && flowLabel == other.flowLabel
            && hopLimit == other.hopLimit);
  }

  /** Whether several packets of it may form one message. */
  boolean mayBatch() {
    return false;
  }

  @Override
  public String toString() {
    return source + " > " + destination;
  }
}
