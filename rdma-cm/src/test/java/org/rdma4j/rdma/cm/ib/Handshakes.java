package org.rdma4j.rdma.cm.ib;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;

/**
 * Some connections between two managers over a network that loses, doubles, delays and reorders messages, all as a seed
 * decides: how each end was told that it went.
 */
final class Handshakes {
  private static final byte[] NOTHING = {};
  private static final int MOST_DELAY = 60;
  private static final int MOST_CONNECTIONS = 4;
  private static final int LONGEST = 20_000;
  private static final int PASSIVE_QPS = 0x1000;
  private static final long TIMEWAIT = CmTimes.milliseconds(CmTimes.ackTimeout(15, Pair.LIFE_TIME));

  /** What an end of a connection was told. */
  static final class End {
    boolean established;
    boolean refused;
    boolean gaveUp;
    boolean ended;
    boolean timewaitOver;
    long timewaitBegan = -1;

    boolean isOver() {
      return refused || gaveUp || timewaitOver;
    }
  }

  private final Pair pair = new Pair();
  private final Random random;
  private final double loss;
  private final double doubled;
  private final boolean quickToRefuse;
  private final List<End> asking = new ArrayList<>();
  private final List<End> answering = new ArrayList<>();
  private final Map<CmId, End> ends = new IdentityHashMap<>();
  private final CmId listener;
  private int wrongTimewaits;

  Handshakes(long seed) {
    random = new Random(seed);
    loss = random.nextInt(4) * 0.1;
    doubled = random.nextInt(3) * 0.1;
    quickToRefuse = random.nextInt(4) == 0;
    pair.network(this::carry);
    listener = pair.b.create(pair.portB, this::onPassive);
    listener.listen(Pair.SERVICE);
  }

  private void carry(SimulatedPort from, MemorySegment mad, CmAddress to) {
    int copies = random.nextDouble() < doubled ? 2 : 1;
    for (int i = 0; i < copies; i++) {
      if (random.nextDouble() >= loss) {
        pair.deliver(from, mad, to, 1L + random.nextInt(MOST_DELAY));
      }
    }
  }

  /** Plays all of it; what it says is what went wrong, or nothing. */
  List<String> play() {
    int connections = 1 + random.nextInt(MOST_CONNECTIONS);
    for (int i = 0; i < connections; i++) {
      int qpn = 1 + i;
      pair.time.schedule(() -> connect(qpn), random.nextInt(200));
    }
    pair.time.runAll(100_000);
    listener.destroy();
    return complaints();
  }

  private void connect(int qpn) {
    End end = new End();
    asking.add(end);
    CmId id = pair.a.create(pair.portA, (self, event) -> onEvent(self, event, end));
    ReqParameters usual = Pair.req(qpn);
    id.sendReq(
        new ReqParameters(
            usual.path(), Pair.SERVICE, qpn, QpType.RC, random.nextInt(1 << 24), 1, 1, Pair.RESPONSE_TIMEOUT, false,
            7, 7, Pair.RETRIES, false, 0, 0, NOTHING));
    if (quickToRefuse && random.nextInt(3) == 0) {
      pair.time.schedule(
          () -> {
            if (id.state().in(CmState.REQ_SENT, CmState.MRA_REQ_RCVD)) {
              end.gaveUp = true;
              id.destroy();
            }
          },
          random.nextInt(10_000));
    }
  }

  private CmHandler.Verdict onPassive(CmId id, CmEvent event) {
    if (event instanceof CmEvent.ReqReceived) {
      End end = new End();
      ends.put(id, end);
      answering.add(end);
      return answer(id, end);
    }
    return onEvent(id, event, ends.get(id));
  }

