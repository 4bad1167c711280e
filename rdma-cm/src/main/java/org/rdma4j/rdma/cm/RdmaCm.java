package org.rdma4j.rdma.cm;

import java.util.List;
import org.osgi.annotation.versioning.ProviderType;

/**
 * The RDMA connection manager (librdmacm), a service; every bundle has its own, and what is made through it belongs to
 * the bundle and goes with it. Safe for any thread.
 */
@ProviderType
public interface RdmaCm extends AutoCloseable {
  /**
   * Makes a channel that events come through ({@code rdma_create_event_channel}).
   *
   * @return the channel
   * @throws org.rdma4j.ib.core.verbs.VerbsException ENODEV when the connection manager goes
   */
  EventChannel createEventChannel();

  /**
   * Makes an identifier ({@code rdma_create_id}).
   *
   * @param channel where its events go; null for a synchronous one, whose calls wait for what they begin
   * @param portSpace which ports it uses; TCP makes reliable connections, UDP and IPOIB datagram queue pairs
   * @param context whatever the caller wants to find at it again; may be null
   * @return the identifier
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL for a channel that is closed or somebody else's, and for IB,
   *     which does not say what queue pairs there will be; ENODEV when the connection manager goes
   */
  RdmaCmId createId(EventChannel channel, PortSpace portSpace, Object context);

  /**
   * The same for a program of its own within the bundle, such as a command.
   *
   * @param comm its name in resource tracking
   * @return a manager whose {@link #close} destroys what was made through it
   * @throws org.rdma4j.ib.core.verbs.VerbsException ENODEV when the connection manager goes
   */
  RdmaCm open(String comm);

  /** {@return the identifiers of everybody by their number, what {@code rdma resource show cm_id} lists} */
  List<CmIdResource> resources();

  /**
   * Destroys all identifiers and channels made through this object, and closes the devices they opened. The service
   * itself can be used again afterwards, what {@link #open} gave cannot.
   */
  @Override
  void close();
}
