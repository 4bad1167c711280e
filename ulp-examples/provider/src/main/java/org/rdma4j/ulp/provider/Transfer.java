package org.rdma4j.ulp.provider;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.packet.Grh;

/**
 * Carries out one request between two queue pairs, and decides how it ends on both sides (IBA specification 9.9). All
 * checks are made before the first byte is written. Under the lock of the wire.
 */
final class Transfer {
  private static final int GRH_BYTES = 40;
  private static final int UDP_BYTES = 28;

  private final LoopQp from;
  private final Request request;

  Transfer(LoopQp from, Request request) {
    this.from = from;
    this.request = request;
  }

  /**
   * Carries the request out.
   *
   * @return false where it has to wait
   * @throws Refused where it fails
   */
  boolean run() throws Refused {
    try {
      return from.isDatagram() ? datagram() : reliable();
    } catch (IllegalStateException e) {
      throw new Refused(WcStatus.LOC_PROT_ERR); // The arena of the memory was closed this moment.
    }
  }

  private boolean reliable() throws Refused {
    long length = Request.length(request.buffers());
    if (length > LoopDevice.MAX_MESSAGE) {
      throw new Refused(WcStatus.LOC_LEN_ERR);
    }
    boolean read = request.opcode() == WrOpcode.RDMA_READ;
    List<MemorySegment> local = pieces(from, request.buffers(), length, read ? Access.LOCAL_WRITE : null);
    LoopQp to = from.peer();
    if (to == null) {
      return waitsOr(from.waitsForAnswer(), WcStatus.RETRY_EXC_ERR);
    }
    switch (request.opcode()) {
      case RDMA_READ -> copy(List.of(remote(to, length, Access.REMOTE_READ)), local);
      case RDMA_WRITE -> copy(local, List.of(remote(to, length, Access.REMOTE_WRITE)));
      case RDMA_WRITE_WITH_IMM -> {
        MemorySegment target = remote(to, length, Access.REMOTE_WRITE);
        if (to.nextReceive() == null) {
          return waitsOr(from.waitsForReceive(), WcStatus.RNR_RETRY_EXC_ERR);
        }
        copy(local, List.of(target));
        to.received(WcOpcode.RECV_RDMA_WITH_IMM, (int) length, request, from, WcFlag.WITH_IMM);
      }
      default -> {
        if (to.nextReceive() == null) {
          return waitsOr(from.waitsForReceive(), WcStatus.RNR_RETRY_EXC_ERR);
        }
        copy(local, room(to, length));
        to.received(WcOpcode.RECV, (int) length, request, from, request.hasImmediate() ? WcFlag.WITH_IMM : 0);
      }
    }
    return true;
  }

  /** Nothing changes on this wire while nobody acts, so whoever does not wait for ever has waited long enough. */
  private static boolean waitsOr(boolean waits, WcStatus otherwise) throws Refused {
    if (!waits) {
      throw new Refused(otherwise);
    }
    return false;
  }

  /** The buffers of the peer's next receive. */
  private static List<MemorySegment> room(LoopQp to, long length) throws Refused {
    Request.Receive receive = to.nextReceive();
    if (Request.length(receive.buffers()) < length) {
      to.refuseReceive(WcStatus.LOC_LEN_ERR);
      throw new Refused(WcStatus.REM_INV_REQ_ERR);
    }
    try {
      return pieces(to, receive.buffers(), length, Access.LOCAL_WRITE);
    } catch (Refused e) {
      to.refuseReceive(e.status());
      throw new Refused(WcStatus.REM_OP_ERR);
    }
  }

  /** Memory of the peer that the request names. */
  private MemorySegment remote(LoopQp to, long length, Access needed) throws Refused {
    if (!to.allows(needed)) {
      to.refuse(AsyncEventType.QP_REQ_ERR);
      throw new Refused(WcStatus.REM_INV_REQ_ERR);
    }
    if (length == 0) {
      return MemorySegment.NULL; // Neither key nor address is looked at (IBA specification C9-88).
    }
    LoopMr region = to.device().memory(request.rkey());
    MemorySegment memory =
        region == null ? null : region.slice(to.protectionDomain(), request.remoteAddress(), length, needed);
    if (memory == null) {
      to.refuse(AsyncEventType.QP_ACCESS_ERR);
      throw new Refused(WcStatus.REM_ACCESS_ERR);
    }
    return memory;
  }

  /** Local memory, as far as so many bytes need it. */
  private static List<MemorySegment> pieces(LoopQp qp, List<Request.Buffer> buffers, long length, Access needed)
      throws Refused {
    List<MemorySegment> pieces = new ArrayList<>();
    long left = length;
    for (Request.Buffer each : buffers) {
      long used = Math.min(left, each.length());
      if (used > 0) {
        LoopMr region = qp.device().memory(each.lkey());
        MemorySegment piece =
            region == null ? null : region.slice(qp.protectionDomain(), each.address(), used, needed);
        if (piece == null) {
          throw new Refused(WcStatus.LOC_PROT_ERR);
        }
        pieces.add(piece);
        left -= used;
      }
    }
    return pieces;
  }

  private static void copy(List<MemorySegment> from, List<MemorySegment> to) {
    int next = 0;
    long at = 0;
    for (MemorySegment source : from) {
      long done = 0;
      while (done < source.byteSize()) {
        MemorySegment target = to.get(next);
        long count = Math.min(source.byteSize() - done, target.byteSize() - at);
        MemorySegment.copy(source, done, target, at, count);
        done += count;
        at += count;
        if (at == target.byteSize()) {
          next++;
          at = 0;
        }
      }
    }
  }

  /** A datagram that cannot be delivered is lost, and nobody is told. */
  private boolean datagram() throws Refused {
    long length = Request.length(request.buffers());
    if (length > LoopDevice.MTU.bytes()) {
      throw new Refused(WcStatus.LOC_LEN_ERR);
    }
    List<MemorySegment> local = new ArrayList<>();
    local.add(route((int) length));
    local.addAll(pieces(from, request.buffers(), length, null));
    LoopQp to = from.datagramPeer(request);
    if (to == null || to.nextReceive() == null) {
      return true;
    }
    try {
      copy(local, room(to, length + GRH_BYTES));
    } catch (Refused e) {
      return true;
    }
    int flags = WcFlag.GRH | (request.hasImmediate() ? WcFlag.WITH_IMM : 0);
    to.received(WcOpcode.RECV, (int) length + GRH_BYTES, request, from, flags);
    return true;
  }

  /** What RoCE v2 puts before a datagram: the IP header, at the end of 40 bytes where it is one of IPv4. */
  private MemorySegment route(int length) {
    Gid source = request.ah().attributes().sourceGid().gid();
    Gid destination = request.ah().attributes().destinationGid();
    int tclass = request.ah().attributes().trafficClass();
    int hops = request.ah().attributes().hopLimit();
    MemorySegment header = MemorySegment.ofArray(new byte[GRH_BYTES]);
    if (source.isIpv4Mapped()) {
      Grh.writeIpv4(header, 0, tclass, length + UDP_BYTES, 0, hops, source.ipv4(), destination.ipv4());
    } else {
      int flow = request.ah().attributes().flowLabel();
      Grh.writeIpv6(
          header, 0, tclass, flow, length, hops, source.hi(), source.lo(), destination.hi(), destination.lo());
    }
    return header;
  }
}
