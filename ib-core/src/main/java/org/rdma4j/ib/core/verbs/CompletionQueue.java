package org.rdma4j.ib.core.verbs;

import java.util.concurrent.atomic.AtomicBoolean;
import org.osgi.annotation.versioning.ProviderType;

/**
 * A completion queue ({@code struct ib_cq}, {@code ibv_create_cq}). The control path is safe for any thread; polling by
 * one thread at a time unless the provider says more, arming by any.
 *
 * <p>For providers: after {@link #doDetach()} the device is gone but what is in the queue stays pollable, in memory
 * that outlives the device; polling the queue when it is empty then fails with EIO.
 */
@ProviderType
public abstract class CompletionQueue extends VerbsObject {
  /** The next queue in the channel's list of queues with an event; belongs to who owns the list. */
  CompletionQueue nextNotified;

  /** Set by the one who puts the queue into its channel's list, cleared by the one who takes it out. */
  final AtomicBoolean notified = new AtomicBoolean();

  private final CompletionChannel channel;
  private volatile int entries;

  /**
   * For providers.
   *
   * @param owner what {@link IbDevice#createCq} was given
   * @param entries how many entries there are, at least as asked for
   */
  protected CompletionQueue(ObjectContext owner, int entries) {
    super(owner, ObjectKind.COMPLETION_QUEUE);
    this.channel = owner.cq().channel();
    this.entries = entries;
  }

  /** {@return how many entries there are} */
  public final int entries() {
    return entries;
  }

  /** {@return where the events go, or null} */
  public final CompletionChannel channel() {
    return channel;
  }

  /**
   * Takes completions out of the queue; goes straight to the provider and allocates nothing ({@code ibv_poll_cq}).
   *
   * @param batch filled from index 0; no element may be null
   * @param max how many at most, up to the length of the batch
   * @return how many were taken, 0 where the queue is empty
   * @throws VerbsException EIO where the device was removed and the queue is empty, or the queue overflowed
   */
  public abstract int poll(WorkCompletion[] batch, int max);

  /**
   * Takes completions out of the queue.
   *
   * @param batch filled from index 0; no element may be null
   * @return how many were taken, 0 where the queue is empty
   * @throws VerbsException as {@link #poll(WorkCompletion[], int)}
   */
  public final int poll(WorkCompletion[] batch) {
    return poll(batch, batch.length);
  }

  /** {@return the queue's one cursor, for polling without copies} */
  public abstract CompletionCursor cursor();

  /**
   * Arms the queue for one event; goes straight to the provider ({@code ibv_req_notify_cq}, {@code ib_req_notify_cq}).
   * Completions that came before raise no event: poll once more after arming.
   *
   * @param which the completions that raise it; NEXT_COMP wins over an armed SOLICITED
   * @param reportMissed whether to look for completions already there
   * @return true where {@code reportMissed} and completions may be there, so that the caller polls again
   * @throws VerbsException EIO after removal of the device
   */
  public abstract boolean requestNotify(CqNotify which, boolean reportMissed);

  /**
   * Arms the queue for one event.
   *
   * @param which the completions that raise it
   * @throws VerbsException EIO after removal of the device
   */
  public final void requestNotify(CqNotify which) {
    requestNotify(which, false);
  }

  /**
   * Changes the size ({@code ibv_resize_cq}).
   *
   * @param newEntries 1 to max_cqe
   * @throws VerbsException EOPNOTSUPP where the device cannot, EINVAL beyond its limit or below what the queue holds,
   *     EIO after removal of the device
   */
  public final void resize(int newEntries) {
    call(
        "resize_cq",
        () -> {
          QpRules.checkCqSize(newEntries, context().attributes(), deviceState().name());
          entries = doResize(newEntries);
          return null;
        });
  }

  /**
   * Provider: changes the size; EOPNOTSUPP unless overridden.
   *
   * @param newEntries 1 to max_cqe
   * @return how many entries there are now
   */
  protected int doResize(int newEntries) {
    throw new VerbsException(Errno.EOPNOTSUPP, deviceState().name() + " cannot resize completion queues");
  }

  /**
   * Provider: the armed completion came. From any thread; never blocks, never allocates, and may be called more often
   * than needed.
   */
  protected final void notifyCompletion() {
    if (channel != null) {
      channel.notifyOf(this);
    }
  }

  /**
   * Provider: reports an event of the queue, from any thread; does not block.
   *
   * @param type CQ_ERR
   */
  protected final void raise(AsyncEventType type) {
    context().raise(type, this, 0);
  }

  /**
   * Provider: the device goes. No queue pair uses the queue any more and all flushed work is in it. When this returns
   * the device neither reads nor writes the queue; what is in it stays pollable for as long as somebody holds the
   * object, in memory that lives with the object. Takes the place of {@link #doDestroy()}, which may follow when the
   * owner closes the handle.
   */
  protected abstract void doDetach();

  /**
   * Provider: ends the queue with all that is in it; no queue pair uses it any more. Polling fails from now on.
   *
   * @throws VerbsException where the device refuses; the queue stays
   */
  protected abstract void doDestroy();

  @Override
  final void providerDestroy() {
    doDestroy();
  }

  @Override
  final void providerRemove() {
    doDetach();
  }

  @Override
  final void closeRemoved() {
    doDestroy();
  }
}
