package org.rdma4j.ib.core.mad;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ProviderType;

/** Someone who sends and receives MADs of a port (kernel: {@code struct ib_mad_agent}). Thread safe. */
@ProviderType
public interface MadAgent extends AutoCloseable {
  /**
   * {@return the upper 32 bits of the transaction ids of its questions, by which answers find it; not 0, and not those
   * of another agent of the port}
   */
  int highTransactionId();

  /**
   * Sends a MAD (kernel: {@code ib_post_send_mad}). What does not fit into the queue pair waits; the order stays.
   *
   * @param mad 256 bytes with the agent's half of the transaction id where it is a question; copied
   * @param to where it goes
   * @param milliseconds how long an answer is waited for before it is sent again; 0 when none is wanted
   * @param retries how often it is sent again
   * @param handler hears what became of it
   * @return the MAD on its way
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL for another length or negative times; ENODEV when the agent
   *     or the device is gone
   */
  MadSend send(MemorySegment mad, MadAddress to, long milliseconds, int retries, MadSendHandler handler);

  /**
   * Gives it up (kernel: {@code ib_unregister_mad_agent}): all its MADs complete as flushed. When the call returns
   * nothing of it is told any more, unless it comes from one of its own handlers.
   */
  @Override
  void close();
}
