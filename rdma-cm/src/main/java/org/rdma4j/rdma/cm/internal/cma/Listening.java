package org.rdma4j.rdma.cm.internal.cma;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmState;
import org.rdma4j.rdma.cm.ib.CmHandler.Verdict;

/** An identifier as a listener: which requests are for it, and how many may wait. Guarded by the identifier's lock. */
final class Listening {
  private static final int MOST = 1024; // kernel: net.rdma_ucm.max_backlog

  private final Id id;
  private final Owner owner;
  private final AtomicInteger waiting = new AtomicInteger(); // requests that nobody has taken
  private int backlog;
  private ProtectionDomain domain;
  private QpInitAttributes attributes;

  Listening(Id id, Owner owner) {
    this.id = id;
    this.owner = owner;
  }

  void begin(int most) {
    backlog = most <= 0 || most > MOST ? MOST : most;
    owner.cma().listen(id, id.device(), id.localAddress().getPort());
  }

  /** Whether a request to an address of a device is for this listener; called by who has the ports. */
  boolean isFor(CmaDevice where, InetAddress asked) {
    CmaDevice device = id.device();
    if (id.state() != RdmaCmState.LISTEN || device != null && device != where) {
      return false;
    }
    InetAddress mine = id.address();
    boolean sameFamily = mine.getClass() == asked.getClass();
    return mine.isAnyLocalAddress() ? sameFamily || !id.isFamilyOnly() : sameFamily && same(mine, asked);
  }

  private static boolean same(InetAddress mine, InetAddress asked) {
    return Arrays.equals(mine.getAddress(), asked.getAddress()); // a scope does not travel
  }

  /** Offers a new identifier to whoever listens here. */
  Verdict offer(Function<Id, RdmaCmEvent> making) {
    if (id.state() != RdmaCmState.LISTEN) {
      return Verdict.DESTROY;
    }
    if (waiting.get() >= backlog) {
      return Verdict.FORGET;
    }
    boolean alone = id.isSynchronous();
    Channel where = alone ? owner.makeChannel() : id.events();
    Id made = null;
    boolean done = false;
    try {
      made = owner.add(new Id(owner, where, alone, id.portSpace()));
      made.context(id.context());
      synchronized (made.lock) { // so that the request is told before anything else of it
        RdmaCmEvent event = making.apply(made);
        waiting.incrementAndGet();
        id.events().add(new Channel.Waiting(event, waiting::decrementAndGet));
      }
      done = true;
    } finally {
      if (!done) {
        if (made != null) {
          made.abandon();
        } else if (alone) {
          where.close();
        }
      }
    }
    return Verdict.KEEP;
  }

  /** What each request gets its queue pair with, where its listener is synchronous. */
  void requestAttributes(ProtectionDomain theirs, QpInitAttributes wanted) {
    domain = theirs;
    attributes = wanted == null ? null : new QpInitAttributes(wanted);
  }

  /** Makes the queue pair of a request; of one that cannot get it nothing is left. */
  Id prepared(Id made) {
    if (made != null && attributes != null) {
      boolean done = false;
      try {
        made.createQp(domain, attributes);
        done = true;
      } finally {
        if (!done) {
          made.close();
        }
      }
    }
    return made;
  }
}
