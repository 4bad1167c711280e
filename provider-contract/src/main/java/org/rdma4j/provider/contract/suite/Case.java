package org.rdma4j.provider.contract.suite;

import java.util.List;

/**
 * One promise, and how it is tried.
 *
 * @param name its stable name
 * @param promise the promise in one sentence
 * @param needs what both devices must have; without it the case is skipped
 * @param body what is done; returns where the promise is kept
 */
public record Case(String name, String promise, List<Need> needs, Body body) {
  /** What is done to try a promise. */
  @FunctionalInterface
  public interface Body {
    /**
     * Tries it.
     *
     * @param bench the devices, and what ends with the case
     * @throws Exception where the promise is broken
     */
    void run(Bench bench) throws Exception;
  }
}
