package org.rdma4j.provider.contract.suite;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.rdma4j.ib.core.verbs.CounterSet;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.GidEntry;
import org.rdma4j.ib.core.verbs.GidTable;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.PortState;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceTable;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.XrcOpenFlag;

/** What a device says of itself. */
final class DeviceCases {
  private static final List<DeviceLimit> NEEDED =
      List.of(
          DeviceLimit.MAX_PD,
          DeviceLimit.MAX_CQ,
          DeviceLimit.MAX_CQE,
          DeviceLimit.MAX_QP,
          DeviceLimit.MAX_QP_WR,
          DeviceLimit.MAX_SEND_SGE,
          DeviceLimit.MAX_RECV_SGE,
          DeviceLimit.MAX_MR);

  private DeviceCases() {}

  static void add(CaseList list) {
    list.add("device.identity", "A device has a name, a driver, a node GUID and a port.", DeviceCases::identity);
    list.add("device.limits", "A device can have at least one of each mandatory object.", DeviceCases::limits);
    list.add("device.absent", "What a device does not claim is refused with EOPNOTSUPP, or as beyond a limit.",
        DeviceCases::absent);
    list.add("port.query", "A port tells its state, MTUs and table lengths, and they fit together.", DeviceCases::port);
    list.add("port.active", "The port that traffic goes through is active.", DeviceCases::active);
    list.add("port.unknown-refused", "A port that is not there is refused with EINVAL.", DeviceCases::unknownPort);
    list.add("gid.table", "Every GID of a port is found at its index, once.", DeviceCases::gids);
    list.add(
        "pkey.table", "P_Keys are found at their index, and an index beyond the table is EINVAL.", DeviceCases::pkeys);
    list.add(
        "counters.forward", "Counters have names of their own and never go back.", DeviceCases::counters,
        Need.COUNTERS);
    list.add("resources.listed", "Every object is in the resource table while it is there.", DeviceCases::resources);
  }

  private static void identity(Bench bench) {
    for (RdmaDevice device : new RdmaDevice[] {bench.deviceA(), bench.deviceB()}) {
      Check.that(!device.name().isEmpty() && !device.driver().isEmpty(), "a name is empty");
      Check.that(device.nodeGuid().value() != 0, "the node GUID of " + device.name() + " is 0");
      Check.that(device.portCount() >= 1, device.name() + " has no port");
      Check.that(device.attributes().completionVectors() >= 1, device.name() + " has no completion vector");
    }
  }

  private static void limits(Bench bench) {
    RdmaDevice device = bench.deviceA();
    for (DeviceLimit each : NEEDED) {
      Check.that(device.attributes().limit(each) >= 1, each.attributeName() + " of " + device.name() + " is 0");
    }
  }

  private static void absent(Bench bench) {
    Side a = bench.a();
    Errno[] allowed = {Errno.EOPNOTSUPP, Errno.EINVAL, Errno.ENOMEM};
    if (Need.SRQ.missing(a.device) != null) {
      Check.refused("a shared receive queue", () -> a.pd.createSrq(new SrqInitAttributes(1, 1)), allowed);
    }
    if (Need.XRC.missing(a.device) != null) {
      Check.refused("an XRC domain", () -> a.context.openXrcd(null, XrcOpenFlag.CREATE), allowed);
    }
    if (Need.WINDOWS_1.missing(a.device) != null) {
      Check.refused("a window of type 1", () -> a.pd.allocateMw(MwType.TYPE_1), allowed);
    }
    if (Need.WINDOWS_2.missing(a.device) != null) {
      Check.refused("a window of type 2", () -> a.pd.allocateMw(MwType.TYPE_2), allowed);
    }
    if (Need.FAST_REGISTRATION.missing(a.device) != null) {
      Check.refused("a region for fast registration", () -> a.pd.allocateMr(1), allowed);
    }
    if (Need.INLINE.missing(a.device) != null) {
      Check.refused(
          "inline data",
          () -> a.pd.createQp(a.init(QpType.RC).capabilities(new QpCapabilities(1, 1, 1, 1, 1))),
          allowed);
    }
    Check.refused("a queue pair of type RAW_PACKET", () -> a.pd.createQp(a.init(QpType.RAW_PACKET)), allowed);
  }

