package org.rdma4j.mlx5.core.internal;

import java.util.Dictionary;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Hashtable;
import java.util.Map;
import org.rdma4j.mlx5.core.DeviceParameter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settings for cards that are taken over from now on.
 *
 * @param parameters what {@code devlink dev param} shows
 * @param graceMillis how long after a recovery the next one may start by itself, in ms
 * @param timeouts what is waited for how long, in ms, whatever the card says
 */
record CoreSettings(Map<DeviceParameter, Integer> parameters, long graceMillis, Map<Timeout, Long> timeouts) {
  private static final Logger LOG = LoggerFactory.getLogger(CoreSettings.class);
  private static final long GRACE_MILLIS = 60_000;

  /** Reads a configuration, whose values may be texts; what is wrong is logged and left as it is by itself. */
  static CoreSettings of(Dictionary<String, ?> configuration) {
    Dictionary<String, ?> values = configuration == null ? new Hashtable<>() : configuration;
    Map<DeviceParameter, Integer> parameters = new HashMap<>();
    for (DeviceParameter each : DeviceParameter.values()) {
      parameters.put(each, (int) number(values, key(each), each.least(), each.most(), each.initial()));
    }
    return new CoreSettings(
        Map.copyOf(parameters),
        number(values, "grace.period", 0, Long.MAX_VALUE, GRACE_MILLIS),
        timeouts(
            number(values, "health.poll.interval", 0, Integer.MAX_VALUE, 0),
            number(values, "command.timeout", 0, Integer.MAX_VALUE, 0)));
  }

  private static Map<Timeout, Long> timeouts(long poll, long command) {
    Map<Timeout, Long> fixed = new EnumMap<>(Timeout.class);
    if (poll > 0) {
      fixed.put(Timeout.HEALTH_POLL_INTERVAL, poll);
    }
    if (command > 0) {
      fixed.put(Timeout.CMD, command);
      fixed.put(Timeout.CMD_EVENT_RECOVERY, command);
    }
    return fixed;
  }

  private static String key(DeviceParameter parameter) {
    return parameter.text().replace('_', '.');
  }

  private static long number(Dictionary<String, ?> values, String key, long least, long most, long initial) {
    Object value = values.get(key);
    if (value == null) {
      return initial;
    }
    String text = value.toString().strip();
    long number;
    try {
      number = text.equals("true") ? 1 : text.equals("false") ? 0 : Long.parseLong(text);
    } catch (NumberFormatException e) {
      number = least - 1;
    }
    if (number < least || number > most) {
      LOG.warn("{} is {}: allowed are {} to {}; it is {} now", key, text, least, most, initial);
      return initial;
    }
    return number;
  }
}
