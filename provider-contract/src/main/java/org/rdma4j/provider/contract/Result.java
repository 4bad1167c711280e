package org.rdma4j.provider.contract;

/**
 * How a case ended; immutable.
 *
 * @param name the name of the case
 * @param promise what it is about
 * @param outcome how it ended
 * @param detail why it was skipped or what was found; empty where the promise is kept
 * @param millis how long it took
 */
public record Result(String name, String promise, Outcome outcome, String detail, long millis) {}
