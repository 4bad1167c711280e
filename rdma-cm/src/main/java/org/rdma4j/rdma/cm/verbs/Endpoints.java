package org.rdma4j.rdma.cm.verbs;

import java.time.Duration;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmId;

/** Synchronous identifiers that are ready for use. */
public final class Endpoints {
  private static final Duration LIMIT = Duration.ofSeconds(2);

  private Endpoints() {}

  /**
   * Makes a synchronous identifier for an address ({@code rdma_create_ep}); {@link RdmaCmId#close} ends it.
   *
   * <p>A passive one is bound; {@link RdmaCmId#listen} is next, and then {@link RdmaCmId#getRequest} makes the queue
   * pair of each new identifier as the attributes say. Any other has its address and its route resolved, which may take
   * 2 s each, and its queue pair; {@link RdmaCmId#connect} is next.
   *
   * @param manager the connection manager
   * @param info where to listen or whom to connect, from {@link AddressInfo#getAddressInfo}
   * @param domain of the queue pairs; null for the one that the identifiers on a device share
   * @param attributes what the queue pairs are to be, with the type that the address has; copied. Null for none
   * @return the identifier, without channel
   * @throws VerbsException EINVAL for attributes of another type and for an address without what its side needs; what
   *     {@link RdmaCm#createId}, {@link RdmaCmId#bindAddress}, {@link RdmaCmId#resolveAddress}, {@link
   *     RdmaCmId#resolveRoute} and {@link RdmaCmId#createQp} throw; nothing is left then
   */
  public static RdmaCmId createEndpoint(
      RdmaCm manager, AddressInfo info, ProtectionDomain domain, QpInitAttributes attributes) {
    if ((info.isPassive() ? info.source() : info.destination()) == null) {
      throw new VerbsException(
          Errno.EINVAL, info + " has no " + (info.isPassive() ? "source to listen on" : "destination"));
    }
    if (attributes != null && attributes.type() != info.qpType()) {
      throw new VerbsException(
          Errno.EINVAL, "attributes of type " + attributes.type() + " for an address of type " + info.qpType());
    }
    RdmaCmId id = manager.createId(null, info.portSpace(), null);
    boolean made = false;
    try {
      if (info.isPassive()) {
        id.bindAddress(info.source());
        id.requestAttributes(domain, attributes);
      } else {
        id.resolveAddress(info.source(), info.destination(), LIMIT);
        id.resolveRoute(LIMIT);
        if (attributes != null) {
          id.createQp(domain, attributes);
        }
      }
      made = true;
      return id;
    } finally {
      if (!made) {
        id.close();
      }
    }
  }
}
