package org.rdma4j.rdma.cm.ib;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.PathMtu;

/** Two managers that hear each other, under one clock, and what they were told. */
final class Pair {
  static final long SERVICE = 0x0000000001061c06L;
  static final Gid A = Gid.parse("::ffff:192.0.2.1");
  static final Gid B = Gid.parse("::ffff:192.0.2.2");
  static final int RETRIES = 15;
  static final int RESPONSE_TIMEOUT = 20;
  static final int LIFE_TIME = 18;

  final VirtualTime time = new VirtualTime();
  final IbCm a = new IbCm(time);
  final IbCm b = new IbCm(time);
  final SimulatedPort portA;
  final SimulatedPort portB;
  final List<CmEvent> eventsA = new ArrayList<>();
  final List<CmEvent> eventsB = new ArrayList<>();

  /** What becomes of messages. */
  private SimulatedPort.Network network = this::deliver;

  Pair() {
    portA = new SimulatedPort(time, 0xa, (from, mad, to) -> network.carry(from, mad, to));
    portB = new SimulatedPort(time, 0xb, (from, mad, to) -> network.carry(from, mad, to));
  }

  void network(SimulatedPort.Network other) {
    network = other;
  }

  /** Brings a message to the other side, 1 ms later. */
  void deliver(SimulatedPort from, MemorySegment mad, CmAddress to) {
    deliver(from, mad, to, 1);
  }

  void deliver(SimulatedPort from, MemorySegment mad, CmAddress to, long milliseconds) {
    CmAddress back =
        new CmAddress(
            to.remote(), to.local(), to.pkey(), to.trafficClass(), to.flowLabel(), to.hopLimit(), to.serviceLevel());
    ReceivedCm message = new ReceivedCm(mad, back);
    if (from == portA) {
      time.schedule(() -> b.receive(portB, message), milliseconds);
    } else {
      time.schedule(() -> a.receive(portA, message), milliseconds);
    }
  }

  static CmPath path() {
    return new CmPath(new CmAddress(A, B, 0xffff, 0, 0, 64, 0), PathMtu.MTU_1024, 0, LIFE_TIME);
  }

  static ReqParameters req(int qpn) {
    return new ReqParameters(
        path(), SERVICE, qpn, QpType.RC, 0x111111, 3, 5, RESPONSE_TIMEOUT, false, 7, 6, RETRIES, false, 0, 0,
        new byte[] {1, 2, 3});
  }

  static RepParameters rep(int qpn) {
    return new RepParameters(qpn, 0x222222, 5, 3, 0, false, 6, false, 0, 0, new byte[] {4, 5});
  }
}
