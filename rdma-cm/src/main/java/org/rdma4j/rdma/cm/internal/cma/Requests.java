package org.rdma4j.rdma.cm.internal.cma;

import java.net.InetSocketAddress;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.ConnectionParameters;
import org.rdma4j.rdma.cm.DatagramParameters;
import org.rdma4j.rdma.cm.Ece;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmEventType;
import org.rdma4j.rdma.cm.RdmaRoute;
import org.rdma4j.rdma.cm.ib.CmEvent;
import org.rdma4j.rdma.cm.ib.CmHandler.Verdict;
import org.rdma4j.rdma.cm.ib.CmId;
import org.rdma4j.roce.address.Gid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Requests that come: who is asked, and the identifier that is made for it (kernel: {@code cma_ib_req_handler}). */
final class Requests {
  private static final Logger LOG = LoggerFactory.getLogger(Requests.class);
  private static final int PORT = 0xffff;

  private Requests() {}

  /** Where a request came to. */
  private record Asked(CmaDevice device, GidEntry gid, CmaHeader header, Id listener, int localPort) {
    InetSocketAddress local() {
      return new InetSocketAddress(header.destination(), localPort);
    }
  }

  static Verdict connection(Cma cma, CmId cm, CmEvent.ReqReceived request) {
    Gid local = request.path().address().local();
    Asked asked = find(cma, cm, request.listener().serviceId(), local, request.privateData());
    if (asked == null || asked.listener().qpType() != request.qpType()) {
      return Verdict.DESTROY;
    }
    var connection =
        new ConnectionParameters(
            CmaHeader.userData(request.privateData()),
            request.responderResources(),
            request.initiatorDepth(),
            request.flowControl(),
            request.retryCount(),
            request.rnrRetryCount(),
            request.srq(),
            request.remoteQpn());
    RdmaRoute route = Routes.of(request.path());
    Ece ece = new Ece(request.vendorId(), request.attributeModifier());
    return offer(
        asked,
        cm,
        route,
        ece,
        id -> {
          id.asked(request.responderResources(), request.initiatorDepth());
          return event(id, asked.listener(), connection, null, ece);
        });
  }

  static Verdict datagram(Cma cma, CmId cm, CmEvent.SidrReqReceived request) {
    Asked asked = find(cma, cm, request.listener().serviceId(), request.local(), request.privateData());
    if (asked == null || asked.listener().qpType() != QpType.UD) {
      return Verdict.DESTROY;
    }
    var datagram = new DatagramParameters(CmaHeader.userData(request.privateData()), null, 0, 0);
    return offer(asked, cm, null, Ece.NONE, id -> event(id, asked.listener(), null, datagram, Ece.NONE));
  }

  private static RdmaCmEvent event(
      Id id, Id listener, ConnectionParameters connection, DatagramParameters datagram, Ece ece) {
    return new RdmaCmEvent(
        RdmaCmEventType.CONNECT_REQUEST, 0, id, listener, connection, datagram, ece, id.between());
  }

  private static Asked find(Cma cma, CmId cm, long serviceId, Gid local, byte[] privateData) {
    CmaDevice device = cma.device(cm.port().device());
    CmaHeader header = CmaHeader.read(privateData);
    PortSpace space = PortSpace.of(serviceId);
    if (device == null || header == null || space == null) {
      LOG.debug("a request for service {} cannot be told of: device {}, {}", serviceId, device, header);
      return null;
    }
    int port = (int) (serviceId & PORT);
    Id listener = cma.listener(space, port, device, header);
    GidEntry gid = device.find(local, null);
    if (listener == null || gid == null) {
      LOG.debug("nobody listens on {} port {} of {} for {}", header.destination(), port, device, header.source());
      return null;
    }
    return new Asked(device, gid, header, listener, port);
  }

  /** Makes an event of an identifier. */
  private interface Telling {
    RdmaCmEvent of(Id id);
  }

  private static Verdict offer(Asked asked, CmId cm, RdmaRoute route, Ece ece, Telling telling) {
    Id listener = asked.listener();
    try {
      return listener.offer(
          made -> {
            made.beginPassive(
                cm, asked.device(), asked.gid(), asked.local(), asked.header().source(), route, ece);
            return telling.of(made);
          });
    } catch (VerbsException e) {
      LOG.debug("a request of {} is refused: {}", asked.header().source(), e.toString());
      return Verdict.DESTROY;
    }
  }
}
