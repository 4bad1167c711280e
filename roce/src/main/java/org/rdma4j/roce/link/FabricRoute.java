package org.rdma4j.roce.link;

/** A route of {@link FabricLink}; ends when its source is removed. */
final class FabricRoute extends LinkRoute {
  private final Direction direction;
  private final FabricLink.Address source;

  FabricRoute(
      FabricLink owner, FabricLink.Address source, Direction direction, int trafficClass, int flowLabel,
      int hopLimit) {
    super(owner, direction.source, direction.destination, trafficClass, flowLabel, hopLimit);
    this.source = source;
    this.direction = direction;
  }

  Direction direction() {
    return direction;
  }

  @Override
  boolean isUsable() {
    return source.attached;
  }
}
