package org.rdma4j.benchmarks.speed;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** Names and values that two processes tell each other, as one line {@code name=value name=value}. */
final class Settings {
  private final Map<String, String> values = new LinkedHashMap<>();

  /** Reads a line. */
  static Settings parse(String line) {
    Settings settings = new Settings();
    for (String pair : line.strip().split(" +")) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        settings.values.put(pair.substring(0, equals), pair.substring(equals + 1));
      }
    }
    return settings;
  }

  /** Adds a value. */
  Settings with(String name, long value) {
    values.put(name, Long.toString(value));
    return this;
  }

  /** Adds all values of another. */
  Settings with(Settings others) {
    values.putAll(others.values);
    return this;
  }

  /** Returns a value that must be there. */
  long get(String name) {
    String value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException("no " + name + " in " + this);
    }
    return Long.parseLong(value);
  }

  /** Returns a value, or 0. */
  long orZero(String name) {
    return values.containsKey(name) ? get(name) : 0;
  }

  @Override
  public String toString() {
    return values.entrySet().stream()
        .map(entry -> entry.getKey() + "=" + entry.getValue())
        .collect(Collectors.joining(" "));
  }
}
