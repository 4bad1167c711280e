package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.DeviceAttributes;
import org.rdma4j.ib.core.verbs.DeviceLimit;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MigrationState;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

/** What the device promises is what can be had, and one more is refused with the name of the limit. */
class LimitsTest {
  /** Numbers of objects: counted by the core, whose tests show the refusal; here there are too many to make. */
  private static final Set<DeviceLimit> COUNTED =
      EnumSet.of(
          DeviceLimit.MAX_QP, DeviceLimit.MAX_CQ, DeviceLimit.MAX_MR, DeviceLimit.MAX_PD, DeviceLimit.MAX_MW,
          DeviceLimit.MAX_AH, DeviceLimit.MAX_SRQ);

  /** Shown by other tests: of multicast, of P_Keys, and of what has the same number as another. */
  private static final Set<DeviceLimit> ELSEWHERE =
      EnumSet.of(
          DeviceLimit.MAX_MCAST_GRP, DeviceLimit.MAX_MCAST_QP_ATTACH, DeviceLimit.MAX_TOTAL_MCAST_QP_ATTACH,
          DeviceLimit.MAX_PKEYS, DeviceLimit.MAX_SGE_RD, DeviceLimit.MAX_RES_RD_ATOM);

  private final TestLink link = TestLink.open("rxe0");
  private final End end = new End(link, QpType.RC, 1 << 16);
  private final DeviceAttributes attributes = end.context.attributes();

  @AfterEach
  void close() {
    end.close();
    link.close();
  }

  private void createQp(QpCapabilities sizes) {
    end.pd.createQp(new QpInitAttributes(QpType.RC).sendCq(end.cq).recvCq(end.cq).capabilities(sizes)).destroy();
  }

  private QueuePair fresh() {
    return end.pd.createQp(new QpInitAttributes(QpType.RC).sendCq(end.cq).recvCq(end.cq));
  }

  private static void toRtr(QueuePair qp, End end, int reads) {
    End.init(qp);
    qp.modify(
        new QpAttributes()
            .state(QpState.RTR)
            .addressVector(new AhAttributes(1, end.link.gid, end.sgidIndex()))
            .destQpNumber(qp.number())
            .pathMtu(PathMtu.MTU_1024)
            .rqPsn(0)
            .maxDestRdAtomic(reads)
            .minRnrTimer(1));
  }

  private void toRts(int reads) {
    QueuePair qp = fresh();
    toRtr(qp, end, 1);
    qp.modify(
        new QpAttributes()
            .state(QpState.RTS)
            .sqPsn(0)
            .timeout(14)
            .retryCount(1)
            .rnrRetry(1)
            .maxRdAtomic(reads));
    qp.destroy();
  }

  private void respond(int reads) {
    QueuePair qp = fresh();
    toRtr(qp, end, reads);
    qp.destroy();
  }

  private Map<DeviceLimit, IntConsumer> uses() {
    Map<DeviceLimit, IntConsumer> uses = new EnumMap<>(DeviceLimit.class);
    uses.put(DeviceLimit.MAX_QP_WR, count -> createQp(new QpCapabilities(count, 1, 1, 1, 0)));
    uses.put(DeviceLimit.MAX_SEND_SGE, count -> createQp(new QpCapabilities(1, 1, count, 1, 0)));
    uses.put(DeviceLimit.MAX_RECV_SGE, count -> createQp(new QpCapabilities(1, 1, 1, count, 0)));
    uses.put(DeviceLimit.MAX_INLINE_DATA, count -> createQp(new QpCapabilities(1, 1, 1, 1, count)));
    uses.put(DeviceLimit.MAX_CQE, count -> end.context.createCq(count, null, 0).destroy());
    uses.put(DeviceLimit.MAX_SRQ_WR, count -> end.pd.createSrq(new SrqInitAttributes(count, 1)).destroy());
    uses.put(DeviceLimit.MAX_SRQ_SGE, count -> end.pd.createSrq(new SrqInitAttributes(1, count)).destroy());
    uses.put(DeviceLimit.MAX_QP_RD_ATOM, this::respond);
    uses.put(DeviceLimit.MAX_QP_INIT_RD_ATOM, this::toRts);
    uses.put(DeviceLimit.MAX_FAST_REG_PAGE_LIST_LEN, count -> end.pd.allocateMr(count).destroy());
    return uses;
  }

  private static VerbsException fails(Runnable code) {
    return assertThrows(VerbsException.class, code::run);
  }

  @Test
  void asMuchAsPromisedAndNoMore() {
    uses()
        .forEach(
            (limit, use) -> {
              int max = Math.toIntExact(attributes.limit(limit));
              use.accept(max);
              VerbsException e = fails(() -> use.accept(max + 1));
              assertEquals(Errno.EINVAL, e.errno(), e.getMessage());
              assertTrue(
                  e.getMessage().contains(limit.attributeName()) && e.getMessage().contains(String.valueOf(max)),
                  e.getMessage());
            });
  }

  @Test
  void everyLimitIsAccountedFor() {
    for (DeviceLimit each : DeviceLimit.values()) {
      boolean shown = uses().containsKey(each) || COUNTED.contains(each) || ELSEWHERE.contains(each);
      assertTrue(shown || attributes.limit(each) == 0, each + " is promised and nobody has looked");
    }
  }

  @Test
  void allQueuePairsTogetherAcceptSoManyReads() {
    var engine = link.device.engine();
    engine.run(() -> link.device.holdReplies(Limits.MAX_RES_RD_ATOMIC - 100, null));
    respond(100);
    VerbsException e = fails(() -> respond(101));
    assertEquals(Errno.ENOMEM, e.errno());
    assertTrue(e.getMessage().contains("max_res_rd_atom is " + Limits.MAX_RES_RD_ATOMIC), e.getMessage());
    QueuePair first = fresh();
    toRtr(first, end, 60);
    fails(() -> respond(41));
    first.modify(new QpAttributes().state(QpState.RESET));
    respond(100);
  }

  @Test
  void postingNamesItsLimits() {
    End peer = new End(link, QpType.RC, 4096);
    end.connect(peer, PathMtu.MTU_1024);
    SendWorkRequest tooMany = new SendWorkRequest().opcode(WrOpcode.SEND);
    ReceiveWorkRequest receive = new ReceiveWorkRequest();
    for (int i = 0; i <= end.qp.capabilities().maxSendSge(); i++) {
      tooMany.addSge(end.region.address(), 1, end.region.lkey());
    }
    for (int i = 0; i <= end.qp.capabilities().maxRecvSge(); i++) {
      receive.addSge(end.region.address(), 1, end.region.lkey());
    }
    assertTrue(fails(() -> end.qp.postSend(tooMany)).getMessage().contains("max_send_sge"));
    String text = fails(() -> end.qp.postReceive(receive)).getMessage();
    assertTrue(text.contains("max_sge of the receive queue is "), text);
    peer.close();
  }

  @Test
  void whatIsClaimedForTheKernelsSakeIsRefusedWithTheReason() {
    end.connect(end.link.gid, end.qp.number(), PathMtu.MTU_1024);
    VerbsException e =
        fails(
            () ->
                end.qp.modify(
                    new QpAttributes()
                        .state(QpState.RTS)
                        .pathMigrationState(MigrationState.REARM)));
    assertTrue(e.getMessage().contains("path migration"), e.getMessage());
  }
}
