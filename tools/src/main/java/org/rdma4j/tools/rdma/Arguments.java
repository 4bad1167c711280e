package org.rdma4j.tools.rdma;

import java.util.List;
import java.util.Map;
import org.rdma4j.ulp.command.CommandException;

/** The words of a command, taken one after the other; mutable. */
final class Arguments {
  private final List<String> words;
  private int next;

  /** What a word leads to. */
  @FunctionalInterface
  interface Action {
    void run(Arguments arguments) throws CommandException, InterruptedException;
  }

  Arguments(List<String> words) {
    this.words = List.copyOf(words);
  }

  boolean isEmpty() {
    return next == words.size();
  }

  int remaining() {
    return words.size() - next;
  }

  String peek() {
    return words.get(next);
  }

  String take() {
    return words.get(next++);
  }

  /** Takes the next word, or fails with a message. */
  String take(String missing) throws CommandException {
    if (isEmpty()) {
      throw new CommandException(missing);
    }
    return take();
  }

  /** Takes the next word where it is a keyword or a start of it; whether it did. */
  boolean takeKeyword(String keyword) {
    if (!isEmpty() && keyword.startsWith(peek())) {
      next++;
      return true;
    }
    return false;
  }

  /** Fails where words are left. */
  void end() throws CommandException {
    if (!isEmpty()) {
      throw new CommandException("Unknown parameter '" + peek() + "'.");
    }
  }

  /**
   * Runs what the next word, or the start of it, stands for: the first that fits in the order of the table.
   *
   * @param kind what the words of the table are, for the message
   * @param without what no word at all stands for
   * @param table pairs of a word and its action
   */
  void dispatch(String kind, Action without, List<Map.Entry<String, Action>> table)
      throws CommandException, InterruptedException {
    if (isEmpty()) {
      without.run(this);
      return;
    }
    for (Map.Entry<String, Action> each : table) {
      if (takeKeyword(each.getKey())) {
        each.getValue().run(this);
        return;
      }
    }
    throw new CommandException("Unknown " + kind + " '" + peek() + "'.");
  }
}
