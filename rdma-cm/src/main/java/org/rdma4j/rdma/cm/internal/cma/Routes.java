package org.rdma4j.rdma.cm.internal.cma;

import org.rdma4j.rdma.cm.RdmaRoute;
import org.rdma4j.rdma.cm.ib.CmAddress;
import org.rdma4j.rdma.cm.ib.CmPath;

/** The way as applications see it, and as messages carry it. */
final class Routes {
  private Routes() {}

  static RdmaRoute of(CmPath path) {
    CmAddress way = path.address();
    return new RdmaRoute(
        way.local(),
        way.remote(),
        way.pkey(),
        path.mtu(),
        path.rate(),
        path.lifeTime(),
        way.trafficClass(),
        way.flowLabel(),
        way.hopLimit(),
        way.serviceLevel());
  }

  static CmPath path(RdmaRoute route) {
    CmAddress way =
        new CmAddress(
            route.source(),
            route.destination(),
            route.pkey(),
            route.trafficClass(),
            route.flowLabel(),
            route.hopLimit(),
            route.serviceLevel());
    return new CmPath(way, route.mtu(), route.rate(), route.packetLifeTime());
  }

  static RdmaRoute withLifeTime(RdmaRoute route, int lifeTime) {
    return new RdmaRoute(
        route.source(),
        route.destination(),
        route.pkey(),
        route.mtu(),
        route.rate(),
        lifeTime,
        route.trafficClass(),
        route.flowLabel(),
        route.hopLimit(),
        route.serviceLevel());
  }
}
