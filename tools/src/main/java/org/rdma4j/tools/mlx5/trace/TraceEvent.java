package org.rdma4j.tools.mlx5.trace;

import java.util.Map;

/**
 * Something that was seen.
 *
 * @param nanos when, by {@link System#nanoTime}
 * @param sequence its place among all that was seen
 * @param thread name of the thread that did it
 * @param depth how many verbs and commands that thread was in
 * @param layer where it was seen
 * @param text what it was, for a person
 * @param fields what it was, for a program: texts, numbers and booleans
 */
public record TraceEvent(
    long nanos, long sequence, String thread, int depth, Layer layer, String text, Map<String, Object> fields) {}
