package org.rdma4j.ib.core.verbs;

/**
 * An asynchronous event as a context receives it ({@code struct ibv_async_event}); immutable.
 *
 * @param type what happened
 * @param deviceName the device
 * @param element the {@link QueuePair}, {@link CompletionQueue} or {@link SharedReceiveQueue} concerned, else null
 * @param port the port concerned, from 1, else 0
 */
public record AsyncEvent(AsyncEventType type, String deviceName, VerbsObject element, int port) {}
