package org.rdma4j.mlx5.core.internal;

import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.CompletionHandler;
import org.rdma4j.mlx5.core.CoreCompletionQueue;
import org.rdma4j.mlx5.core.UarPage;
import org.rdma4j.mlx5.ifc.Opcode;

/** A completion queue that the card has (kernel: {@code cq.c}). */
final class CoreCq implements CoreCompletionQueue {
  private final EventQueues events;
  private final int number;
  private final int vector;
  private final CompletionHandler handler;
  private volatile int armSequence; // written by the vector's thread only

  CoreCq(EventQueues events, int number, int vector, CompletionHandler handler) {
    this.events = events;
    this.number = number;
    this.vector = vector;
    this.handler = handler;
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public int armSequence() {
    return armSequence;
  }

  @Override
  public UarPage uar() {
    return events.uar();
  }

  @Override
  public int vector() {
    return vector;
  }

  void completed() {
    int next = armSequence + 1;
    armSequence = next;
    handler.completed();
  }

  void failed(int syndrome) {
    handler.failed(syndrome);
  }

  @Override
  public void destroy() {
    events.forget(this, () -> events.channel().execute(CommandRequest.of(Opcode.DESTROY_CQ).set("cqn", number)));
  }
}
