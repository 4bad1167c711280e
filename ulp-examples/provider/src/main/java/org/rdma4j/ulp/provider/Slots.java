package org.rdma4j.ulp.provider;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/** Objects of one kind under numbers from 1 on, as many as the device's limit. Safe for any thread. */
final class Slots<T> {
  private final DeviceLimit limit;
  private final int size;
  private final List<T> objects = new ArrayList<>();

  Slots(DeviceLimit limit, int size) {
    this.limit = limit;
    this.size = size;
    for (int i = 0; i < size; i++) {
      objects.add(null);
    }
  }

  /** Makes an object for the lowest free number. */
  synchronized <S extends T> S add(IntFunction<S> maker) {
    int free = objects.indexOf(null);
    if (free < 0) {
      throw new VerbsException(Errno.ENOMEM, limit.attributeName() + " is " + size + ": there are as many already");
    }
    S made = maker.apply(free + 1);
    objects.set(free, made);
    return made;
  }

  /** The object of a number, or null; any number. */
  synchronized T get(int number) {
    return number < 1 || number > size ? null : objects.get(number - 1);
  }

  synchronized void remove(int number) {
    objects.set(number - 1, null);
  }

  synchronized List<T> all() {
    return objects.stream().filter(Objects::nonNull).toList();
  }
}
