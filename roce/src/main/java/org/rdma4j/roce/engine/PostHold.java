package org.rdma4j.roce.engine;

/**
 * Decides whether what a user posts while the engine is lent leaves at once or with his next poll. At once is what a
 * user needs who then computes; but one who posts several requests and polls right after them does better when all
 * leave in one call. So posts are held for who has shown that he polls right after posting, and from the second one
 * between two polls on. Threads may disturb each other's counting, which costs time and nothing else: whatever is held
 * leaves with the next duty cycle of anybody.
 */
final class PostHold {
  /** So many times in a row a poll must have come soon. */
  static final int TRUST = 64;

  /** After a poll that came late: so many must come soon before the counting begins. */
  static final int DISTRUST = -256;

  static final long SOON_NANOS = 50_000;

  private int posts;
  private int postsBefore;
  private int trust;
  private long lastPost;

  /** A post; whether it shall wait for the next poll. */
  boolean holds(long now) {
    lastPost = now;
    posts++;
    return trust == TRUST && (posts > 1 || postsBefore > 1);
  }

  /** A poll that found nothing. */
  void polled(long now) {
    if (posts == 0) {
      return;
    }
    if (now - lastPost > SOON_NANOS) {
      trust = DISTRUST;
    } else if (trust < TRUST) {
      trust++;
    }
    postsBefore = posts;
    posts = 0;
  }
}
