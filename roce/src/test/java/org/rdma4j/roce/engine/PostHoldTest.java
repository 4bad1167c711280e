package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PostHoldTest {
  private final PostHold hold = new PostHold();
  private long now = 1_000_000;

  private boolean post() {
    now += 100;
    return hold.holds(now);
  }

  private void poll(long after) {
    now += after;
    hold.polled(now);
  }

  private void earnTrust(int postsAtOnce) {
    for (int i = 0; i < PostHold.TRUST - PostHold.DISTRUST; i++) {
      for (int post = 0; post < postsAtOnce; post++) {
        post();
      }
      poll(100);
    }
  }

  @Test
  void aStrangersPostsLeaveAtOnce() {
    for (int i = 0; i < PostHold.TRUST; i++) {
      assertFalse(post());
      assertFalse(post());
      poll(100);
    }
  }

  @Test
  void whoPostsOnceBetweenPollsIsNotHeld() {
    earnTrust(1);
    assertFalse(post());
    poll(100);
    assertFalse(post());
  }

  @Test
  void severalPostsOfWhoPollsAtOnceAreHeld() {
    earnTrust(1);
    assertFalse(post());
    assertTrue(post());
    poll(100);
    assertTrue(post(), "as there were several before, there will be again");
    assertTrue(post());
  }

  @Test
  void aLatePollEndsTheTrust() {
    earnTrust(3);
    assertTrue(post());
    poll(PostHold.SOON_NANOS + 1);
    for (int i = 0; i < 100; i++) {
      assertFalse(post());
      assertFalse(post());
      poll(100);
    }
    earnTrust(3);
    assertTrue(post());
  }

  @Test
  void pollsWithoutPostsDoNotCount() {
    earnTrust(3);
    poll(100);
    poll(1_000_000_000);
    poll(100);
    assertTrue(post());
  }
}
