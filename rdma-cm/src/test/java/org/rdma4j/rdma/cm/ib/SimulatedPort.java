package org.rdma4j.rdma.cm.ib;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.message.CmAttribute;
import org.rdma4j.roce.address.Gid;

/** A port whose MADs go over a {@link Network}, with the tries that the MAD layer makes. */
final class SimulatedPort implements CmPort {
  /** What carries messages. */
  interface Network {
    void carry(SimulatedPort from, MemorySegment mad, CmAddress to);
  }

  static final int PKEY = 0xffff;
  static final int PKEY_INDEX = 3;
  static final int GID_INDEX = 5;

  private final VirtualTime time;
  private final long guid;
  private final Network network;
  private final CmCounters counters = new CmCounters();

  /** What was sent, also again. */
  final List<CmAttribute> sent = new ArrayList<>();

  int outstanding;
  int exhausted;
  boolean broken;

  SimulatedPort(VirtualTime time, long guid, Network network) {
    this.time = time;
    this.guid = guid;
    this.network = network;
  }

  @Override
  public long nodeGuid() {
    return guid;
  }

  @Override
  public Gid gid() {
    return Gid.parse("fe80::" + Long.toHexString(guid));
  }

  @Override
  public int ackDelay() {
    return 15;
  }

  @Override
  public int highTransactionId() {
    return 2;
  }

  @Override
  public Object device() {
    return this;
  }

  @Override
  public int number() {
    return 1;
  }

  @Override
  public int pkeyIndex(CmAddress to) {
    if (to.pkey() != PKEY) {
      throw new VerbsException(Errno.EINVAL, "no P_Key " + to.pkey());
    }
    return PKEY_INDEX;
  }

  @Override
  public AhAttributes way(CmAddress to) {
    return new AhAttributes(1, to.remote(), GID_INDEX)
        .withFlowLabel(to.flowLabel())
        .withTrafficClass(to.trafficClass())
        .withHopLimit(to.hopLimit());
  }

  @Override
  public CmCounters counters() {
    return counters;
  }

  @Override
  public void send(MemorySegment mad, CmAddress to) {
    if (broken) {
      throw new VerbsException(Errno.ENODEV, "send: the device was removed");
    }
    sent.add(CmAttribute.of(MadHeader.ATTRIBUTE_ID.getInt(mad)).orElseThrow());
    network.carry(this, MemorySegment.ofArray(mad.toArray(ValueLayout.JAVA_BYTE)), to);
  }

  @Override
  public Outstanding send(MemorySegment mad, CmAddress to, long milliseconds, int retries, Runnable whenExhausted) {
    send(mad, to);
    Tries tries = new Tries(mad, to, milliseconds, retries, whenExhausted);
    outstanding++;
    tries.plan();
    return tries;
  }

  private final class Tries implements Outstanding {
    private final MemorySegment mad;
    private final CmAddress to;
    private final Runnable whenExhausted;
    private long milliseconds;
    private int left;
    private int current;
    private boolean over;

    Tries(MemorySegment mad, CmAddress to, long milliseconds, int retries, Runnable whenExhausted) {
      this.mad = mad;
      this.to = to;
      this.milliseconds = milliseconds;
      this.left = retries;
      this.whenExhausted = whenExhausted;
    }

    void plan() {
      int mine = ++current;
      time.schedule(() -> again(mine), milliseconds);
    }

    private void again(int mine) {
      if (over || mine != current) {
        return;
      }
      if (left-- > 0) {
        send(mad, to);
        counters.countRetries(sent.getLast(), 1);
        plan();
      } else {
        cancel();
        exhausted++;
        whenExhausted.run();
      }
    }

    @Override
    public void cancel() {
      if (!over) {
        over = true;
        outstanding--;
      }
    }

    @Override
    public void extend(long longer) {
      milliseconds = longer;
      plan();
    }
  }
}
