package org.rdma4j.benchmarks.speed;

/**
 * One side of a measurement between two processes. Both sides are made alike and told of each other once; then slices
 * follow: one side serves, the other runs.
 */
interface Workload extends AutoCloseable {
  /** Name of a result: bytes of payload that arrived. */
  String BYTES = "bytes";

  /** Name of a result: messages that arrived. */
  String MESSAGES = "messages";

  /** Name of a result: nanoseconds of the slice. */
  String NANOS = "nanos";

  /** Names of results of round trips, in nanoseconds. */
  String P50 = "p50";

  String P99 = "p99";
  String P999 = "p999";

  /** Name of a result: packets or messages that were lost or had to be repeated. */
  String REPEATED = "repeated";

  /** Name of a result: how often a message found no receive and had to come again later. */
  String NOT_READY = "notReady";

  /** What the other side must know. */
  default Settings describe() {
    return new Settings();
  }

  /** Takes what the other side has described. */
  default void connect(Settings peer) {}

  /** Begins to serve a slice, on a thread of its own where that needs one. */
  void serve(int seed);

  /** Ends serving. Throws when the payload that arrived is not what the seed says. */
  Settings finish();

  /** Runs a slice against a serving peer. */
  Settings run(long nanos, int seed);

  @Override
  void close();
}
