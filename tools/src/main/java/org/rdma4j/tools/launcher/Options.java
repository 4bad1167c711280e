package org.rdma4j.tools.launcher;

import java.util.Arrays;
import java.util.List;

/**
 * What the command line asks for.
 *
 * @param bare whether the configured devices are left out
 * @param help whether to print the usage and end
 * @param version whether to print the version and end
 * @param command the command and its arguments; empty for the interactive shell
 */
record Options(boolean bare, boolean help, boolean version, List<String> command) {
  static final String USAGE =
      """
      Usage: rdma [--bare] [COMMAND [ARGUMENT]...]
             rdma [--bare] 'COMMAND ...; COMMAND ...'
             rdma --help | --version

      Runs one command in a fresh container and exits with its status, or several of them when they
      are given as one argument. Without a command it starts an interactive shell.

        --bare     do not make the configured devices
        --help     print this
        --version  print the version

      Commands: %s
      """;

  /**
   * Takes the options in front of the command.
   *
   * @throws IllegalArgumentException when there is an option that does not exist
   */
  static Options parse(String... arguments) {
    boolean bare = false;
    boolean help = false;
    boolean version = false;
    int first = 0;
    while (first < arguments.length && arguments[first].startsWith("-")) {
      switch (arguments[first++]) {
        case "--bare" -> bare = true;
        case "--help", "-h" -> help = true;
        case "--version", "-V" -> version = true;
        default -> throw new IllegalArgumentException("no such option: " + arguments[first - 1]);
      }
    }
    return new Options(bare, help, version, List.copyOf(Arrays.asList(arguments).subList(first, arguments.length)));
  }

  /** Whether the command is a script: one argument with several words or commands in it. */
  boolean script() {
    return command.size() == 1 && command.getFirst().chars().anyMatch(c -> " \t\n;|&".indexOf(c) >= 0);
  }
}
