package org.rdma4j.it.peer;

import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;

/** Dynamic tests that come out of a run which takes its time: it starts when JUnit gets to them, not before. */
final class Lazily {
  private Lazily() {}

  static DynamicContainer container(String name, Supplier<Stream<DynamicNode>> tests) {
    return DynamicContainer.dynamicContainer(name, Stream.of(tests).flatMap(Supplier::get));
  }
}
