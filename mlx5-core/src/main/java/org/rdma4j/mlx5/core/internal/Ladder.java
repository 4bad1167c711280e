package org.rdma4j.mlx5.core.internal;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What was done on the way up, and how each of it is undone: in reverse, when a later step fails or at the end. One
 * that cannot be undone does not keep the others. For one thread at a time.
 */
final class Ladder {
  private static final Logger LOG = LoggerFactory.getLogger(Ladder.class);

  private record Step(String name, Runnable undo) {}

  private final String owner;
  private final Deque<Step> steps = new ArrayDeque<>();

  Ladder(String owner) {
    this.owner = owner;
  }

  void done(String name, Runnable undo) {
    steps.push(new Step(name, undo));
  }

  boolean isEmpty() {
    return steps.isEmpty();
  }

  void descend() {
    while (!steps.isEmpty()) {
      Step step = steps.pop();
      try {
        step.undo().run();
      } catch (RuntimeException | LinkageError e) {
        LOG.warn("{}: {} is not undone: {}", owner, step.name(), e.getMessage(), e);
      }
    }
  }
}
