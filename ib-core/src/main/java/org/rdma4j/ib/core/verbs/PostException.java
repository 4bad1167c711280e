package org.rdma4j.ib.core.verbs;

/**
 * Posting stopped at a bad work request; those before it in the chain stay posted ({@code bad_wr} of
 * {@code ibv_post_send}).
 */
public final class PostException extends VerbsException {
  private static final long serialVersionUID = 1L;

  /** The first request not posted. */
  private final transient Object bad;

  /**
   * Makes a failure of posting.
   *
   * @param errno EINVAL for a request that breaks a rule or a state that takes none, ENOMEM for a full queue, EIO for a
   *     removed device
   * @param message what was wrong
   * @param badWorkRequest the first {@link SendWorkRequest} or {@link ReceiveWorkRequest} that was not posted
   */
  public PostException(Errno errno, String message, Object badWorkRequest) {
    super(errno, message);
    this.bad = badWorkRequest;
  }

  /** {@return the first {@link SendWorkRequest} or {@link ReceiveWorkRequest} that was not posted} */
  public Object badWorkRequest() {
    return bad;
  }
}
