package org.rdma4j.ulp.pingpong.pv;

/** The scenario could not be played to its end, or moved wrong bytes. */
final class ScenarioFailed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ScenarioFailed(String message) {
    super(message);
  }
}
