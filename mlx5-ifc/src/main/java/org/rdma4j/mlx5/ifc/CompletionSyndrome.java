package org.rdma4j.mlx5.ifc;

/** Syndromes of completion entries in error ({@code device.h}: {@code MLX5_CQE_SYNDROME_*}). */
public enum CompletionSyndrome {
  /** The message is longer than its buffers or than messages may be. */
  LOCAL_LENGTH_ERR(0x01),
  /** The entry of the send queue is none that the queue pair can execute. */
  LOCAL_QP_OP_ERR(0x02),
  /** A local key, its range, its rights or its domain do not allow the access. */
  LOCAL_PROT_ERR(0x04),
  /** The queue pair was in error before. */
  WR_FLUSH_ERR(0x05),
  /** A window could not be bound. */
  MW_BIND_ERR(0x06),
  /** A response does not fit its request. */
  BAD_RESP_ERR(0x10),
  /** A WRITE with immediate had no access. */
  LOCAL_ACCESS_ERR(0x11),
  /** The responder says that the request is invalid. */
  REMOTE_INVAL_REQ_ERR(0x12),
  /** The responder says that the request has no access. */
  REMOTE_ACCESS_ERR(0x13),
  /** The responder could not carry the request out. */
  REMOTE_OP_ERR(0x14),
  /** No answer after all retries. */
  TRANSPORT_RETRY_EXC_ERR(0x15),
  /** No receive at the responder after all retries. */
  RNR_RETRY_EXC_ERR(0x16),
  /** The operation was aborted. */
  REMOTE_ABORTED_ERR(0x22);

  private final int number;

  CompletionSyndrome(int number) {
    this.number = number;
  }

  /** {@return the number in the entry} */
  public int number() {
    return number;
  }

  /** {@return the name in the kernel} */
  public String text() {
    return "MLX5_CQE_SYNDROME_" + name();
  }

  /**
   * Finds a syndrome.
   *
   * @param number the number
   * @return the syndrome, or null when the number is none of these
   */
  public static CompletionSyndrome of(int number) {
    for (CompletionSyndrome each : values()) {
      if (each.number == number) {
        return each;
      }
    }
    return null;
  }
}
