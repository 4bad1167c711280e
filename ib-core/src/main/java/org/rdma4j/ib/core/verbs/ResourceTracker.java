package org.rdma4j.ib.core.verbs;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * All objects of a device with their numbers ({@code restrack.c}). An object is hidden before its provider ends it and
 * removed after, so that no snapshot shows one that is going.
 */
final class ResourceTracker {
  private final Object lock = new Object();
  private final Map<ObjectKind, Integer> counts = new EnumMap<>(ObjectKind.class);
  private final Map<ObjectKind, CyclicNumbers> numbers = new EnumMap<>(ObjectKind.class);
  private final CyclicNumbers contextNumbers = new CyclicNumbers();
  private final Map<Integer, Context> contexts = new HashMap<>();
  private final Set<VerbsObject> objects = new LinkedHashSet<>();
  private final Set<VerbsObject> hidden = new LinkedHashSet<>();

  /** Makes room for one more, or fails with ENOMEM naming the limit. */
  void reserve(ObjectKind kind, DeviceAttributes attributes, String deviceName) {
    synchronized (lock) {
      int count = counts.getOrDefault(kind, 0);
      if (kind.limit() != null && count >= attributes.limit(kind.limit())) {
        throw new VerbsException(
            Errno.ENOMEM,
            deviceName + " has " + count + " of " + kind.label() + " already, " + kind.limit().attributeName() + " is "
                + attributes.limit(kind.limit()));
      }
      counts.put(kind, count + 1);
    }
  }

  void cancel(ObjectKind kind) {
    synchronized (lock) {
      counts.merge(kind, -1, Integer::sum);
    }
  }

  /** Lists an object for which room was made, and numbers it. */
  void add(VerbsObject object) {
    synchronized (lock) {
      if (object instanceof QueuePair qp) {
        object.number(qp.number());
      } else if (object.kind().isNumbered()) {
        object.number(numbers(object.kind()).take());
      }
      objects.add(object);
    }
  }

  void hide(VerbsObject object) {
    synchronized (lock) {
      hidden.add(object);
    }
  }

  void show(VerbsObject object) {
    synchronized (lock) {
      hidden.remove(object);
    }
  }

  void remove(VerbsObject object) {
    synchronized (lock) {
      hidden.remove(object);
      if (objects.remove(object)) {
        counts.merge(object.kind(), -1, Integer::sum);
        if (object.kind().isNumbered()) {
          numbers(object.kind()).give(object.id());
        }
      }
    }
  }

  int addContext(Context context) {
    synchronized (lock) {
      int id = contextNumbers.take();
      contexts.put(id, context);
      return id;
    }
  }

  void removeContext(int id) {
    synchronized (lock) {
      if (contexts.remove(id) != null) {
        contextNumbers.give(id);
      }
    }
  }

  /** Everything that is not hidden, by number within a kind. */
  <T extends VerbsObject> List<T> snapshot(Class<T> type) {
    List<T> found = new ArrayList<>();
    synchronized (lock) {
      for (VerbsObject each : objects) {
        if (type.isInstance(each) && !hidden.contains(each)) {
          found.add(type.cast(each));
        }
      }
    }
    found.sort(Comparator.comparingInt(VerbsObject::id));
    return found;
  }

  List<Context> contexts() {
    synchronized (lock) {
      List<Context> found = new ArrayList<>(contexts.values());
      found.sort(Comparator.comparingInt(Context::id));
      return found;
    }
  }

  /** What must be destroyed, hidden or not: dependants first, the youngest of a kind first. */
  List<VerbsObject> inDestructionOrder(Predicate<VerbsObject> filter) {
    List<VerbsObject> found = new ArrayList<>();
    synchronized (lock) {
      for (VerbsObject each : objects) {
        if (filter.test(each)) {
          found.add(each);
        }
      }
    }
    found.sort(
        Comparator.comparing(VerbsObject::kind)
            .thenComparing(Comparator.comparingLong(VerbsObject::sequence).reversed()));
    return found;
  }

  private CyclicNumbers numbers(ObjectKind kind) {
    return numbers.computeIfAbsent(kind, ignored -> new CyclicNumbers());
  }
}
