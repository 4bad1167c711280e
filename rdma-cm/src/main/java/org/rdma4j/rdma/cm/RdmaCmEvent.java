package org.rdma4j.rdma.cm;

import java.util.Optional;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.rdma.cm.ib.RejectReason;
import org.rdma4j.rdma.cm.ib.SidrStatus;

/**
 * Something happened to an identifier ({@code struct rdma_cm_event}). A value: there is nothing to acknowledge, and it
 * is good for as long as somebody has it.
 *
 * @param type what happened
 * @param status 0; or the negative number of an {@link Errno}; or, of REJECTED and of UNREACHABLE for datagrams, the
 *     positive number of the peer's reason
 * @param id the identifier; for CONNECT_REQUEST the new one
 * @param listener for CONNECT_REQUEST the identifier that listens, otherwise null
 * @param connection what the peer says of a connection, with its private data; null where it says nothing
 * @param datagram where to send datagrams, with the peer's private data; null for connections
 * @param ece the peer's enhanced connection options
 * @param detail in words what was tried, between whom, and what was wrong; empty where there is nothing to say
 */
public record RdmaCmEvent(
    RdmaCmEventType type,
    int status,
    RdmaCmId id,
    RdmaCmId listener,
    ConnectionParameters connection,
    DatagramParameters datagram,
    Ece ece,
    String detail) {

  /** {@return the private data of the peer as long as its message has room for, with zeros behind what it wrote} */
  public byte[] privateData() {
    if (connection != null) {
      return connection.privateData();
    }
    return datagram == null ? new byte[0] : datagram.privateData();
  }

  /** {@return the error that the status is, where it is one of this side} */
  public Optional<Errno> errno() {
    for (Errno each : Errno.values()) {
      if (each.number() == -status) {
        return Optional.of(each);
      }
    }
    return Optional.empty();
  }

  /** {@return what the status means, empty for 0} */
  public String statusText() {
    if (status == 0) {
      return "";
    }
    if (status < 0) {
      return errno().map(each -> each.toString()).orElse("error " + -status);
    }
    return type == RdmaCmEventType.REJECTED ? RejectReason.text(status) : SidrStatus.text(status);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(type.text());
    if (status != 0) {
      text.append(", status ").append(status).append(" (").append(statusText()).append(')');
    }
    if (!detail.isEmpty()) {
      text.append(": ").append(detail);
    }
    return text.toString();
  }
}
