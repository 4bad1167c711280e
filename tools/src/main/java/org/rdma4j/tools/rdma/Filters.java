package org.rdma4j.tools.rdma;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.rdma4j.ulp.command.CommandException;

/**
 * Which items of a listing are wanted: pairs of a key and values, such as {@code lqpn 17,20-30} or {@code state
 * RTS,RTR}. A key may be shortened.
 */
final class Filters {
  private static final String DIGITS = "1234567890,-";

  private final List<Filter> filters = new ArrayList<>();
  private String place;

  private record Filter(String key, String values) {}

  /**
   * Reads all words that are left.
   *
   * @param placeKey what names the device: {@code dev} or {@code link}
   * @param numbers keys with numbers as values
   * @param words keys with words as values
   */
  Filters(Arguments arguments, String placeKey, List<String> numbers, List<String> words) throws CommandException {
    if (arguments.remaining() == 1) {
      throw new CommandException("No filter data was supplied to filter option " + arguments.peek());
    }
    if (arguments.remaining() % 2 != 0) {
      throw new CommandException("There is filter option without data");
    }
    while (!arguments.isEmpty()) {
      String key = arguments.take();
      String value = arguments.take();
      if (placeKey.startsWith(key)) {
        place = value;
      } else {
        add(key, value, numbers, words);
      }
    }
  }

  private void add(String key, String value, List<String> numbers, List<String> words) throws CommandException {
    String full = full(key, words);
    if (full == null) {
      full = full(key, numbers);
      if (full == null) {
        throw new CommandException("Unsupported filter option: " + key);
      }
      if (value.chars().anyMatch(c -> DIGITS.indexOf(c) < 0)) {
        throw new CommandException(key + " filter accepts \"" + DIGITS + "\" characters only");
      }
    }
    filters.add(new Filter(full, value.toLowerCase(Locale.ROOT)));
  }

  private static String full(String key, List<String> keys) {
    return keys.stream().filter(each -> each.startsWith(key)).findFirst().orElse(null);
  }

  /** The device or link asked for, or null for all. */
  String place() {
    return place;
  }

  /** Whether an item with this number is not wanted. */
  boolean hide(String key, long value) {
    return filters.stream().anyMatch(each -> each.key().equals(key) && !inRanges(each.values(), value));
  }

  /** Whether an item with this word is not wanted. */
  boolean hide(String key, String value) {
    return filters.stream()
        .anyMatch(each -> each.key().equals(key) && !List.of(each.values().split(",")).contains(lower(value)));
  }

  private static String lower(String value) {
    return value.toLowerCase(Locale.ROOT);
  }

  private static boolean inRanges(String ranges, long value) {
    for (String range : ranges.split(",")) {
      int dash = range.indexOf('-');
      String low = dash < 0 ? range : range.substring(0, dash);
      String high = dash < 0 ? range : range.substring(dash + 1);
      if (!low.isEmpty() && !high.isEmpty() && number(low) <= value && value <= number(high)) {
        return true;
      }
    }
    return false;
  }

  /** A number of any length; what is beyond a long, or is none, matches nothing. */
  private static long number(String digits) {
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException e) {
      return Long.MIN_VALUE;
    }
  }
}