  private CmHandler.Verdict answer(CmId id, End end) {
    int choice = random.nextInt(quickToRefuse ? 6 : 4);
    switch (choice) {
      case 0 -> accept(id, end);
      case 1 -> {
        id.sendMra(24 | CmId.MRA_DELAY, NOTHING);
        pair.time.schedule(() -> accept(id, end), random.nextInt(10_000));
      }
      case 2 -> {
        id.sendMra(22, NOTHING);
        pair.time.schedule(() -> accept(id, end), random.nextInt(10_000));
      }
      case 3 -> pair.time.schedule(() -> accept(id, end), random.nextInt(10_000));
      case 4 -> {
        end.gaveUp = true;
        return CmHandler.Verdict.DESTROY;
      }
      default -> {
        answering.remove(end);
        return CmHandler.Verdict.FORGET;
      }
    }
    return CmHandler.Verdict.KEEP;
  }

  private void accept(CmId id, End end) {
    if (!end.isOver()) {
      id.sendRep(Pair.rep(PASSIVE_QPS + answering.indexOf(end)));
    }
  }

  private CmHandler.Verdict onEvent(CmId id, CmEvent event, End end) {
    switch (event) {
      case CmEvent.RepReceived ignored -> {
        if (quickToRefuse && random.nextInt(4) == 0) {
          end.gaveUp = true;
          return CmHandler.Verdict.DESTROY;
        }
        id.sendRtu(NOTHING);
        established(id, end);
      }
      case CmEvent.RtuReceived ignored -> established(id, end);
      case CmEvent.UserEstablished ignored -> established(id, end);
      case CmEvent.DreqReceived ignored -> {
        end.ended = true;
        id.sendDrep(NOTHING);
        end.timewaitBegan = pair.time.now();
      }
      case CmEvent.DrepReceived ignored -> {
        end.ended = true;
        end.timewaitBegan = pair.time.now();
      }
      case CmEvent.DreqError ignored -> {
        end.ended = true;
        end.timewaitBegan = pair.time.now();
      }
      case CmEvent.TimewaitExit ignored -> {
        end.timewaitOver = true;
        if (end.timewaitBegan < 0 || pair.time.now() != end.timewaitBegan + TIMEWAIT) {
          wrongTimewaits++;
        }
        return CmHandler.Verdict.DESTROY;
      }
      case CmEvent.RejReceived ignored -> {
        end.refused = true;
        return CmHandler.Verdict.DESTROY;
      }
      case CmEvent.ReqError ignored -> {
        end.gaveUp = true;
        return CmHandler.Verdict.DESTROY;
      }
      case CmEvent.RepError ignored -> {
        end.gaveUp = true;
        return CmHandler.Verdict.DESTROY;
      }
      case CmEvent.MraReceived ignored -> {
        // Patience is what it asks for.
      }
      default -> throw new AssertionError("unexpected " + event);
    }
    return CmHandler.Verdict.KEEP;
  }

  private void established(CmId id, End end) {
    end.established = true;
    pair.time.schedule(
        () -> {
          if (id.state() == CmState.ESTABLISHED) {
            try {
              id.sendDreq(NOTHING);
            } catch (VerbsException e) {
              throw new AssertionError(e);
            }
          }
        },
        1_000L + random.nextInt(LONGEST));
  }

  private List<String> complaints() {
    List<String> complaints = new ArrayList<>();
    if (pair.a.size() + pair.b.size() + pair.portA.outstanding + pair.portB.outstanding != 0) {
      complaints.add("something is left of connections");
    }
    if (wrongTimewaits > 0) {
      complaints.add("TIMEWAIT lasted not as long as it should");
    }
    for (End end : asking) {
      if (!end.isOver()) {
        complaints.add("an asking end never heard the end");
      }
    }
    for (End end : answering) {
      if (!end.isOver()) {
        complaints.add("an answering end never heard the end");
      }
    }
    long there = asking.stream().filter(end -> end.established).count();
    // A DREQ may overtake the RTU: then the answering side hears at once that it was, and that it is over.
    long here = answering.stream().filter(end -> end.established || end.ended).count();
    boolean exhausted = pair.portA.exhausted + pair.portB.exhausted > 0;
    if (there != here && !exhausted && !quickToRefuse) {
      complaints.add(there + " connections for one side and " + here + " for the other");
    }
    return complaints;
  }

  long connected() {
    return asking.stream().filter(end -> end.established).count();
  }

  long refused() {
    return asking.stream().filter(end -> end.refused).count();
  }
}
