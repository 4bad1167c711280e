package org.rdma4j.rxe.ring;

import org.rdma4j.roce.engine.SendWork;

/** What a bind or a registration asks for, copied out of the ring; one object a place in the engine's send queue. */
public final class LocalOperands {
  /** First byte of the window, in the addresses of the region. */
  public long address;
  /** Bytes of the window, unsigned. */
  public long length;
  /** Of a bind, the local key of the region, or 0; of a registration, the key that the region was made with. */
  public int regionKey;
  /** Key that names the window. */
  public int windowKey;
  /** Key that the window or region shall have. */
  public int newKey;
  /** The kernel's access bits. */
  public int access;

  /** All zero. */
  public LocalOperands() {}

  /**
   * {@return the operands of a work request; the same object each time}
   *
   * @param work the request
   */
  public static LocalOperands of(SendWork work) {
    if (work.local instanceof LocalOperands operands) {
      return operands;
    }
    LocalOperands made = new LocalOperands();
    work.local = made;
    return made;
  }
}