  private static void port(Bench bench) {
    RdmaDevice device = bench.deviceA();
    for (int port = 1; port <= device.portCount(); port++) {
      PortAttributes attributes = device.port(port);
      Check.that(attributes.state() != null && attributes.physicalState() != null, "a port has no state");
      Check.that(attributes.activeMtu().compareTo(attributes.maxMtu()) <= 0, "the active MTU exceeds the largest");
      Check.that(attributes.maxMessageSize() >= attributes.activeMtu().bytes(), "max_msg_sz is below the MTU");
      Check.that(attributes.pkeyTableLength() >= 1, "the P_Key table is empty");
      Check.equal(device.gidTable(port).size(), attributes.gidTableLength(), "the length of the GID table");
    }
  }

  private static void active(Bench bench) {
    Side a = bench.a();
    Side b = bench.b();
    Check.equal(PortState.ACTIVE, a.device.port(a.port).state(), "the state of the port of " + a);
    Check.equal(PortState.ACTIVE, b.device.port(b.port).state(), "the state of the port of " + b);
  }

  private static void unknownPort(Bench bench) {
    RdmaDevice device = bench.deviceA();
    for (int port : new int[] {0, -1, device.portCount() + 1}) {
      Check.invalid("the query of port " + port, () -> device.port(port));
      Check.invalid("the GID table of port " + port, () -> device.gidTable(port));
    }
  }

  private static void gids(Bench bench) {
    RdmaDevice device = bench.deviceA();
    for (int port = 1; port <= device.portCount(); port++) {
      GidTable table = device.gidTable(port);
      Set<Object> seen = new HashSet<>();
      for (GidEntry each : table.entries()) {
        Check.that(each.index() >= 0 && each.index() < table.size(), each + " is beyond the table");
        Check.equal(each, table.entry(each.index()), "the entry at " + each.index());
        Check.that(table.find(each.gid()) != null, each.gid() + " is not found");
        Check.that(seen.add(List.of(each.gid(), each.type(), String.valueOf(each.netdev()))), each + " is there twice");
      }
      Check.equal(port, table.entries().isEmpty() ? port : table.entries().getFirst().port(), "the port of a GID");
    }
  }

  private static void pkeys(Bench bench) {
    RdmaDevice device = bench.deviceA();
    int length = device.port(1).pkeyTableLength();
    int first = device.pkey(1, 0);
    Check.that(device.findPkey(1, first) >= 0, "the P_Key at index 0 is not found");
    Check.equal(first & 0x7fff, device.pkey(1, device.findPkey(1, first)) & 0x7fff, "the P_Key found");
    Check.invalid("the P_Key at index " + length, () -> device.pkey(1, length));
    Check.invalid("the P_Key at index -1", () -> device.pkey(1, -1));
  }

  private static void counters(Bench bench) {
    Pair pair = bench.pair(QpType.RC);
    CounterSet before = pair.a().device.counters(pair.a().port);
    Check.equal(before.names().size(), new HashSet<>(before.names()).size(), "the number of different names");
    pair.b().postReceive(1, 0, 100);
    pair.a().postSend(pair.a().send(2, 0, 100));
    pair.a().done(2, WcOpcode.SEND);
    CounterSet after = pair.a().device.counters(pair.a().port);
    Check.equal(before.names(), after.names(), "the names of the counters");
    for (String each : before.names()) {
      Check.that(after.value(each) >= before.value(each), each + " goes back");
    }
  }

  private static void resources(Bench bench) {
    Side a = bench.a().with(QpType.RC);
    ResourceTable table = a.device.resources();
    Check.that(isListed(table, a.qp()), a.qp() + " is not in the resource table");
    a.qp().destroy();
    Check.that(!isListed(table, a.qp()), a.qp() + " stays in the resource table");
  }

  private static boolean isListed(ResourceTable table, QueuePair qp) {
    return table.queuePairs().stream().anyMatch(each -> each.number() == qp.number());
  }
}
