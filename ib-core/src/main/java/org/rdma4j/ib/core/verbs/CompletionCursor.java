package org.rdma4j.ib.core.verbs;

import org.osgi.annotation.versioning.ProviderType;

/**
 * Polling in the style of {@code ibv_start_poll}, {@code ibv_next_poll}, {@code ibv_end_poll}: fields are read where
 * they lie. One thread at a time; between {@link #start()} that found one and {@link #end()} the queue may not be
 * polled otherwise. Nothing is allocated.
 */
@ProviderType
public interface CompletionCursor {
  /**
   * Moves to the first completion.
   *
   * @return false where the queue is empty; then {@link #end()} must not be called
   * @throws VerbsException EIO where the device was removed and the queue is empty
   */
  boolean start();

  /**
   * {@return true after moving to the next completion, false where there is none; {@link #end()} is needed in both
   * cases}
   */
  boolean next();

  /** Gives the slots of the completions seen back to the device. */
  void end();

  /** {@return the identifier of the work request} */
  long wrId();

  /** {@return the status} */
  WcStatus status();

  /** {@return what the work request did} */
  WcOpcode opcode();

  /** {@return the provider's code for the check that failed, 0 on success} */
  int vendorError();

  /** {@return bytes received; for UD with the 40 of the global route header} */
  int byteLength();

  /** {@return the immediate data in host order} */
  int immediate();

  /** {@return the key that was invalidated} */
  int invalidatedRkey();

  /** {@return the number of the local queue pair} */
  int qpNumber();

  /** {@return the number of the peer's queue pair (UD)} */
  int sourceQp();

  /** {@return flags, see {@link WcFlag}} */
  int flags();

  /** {@return the index of the P_Key (GSI)} */
  int pkeyIndex();

  /** {@return the port, from 1} */
  int portNumber();
}
