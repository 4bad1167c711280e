package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.VerbsObject;
import org.rdma4j.ib.core.verbs.VerbsTracer;

/** What a queue shows to who looks at verbs: nothing as a rule, and then a look at a field is all it costs. */
final class QueueTrace {
  private final ConnectxDevice device;
  private final VerbsObject queue;

  QueueTrace(ConnectxDevice device, VerbsObject queue) {
    this.device = device;
    this.queue = queue;
  }

  /** Does not touch the tracer's type, which may not be loaded: the compiler would not inline it. */
  boolean isOn() {
    return device.isWatched();
  }

  void verb(String name, Runnable work) {
    VerbsTracer tracer = device.watcher();
    if (tracer == null) {
      work.run();
      return;
    }
    tracer.begins(device.traced(), name, queue.toString());
    String result = "failed";
    try {
      work.run();
      result = "";
    } finally {
      tracer.ends(device.traced(), name, result);
    }
  }

  void posted(boolean receive, MemorySegment entry) {
    VerbsTracer tracer = device.watcher();
    if (tracer != null) {
      tracer.posted(device.traced(), queue, receive, entry);
    }
  }

  void completed(MemorySegment entry) {
    VerbsTracer tracer = device.watcher();
    if (tracer != null) {
      tracer.completed(device.traced(), queue, entry);
    }
  }
}
