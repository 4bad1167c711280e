package org.rdma4j.provider.contract.suite;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.RdmaDevice;

/** What a case works with: the devices, and all that ends with the case, the last first. */
public final class Bench implements AutoCloseable {
  private final Setting setting;
  private final Random random;
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /**
   * For one case.
   *
   * @param setting what it runs on
   * @param name the name of the case, which with the seed decides what is random
   */
  public Bench(Setting setting, String name) {
    this.setting = setting;
    this.random = new Random(setting.seed() ^ name.hashCode());
  }

  RdmaDevice deviceA() {
    return setting.a().get();
  }

  RdmaDevice deviceB() {
    return setting.b().get();
  }

  Setting setting() {
    return setting;
  }

  Random random() {
    return random;
  }

  /** A user of the first device. */
  Side a() {
    return keep(new Side(deviceA(), setting.portA()));
  }

  /** A user of the second device. */
  Side b() {
    return keep(new Side(deviceB(), setting.portB()));
  }

  /** A user of each device, with queue pairs that are connected. */
  Pair pair(QpType type) {
    return pair(type, Way.USUAL);
  }

  Pair pair(QpType type, Way way) {
    Pair pair = new Pair(a().with(type), b().with(type), way);
    pair.connect();
    return pair;
  }

  /** Ends something with the case. */
  <T extends AutoCloseable> T keep(T resource) {
    open.push(resource);
    return resource;
  }

  /** Ends everything; what fails first is told when all is tried. */
  @Override
  public void close() {
    Exception first = null;
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception e) {
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw new Broken("what the case has made cannot be ended", first);
    }
  }
}
