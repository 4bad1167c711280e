package org.rdma4j.ib.core.internal;

import java.util.HashMap;
import java.util.Map;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * Names and indices of devices ({@code device.c:assign_name}): a pattern gets the lowest number no device has, an
 * explicit name must be free, the index is the next that is free, starting over at the end of the range. Safe for any
 * thread.
 */
final class DeviceNames {
  /** {@code IB_DEVICE_NAME_MAX} without the terminator. */
  private static final int MAX_LENGTH = 63;

  private final Map<String, Integer> taken = new HashMap<>();
  private int nextIndex;

  /** A name that is taken until it is given back, with its index. */
  record Assigned(String name, int index) {}

  synchronized Assigned assign(String nameOrPattern) {
    String name = nameOrPattern != null && nameOrPattern.contains("%") ? lowest(nameOrPattern) : nameOrPattern;
    if (name == null || name.isEmpty() || name.chars().anyMatch(DeviceNames::isForbidden)) {
      throw new VerbsException(
          Errno.EINVAL, "device name \"" + name + "\" must not be empty or hold blanks, slashes or control characters");
    }
    if (name.length() > MAX_LENGTH) {
      throw new VerbsException(
          Errno.ENAMETOOLONG, "device name \"" + name + "\" is longer than " + MAX_LENGTH + " characters");
    }
    if (taken.containsKey(name)) {
      throw new VerbsException(Errno.ENFILE, "device name " + name + " is in use");
    }
    while (taken.containsValue(nextIndex)) {
      nextIndex = (nextIndex + 1) & Integer.MAX_VALUE;
    }
    Assigned assigned = new Assigned(name, nextIndex);
    nextIndex = (nextIndex + 1) & Integer.MAX_VALUE;
    taken.put(name, assigned.index());
    return assigned;
  }

  synchronized void free(Assigned assigned) {
    taken.remove(assigned.name(), assigned.index());
  }

  private String lowest(String pattern) {
    int at = pattern.indexOf("%d");
    if (at < 0 || pattern.indexOf('%', at + 1) >= 0 || pattern.indexOf('%') != at) {
      throw new VerbsException(
          Errno.EINVAL, "device name pattern \"" + pattern + "\" must hold %d once and no other %");
    }
    int number = 0;
    while (taken.containsKey(pattern.replace("%d", Integer.toString(number)))) {
      number++;
    }
    return pattern.replace("%d", Integer.toString(number));
  }

  private static boolean isForbidden(int character) {
    return Character.isWhitespace(character) || Character.isISOControl(character) || character == '/';
  }
}
