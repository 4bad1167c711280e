package org.rdma4j.rdma.cm;

import java.nio.channels.SelectableChannel;
import java.time.Duration;
import java.util.function.Consumer;
import org.osgi.annotation.versioning.ProviderType;

/**
 * Where the events of identifiers come through ({@code struct rdma_event_channel}), in three ways: by waiting, by a
 * handler, or by a selector. Safe for any thread.
 */
@ProviderType
public interface EventChannel extends AutoCloseable {
  /**
   * Takes the next event ({@code rdma_get_cm_event}).
   *
   * @param timeout how long to wait; zero to look only; null to wait for ever
   * @return the event, or null where the time was over first
   * @throws org.rdma4j.ib.core.verbs.VerbsException ECANCELED when interrupted (the interrupt flag stays set); EINVAL
   *     when the channel has a handler, or is closed, also while somebody waits
   */
  RdmaCmEvent getEvent(Duration timeout);

  /**
   * Hands events to a handler from now on, beginning with those that wait. It runs on a thread of the channel, one
   * event after the other; may make any call, also those that destroy the identifier; what it throws is logged.
   *
   * @param handler the handler, null for none
   */
  void handler(Consumer<RdmaCmEvent> handler);

  /**
   * A channel that is readable, by a selector, while events wait; take them with {@link #getEvent} and a timeout of
   * zero, and never read it. It is closed with this one. What a file descriptor is in C.
   *
   * @return the channel, not blocking, always the same
   * @throws org.rdma4j.ib.core.verbs.VerbsException EINVAL when the channel is closed, EMFILE when the system has no
   *     file for it
   */
  SelectableChannel selectable();

  /**
   * Closes the channel and destroys the identifiers that are left at it ({@code rdma_destroy_event_channel}, where the
   * last is what closing the file does). Does nothing when done before.
   */
  @Override
  void close();
}
