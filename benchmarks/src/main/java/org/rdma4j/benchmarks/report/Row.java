package org.rdma4j.benchmarks.report;

/**
 * A row of the table that people read.
 *
 * @param title what is compared
 * @param series the values of the rounds
 * @param aim what they are compared with
 */
public record Row(String title, Series series, Aim aim) {}
