package org.rdma4j.ulp.command;

import java.util.ArrayList;
import java.util.List;

/**
 * Options as {@code getopt_long} of the GNU C library takes them: letters can be joined ({@code -ec}) and have their
 * argument attached ({@code -s64}), long names can be shortened as long as they are clear ({@code --si=64}), options
 * may follow operands, and {@code --} ends them. Immutable.
 */
public final class Getopt {
  private final String command;
  private final List<Option> options;

  /**
   * An option that a command has.
   *
   * @param letter its letter; may be one that nobody can type where there is only a long name
   * @param longName its long name without dashes, or null
   * @param takesArgument whether it needs an argument
   */
  public record Option(char letter, String longName, boolean takesArgument) {}

  /**
   * An option that was given.
   *
   * @param letter its letter, also where the long name was typed
   * @param argument its argument, or null
   */
  public record Given(char letter, String argument) {}

  /**
   * What a command line says.
   *
   * @param options the options in order
   * @param operands the rest in order
   */
  public record Result(List<Given> options, List<String> operands) {}

  /**
   * Describes the options of a command.
   *
   * @param command its name for messages
   * @param options what it has
   */
  public Getopt(String command, Option... options) {
    this.command = command;
    this.options = List.of(options);
  }

  /**
   * Reads a command line.
   *
   * @param arguments what was typed after the name
   * @return the options and operands
   * @throws UsageException for an unknown or ambiguous option, and where an argument is missing or too much
   */
  public Result parse(String... arguments) throws UsageException {
    List<Given> given = new ArrayList<>();
    List<String> operands = new ArrayList<>();
    int next = 0;
    while (next < arguments.length) {
      String argument = arguments[next++];
      if (argument.equals("--")) {
        operands.addAll(List.of(arguments).subList(next, arguments.length));
        break;
      } else if (argument.startsWith("--")) {
        next = longOption(argument, arguments, next, given);
      } else if (argument.length() > 1 && argument.charAt(0) == '-') {
        next = letters(argument, arguments, next, given);
      } else {
        operands.add(argument);
      }
    }
    return new Result(List.copyOf(given), List.copyOf(operands));
  }

  private int longOption(String argument, String[] arguments, int start, List<Given> given) throws UsageException {
    int next = start;
    int equals = argument.indexOf('=');
    String name = equals < 0 ? argument.substring(2) : argument.substring(2, equals);
    String value = equals < 0 ? null : argument.substring(equals + 1);
    Option option = byName(name);
    if (value != null && !option.takesArgument()) {
      throw new UsageException(command + ": option '--" + option.longName() + "' doesn't allow an argument");
    }
    if (value == null && option.takesArgument()) {
      if (next == arguments.length) {
        throw new UsageException(command + ": option '--" + option.longName() + "' requires an argument");
      }
      value = arguments[next++];
    }
    given.add(new Given(option.letter(), value));
    return next;
  }

  private Option byName(String name) throws UsageException {
    List<Option> matches = new ArrayList<>();
    for (Option option : options) {
      if (name.equals(option.longName())) {
        return option;
      }
      if (option.longName() != null && option.longName().startsWith(name)) {
        matches.add(option);
      }
    }
    if (matches.isEmpty()) {
      throw new UsageException(command + ": unrecognized option '--" + name + "'");
    }
    if (matches.size() > 1) {
      StringBuilder all = new StringBuilder();
      matches.forEach(option -> all.append(" '--").append(option.longName()).append('\''));
      throw new UsageException(command + ": option '--" + name + "' is ambiguous; possibilities:" + all);
    }
    return matches.getFirst();
  }

  private int letters(String argument, String[] arguments, int start, List<Given> given) throws UsageException {
    int next = start;
    for (int i = 1; i < argument.length(); i++) {
      Option option = byLetter(argument.charAt(i));
      if (!option.takesArgument()) {
        given.add(new Given(option.letter(), null));
        continue;
      }
      String value = argument.substring(i + 1);
      if (value.isEmpty()) {
        if (next == arguments.length) {
          throw new UsageException(command + ": option requires an argument -- '" + option.letter() + "'");
        }
        value = arguments[next++];
      }
      given.add(new Given(option.letter(), value));
      break;
    }
    return next;
  }

  private Option byLetter(char letter) throws UsageException {
    for (Option option : options) {
      if (option.letter() == letter) {
        return option;
      }
    }
    throw new UsageException(command + ": invalid option -- '" + letter + "'");
  }
}
