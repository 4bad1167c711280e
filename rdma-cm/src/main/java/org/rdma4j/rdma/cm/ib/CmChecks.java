package org.rdma4j.rdma.cm.ib;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.message.CmAttribute;
import org.rdma4j.rdma.cm.message.Rej;
import org.rdma4j.rdma.cm.message.SidrRep;

/** What consumers may ask for, whatever state the id is in. What they may not is EINVAL. */
final class CmChecks {
  /** Asks for a service id that nobody else has (kernel: {@code IB_CM_ASSIGN_SERVICE_ID}). */
  static final long ASSIGN_SERVICE_ID = 0x0200_0000_0000_0000L;

  private static final long SERVICE_ID_CLASS = 0xff00_0000_0000_0000L;

  private CmChecks() {}

  static void type(QpType type) {
    if (type != QpType.RC && type != QpType.UC && type != QpType.XRC_INI) {
      throw new VerbsException(Errno.EINVAL, "REQ: queue pairs of type RC, UC and XRC_INI connect, not " + type);
    }
  }

  /** Service ids of the class from which the manager assigns are not chosen. */
  static void serviceId(long id) {
    if ((id & SERVICE_ID_CLASS) == ASSIGN_SERVICE_ID && id != ASSIGN_SERVICE_ID) {
      throw new VerbsException(
          Errno.EINVAL,
          "listen on service %#018x: those from %#018x on are assigned".formatted(id, ASSIGN_SERVICE_ID));
    }
  }

  static void privateData(CmAttribute kind, byte[] data) {
    area(kind, kind.privateData(), data);
  }

  static void ari(byte[] data) {
    area(CmAttribute.REJ, Rej.ARI, data);
  }

  static void information(byte[] data) {
    area(CmAttribute.SIDR_REP, SidrRep.ADDITIONAL_INFORMATION, data);
  }

  private static void area(CmAttribute kind, MadBytes area, byte[] data) {
    if (data.length > area.length()) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s: %d bytes of %s, at most %d are allowed".formatted(kind, data.length, area, area.length()));
    }
  }

  /** A message, unless a number does not fit into its field. */
  static MemorySegment built(CmAttribute kind, Supplier<MemorySegment> writer) {
    try {
      return writer.get();
    } catch (IllegalArgumentException e) {
      throw new VerbsException(Errno.EINVAL, kind + ": " + e.getMessage(), e);
    }
  }
}
