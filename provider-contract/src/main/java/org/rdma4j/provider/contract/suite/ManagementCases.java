package org.rdma4j.provider.contract.suite;

import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WorkCompletion;

/** The general services queue pair of a port, which carries management datagrams. */
final class ManagementCases {
  private static final int NUMBER = 1;
  private static final int QKEY = 0x8001_0000;
  private static final int MAD = 256;

  private ManagementCases() {}

  static void add(CaseList list) {
    list.add("gsi.one-a-port", "A port has one general services queue pair, whose number is 1; another is EBUSY.",
        ManagementCases::one, Need.MADS);
    list.add("gsi.send.bytes", "Management datagrams go both ways between the queue pairs of number 1.",
        ManagementCases::sends, Need.MADS);
  }

  private static Side general(Side side) {
    try {
      return side.with(QpType.GSI);
    } catch (VerbsException e) {
      if (e.errno() == Errno.EBUSY) {
        throw new Skipped("the general services queue pair of " + side + " is in use by somebody else");
      }
      throw e;
    }
  }

  private static void ready(Side side) {
    side.qp().modify(new QpAttributes().state(QpState.INIT).pkeyIndex(0).qkey(QKEY));
    side.qp().modify(new QpAttributes().state(QpState.RTR));
    side.qp().modify(new QpAttributes().state(QpState.RTS).sqPsn(0));
  }

  private static void one(Bench bench) {
    Side a = general(bench.a());
    Check.equal(NUMBER, a.qp().number(), "the number");
    Check.refused("a second one", () -> a.pd.createQp(a.init(QpType.GSI)), Errno.EBUSY);
    a.qp().destroy();
    a.pd.createQp(a.init(QpType.GSI)).destroy();
  }

  private static void sends(Bench bench) {
    Side a = bench.a();
    Side b = bench.b();
    if (a.gid.gid().equals(b.gid.gid())) {
      throw new Skipped("it takes two ports, and there is one");
    }
    Pair pair = new Pair(general(a), general(b), Way.USUAL);
    ready(pair.a());
    ready(pair.b());
    for (int i = 0; i < 5; i++) {
      for (Pair each : new Pair[] {pair, pair.turned()}) {
        each.a().fill(0, MAD, i);
        each.b().postReceive(1, 4096, MAD + Side.GRH);
        each.a().postSend(Datagrams.to(each, each.a().send(2, 0, MAD)).remoteQpn(NUMBER).remoteQkey(QKEY));
        each.a().done(2, WcOpcode.SEND);
        WorkCompletion received = each.b().received(1, MAD + Side.GRH);
        Check.equal(NUMBER, received.sourceQp(), "the source of " + received);
        Check.equal(0, received.pkeyIndex(), "the P_Key index of " + received);
        each.b().verify(4096 + Side.GRH, MAD, i);
      }
    }
  }
}
