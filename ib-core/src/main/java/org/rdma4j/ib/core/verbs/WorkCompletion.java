package org.rdma4j.ib.core.verbs;

/**
 * How a work request ended ({@code struct ib_wc}); mutable and reused by polling, not safe for several threads. Where
 * the status is not SUCCESS only the identifier, status, vendor error and queue pair number are valid.
 */
public final class WorkCompletion {
  private long wrId;
  private WcStatus status = WcStatus.SUCCESS;
  private WcOpcode opcode = WcOpcode.SEND;
  private int vendorError;
  private int byteLength;
  private int immediate;
  private int qpNumber;
  private int sourceQp;
  private int flags;
  private int pkeyIndex;
  private int portNumber;

  /** Makes an empty completion to poll into. */
  public WorkCompletion() {}

  /**
   * Makes an array to poll into.
   *
   * @param length how many
   * @return the array, filled with empty completions
   */
  public static WorkCompletion[] batch(int length) {
    WorkCompletion[] batch = new WorkCompletion[length];
    for (int i = 0; i < length; i++) {
      batch[i] = new WorkCompletion();
    }
    return batch;
  }

  /**
   * Sets all fields; for providers.
   *
   * @param newWrId the identifier of the work request
   * @param newStatus the status
   * @param newOpcode what it did
   * @param newVendorError the provider's code for the check that failed, 0 on success
   * @param newByteLength bytes received
   * @param newImmediate immediate data or invalidated key, in host order
   * @param newQpNumber the local queue pair
   * @param newSourceQp the peer's queue pair (UD)
   * @param newFlags see {@link WcFlag}
   * @param newPkeyIndex index of the P_Key (GSI)
   * @param newPortNumber the port, from 1
   */
  public void set(
      long newWrId,
      WcStatus newStatus,
      WcOpcode newOpcode,
      int newVendorError,
      int newByteLength,
      int newImmediate,
      int newQpNumber,
      int newSourceQp,
      int newFlags,
      int newPkeyIndex,
      int newPortNumber) {
    this.wrId = newWrId;
    this.status = newStatus;
    this.opcode = newOpcode;
    this.vendorError = newVendorError;
    this.byteLength = newByteLength;
    this.immediate = newImmediate;
    this.qpNumber = newQpNumber;
    this.sourceQp = newSourceQp;
    this.flags = newFlags;
    this.pkeyIndex = newPkeyIndex;
    this.portNumber = newPortNumber;
  }

  /** {@return the identifier of the work request} */
  public long wrId() {
    return wrId;
  }

  /** {@return the status} */
  public WcStatus status() {
    return status;
  }

  /** {@return what the work request did} */
  public WcOpcode opcode() {
    return opcode;
  }

  /** {@return the provider's code for the check that failed, 0 on success} */
  public int vendorError() {
    return vendorError;
  }

  /** {@return bytes received; for UD with the 40 of the global route header} */
  public int byteLength() {
    return byteLength;
  }

  /** {@return the immediate data in host order, valid with {@link WcFlag#WITH_IMM}} */
  public int immediate() {
    return immediate;
  }

  /** {@return the key that was invalidated, valid with {@link WcFlag#WITH_INVALIDATE}} */
  public int invalidatedRkey() {
    return immediate;
  }

  /** {@return the number of the local queue pair} */
  public int qpNumber() {
    return qpNumber;
  }

  /** {@return the number of the peer's queue pair (UD)} */
  public int sourceQp() {
    return sourceQp;
  }

  /** {@return flags, see {@link WcFlag}} */
  public int flags() {
    return flags;
  }

  /** {@return the index of the P_Key (GSI)} */
  public int pkeyIndex() {
    return pkeyIndex;
  }

  /** {@return the port, from 1} */
  public int portNumber() {
    return portNumber;
  }

  @Override
  public String toString() {
    return "WC{wr_id=" + wrId + " " + status + " " + opcode + " vendor_err=" + vendorError + " byte_len=" + byteLength
        + " qp=" + qpNumber + " src_qp=" + sourceQp + " flags=0x" + Integer.toHexString(flags) + "}";
  }
}
