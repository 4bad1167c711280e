package org.rdma4j.provider.contract;

/** How a case ended. */
public enum Outcome {
  /** The promise is kept. */
  PASS,
  /** The promise could not be tried; the result tells why. */
  SKIP,
  /** The promise is broken; the result tells what was found. */
  FAIL
}
