package org.rdma4j.rdma.cm.internal.cma;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.EventChannel;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A queue of events (librdmacm: {@code struct rdma_event_channel}; kernel: {@code struct ucma_file}). */
final class Channel implements EventChannel {
  private static final Logger LOG = LoggerFactory.getLogger(Channel.class);

  /** An event, and what to do when somebody takes it. */
  record Waiting(RdmaCmEvent event, Runnable taken) {
    boolean concerns(Id id) {
      return event.id() == id || event.listener() == id;
    }
  }

  private final Owner owner;
  private final ArrayDeque<Waiting> queue = new ArrayDeque<>(); // guards all below
  private Consumer<RdmaCmEvent> handler;
  private Thread dispatcher;
  private RdmaCmEvent handled;
  private Pipe pipe;
  private boolean closed;

  Channel(Owner owner) {
    this.owner = owner;
  }

  Owner owner() {
    return owner;
  }

  @Override
  public RdmaCmEvent getEvent(Duration timeout) {
    long nanos = timeout == null ? Long.MAX_VALUE : timeout.toNanos();
    long start = System.nanoTime();
    Waiting next;
    synchronized (queue) {
      while (queue.isEmpty() || handler != null) {
        requireOpen();
        if (handler != null) {
          throw new VerbsException(Errno.EINVAL, "the event channel has a handler, which gets its events");
        }
        long left = nanos == Long.MAX_VALUE ? nanos : nanos - (System.nanoTime() - start);
        if (left <= 0) {
          return null;
        }
        await(left);
      }
      requireOpen();
      next = remove();
    }
    next.taken().run();
    return next.event();
  }

  private void await(long nanos) {
    try {
      if (nanos == Long.MAX_VALUE) {
        queue.wait();
      } else {
        TimeUnit.NANOSECONDS.timedWait(queue, Math.max(nanos, TimeUnit.MILLISECONDS.toNanos(1)));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new VerbsException(Errno.ECANCELED, "interrupted while waiting for an event", e);
    }
  }

  void requireOpen() {
    synchronized (queue) {
      if (closed) {
        throw new VerbsException(Errno.EINVAL, "the event channel is closed");
      }
    }
  }

  void add(Waiting event) {
    synchronized (queue) {
      if (closed) {
        return;
      }
      queue.add(event);
      if (queue.size() == 1) {
        signal();
      }
      queue.notifyAll();
    }
  }

  private Waiting remove() {
    Waiting next = queue.remove();
    if (queue.isEmpty()) {
      unsignal();
    }
    return next;
  }

  /** Takes those events out that are meant. */
  List<Waiting> extract(Predicate<Waiting> which) {
    List<Waiting> found = new ArrayList<>();
    synchronized (queue) {
      for (Iterator<Waiting> i = queue.iterator(); i.hasNext(); ) {
        Waiting each = i.next();
        if (which.test(each)) {
          i.remove();
          found.add(each);
        }
      }
      if (queue.isEmpty() && !found.isEmpty()) {
        unsignal();
      }
    }
    return found;
  }

  /** When it returns no event of the identifier is at the handler, unless that is who calls. */
  void awaitHandler(Id id) {
    boolean interrupted = false;
    synchronized (queue) {
      while (handled != null && handled.id() == id && Thread.currentThread() != dispatcher) {
        try {
          queue.wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void handler(Consumer<RdmaCmEvent> next) {
    synchronized (queue) {
      requireOpen();
      handler = next;
      if (next != null && dispatcher == null) {
        dispatcher = Thread.ofPlatform().daemon().name("rdma_cm events").unstarted(this::dispatch);
        dispatcher.start();
      }
      queue.notifyAll();
    }
  }

  private void dispatch() {
    while (true) {
      Waiting next;
      Consumer<RdmaCmEvent> who;
      synchronized (queue) {
        while (!closed && handler != null && queue.isEmpty()) {
          try {
            queue.wait();
          } catch (InterruptedException e) {
            LOG.debug("an interrupt of the event thread means nothing", e);
          }
        }
        if (closed || handler == null) {
          dispatcher = null;
          return;
        }
        next = remove();
        who = handler;
        handled = next.event();
      }
      try {
        next.taken().run();
        who.accept(next.event());
      } catch (RuntimeException e) {
        LOG.error("the handler of an event channel failed at {}", next.event(), e);
      } finally {
        synchronized (queue) {
          handled = null;
          queue.notifyAll();
        }
      }
    }
  }

  @Override
  public SelectableChannel selectable() {
    synchronized (queue) {
      requireOpen();
      if (pipe == null) {
        try {
          pipe = Pipe.open();
          pipe.source().configureBlocking(false);
          pipe.sink().configureBlocking(false);
        } catch (IOException e) {
          throw new VerbsException(Errno.EMFILE, "no file for the event channel: " + e.getMessage(), e);
        }
        if (!queue.isEmpty()) {
          signal();
        }
      }
      return pipe.source();
    }
  }

  /** One byte is in the pipe while events wait. */
  private void signal() {
    if (pipe != null) {
      try {
        pipe.sink().write(ByteBuffer.allocate(1));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void unsignal() {
    if (pipe != null) {
      try {
        pipe.source().read(ByteBuffer.allocate(1));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Override
  public void close() {
    owner.closeIds(this);
    Thread thread;
    synchronized (queue) {
      if (closed) {
        return;
      }
      closed = true;
      thread = dispatcher;
      queue.clear();
      queue.notifyAll();
      if (pipe != null) {
        try (var source = pipe.source();
            var sink = pipe.sink()) {
          LOG.trace("closing {} and {}", source, sink);
        } catch (IOException e) {
          LOG.debug("the pipe of an event channel did not close", e);
        }
      }
    }
    owner.forget(this);
    awaitEnd(thread);
  }

  private static void awaitEnd(Thread thread) {
    if (thread == null || thread == Thread.currentThread()) {
      return;
    }
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
