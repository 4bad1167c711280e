package org.rdma4j.ib.core.verbs;

/** Flags of send work requests ({@code enum ib_send_flags}); combined with {@code |}. */
public final class SendFlag {
  /** Waits for the reads and atomics before it. */
  public static final int FENCE = 1;

  /** Completes with a work completion even where the queue pair does not signal all. */
  public static final int SIGNALED = 2;

  /** Asks the receiver for a solicited event. */
  public static final int SOLICITED = 4;

  /** The data is taken when posted; the memory need not be registered. */
  public static final int INLINE = 8;

  /** Offload of IP checksums. */
  public static final int IP_CSUM = 0x10;

  private SendFlag() {}
}
