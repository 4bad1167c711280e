package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.ib.core.verbs.CompletionChannel;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

/**
 * Which completions raise an event, in every combination of operation, solicited flag, arming and outcome ({@code
 * ibv_req_notify_cq(3)}: a completion is solicited when its sender said so or when it is in error).
 */
class EventMatrixTest {
  private static final int IMMEDIATE = 0xabad1dea;
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** How the queue of the receiver is armed. */
  enum Armed {
    NOT,
    SOLICITED,
    NEXT_COMP,
    /** The weaker wish does not take the stronger one back. */
    NEXT_COMP_THEN_SOLICITED
  }

  private final TestLink link = TestLink.open("rxe0");
  private final End a = new End(link, QpType.RC, 4096);
  private final CompletionChannel channel = a.context.createCompletionChannel();
  private final CompletionQueue sends = a.context.createCq(16, channel, 0);
  private final CompletionQueue receives = a.context.createCq(16, channel, 0);
  private final QueuePair from = a.pd.createQp(new QpInitAttributes(QpType.RC).sendCq(sends).recvCq(a.cq));
  private final QueuePair to = a.pd.createQp(new QpInitAttributes(QpType.RC).sendCq(a.cq).recvCq(receives));

  EventMatrixTest() {
    End.connect(from, link.gid, a.sgidIndex(), to.number(), PathMtu.MTU_1024);
    End.connect(to, link.gid, a.sgidIndex(), from.number(), PathMtu.MTU_1024);
  }

  @AfterEach
  void close() {
    a.close();
    link.close();
  }

  static List<Arguments> combinations() {
    List<Arguments> all = new ArrayList<>();
    for (WrOpcode opcode : List.of(WrOpcode.SEND, WrOpcode.SEND_WITH_IMM, WrOpcode.RDMA_WRITE_WITH_IMM)) {
      for (boolean solicited : new boolean[] {false, true}) {
        for (Armed armed : Armed.values()) {
          for (boolean error : new boolean[] {false, true}) {
            all.add(Arguments.of(opcode, solicited, armed, error));
          }
        }
      }
    }
    return all;
  }

  private static void arm(CompletionQueue cq, Armed armed) {
    if (armed == Armed.NEXT_COMP || armed == Armed.NEXT_COMP_THEN_SOLICITED) {
      cq.requestNotify(CqNotify.NEXT_COMP);
    }
    if (armed == Armed.SOLICITED || armed == Armed.NEXT_COMP_THEN_SOLICITED) {
      cq.requestNotify(CqNotify.SOLICITED);
    }
  }

  private SendWorkRequest request(WrOpcode opcode, boolean solicited, int rkey) {
    return new SendWorkRequest()
        .opcode(opcode)
        .flags(SendFlag.SIGNALED | (solicited ? SendFlag.SOLICITED : 0))
        .immediate(IMMEDIATE)
        .remoteAddress(a.region.address())
        .rkey(rkey)
        .addSge(a.region.address(), 64, a.region.lkey());
  }

  private static WorkCompletion next(CompletionQueue cq) {
    WorkCompletion[] batch = WorkCompletion.batch(1);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (cq.poll(batch) == 0) {
      assertEquals(true, System.nanoTime() < deadline, "no completion");
      Thread.onSpinWait();
    }
    return batch[0];
  }

  /** One event where it is expected, none otherwise; the engine is through with what led to the completion. */
  private void expectEvent(boolean expected, CompletionQueue of) {
    link.device.engine().run(() -> {});
    if (expected) {
      assertEquals(of, channel.getEvent(PATIENCE));
    }
    assertNull(channel.getEvent(Duration.ZERO));
  }

  @ParameterizedTest
  @MethodSource("combinations")
  void receiver(WrOpcode opcode, boolean solicited, Armed armed, boolean error) {
    int room = error && opcode != WrOpcode.RDMA_WRITE_WITH_IMM ? 63 : 64;
    to.postReceive(new ReceiveWorkRequest().addSge(a.region.address() + 1024, room, a.region.lkey()));
    arm(receives, armed);
    from.postSend(request(opcode, solicited, error ? 0x7700_0001 : a.region.rkey()));
    WorkCompletion received = next(receives);
    assertEquals(error, received.status() != WcStatus.SUCCESS, received.toString());
    if (!error) {
      boolean immediate = opcode != WrOpcode.SEND;
      assertEquals(immediate, (received.flags() & WcFlag.WITH_IMM) != 0);
      assertEquals(immediate ? IMMEDIATE : 0, received.immediate());
    }
    boolean expected =
        switch (armed) {
          case NOT -> false;
          case SOLICITED -> solicited || error;
          case NEXT_COMP, NEXT_COMP_THEN_SOLICITED -> true;
        };
    expectEvent(expected, receives);
    next(sends);
    // One arming, one event: what comes after it is silent.
    if (!error) {
      to.postReceive(new ReceiveWorkRequest().addSge(a.region.address() + 1024, 64, a.region.lkey()));
      from.postSend(request(opcode, false, a.region.rkey()));
      next(receives);
      next(sends);
      expectEvent(false, receives);
    }
  }

  @ParameterizedTest
  @MethodSource("combinations")
  void sender(WrOpcode opcode, boolean solicited, Armed armed, boolean error) {
    int room = error && opcode != WrOpcode.RDMA_WRITE_WITH_IMM ? 63 : 64;
    to.postReceive(new ReceiveWorkRequest().addSge(a.region.address() + 1024, room, a.region.lkey()));
    arm(sends, armed);
    from.postSend(request(opcode, solicited, error ? 0x7700_0001 : a.region.rkey()));
    assertEquals(error, next(sends).status() != WcStatus.SUCCESS);
    // The flag is for the receiver; of sends only errors are solicited.
    boolean expected =
        switch (armed) {
          case NOT -> false;
          case SOLICITED -> error;
          case NEXT_COMP, NEXT_COMP_THEN_SOLICITED -> true;
        };
    expectEvent(expected, sends);
  }

  @Test
  void flushedReceivesAreSolicited() {
    to.postReceive(new ReceiveWorkRequest().wrId(1).addSge(a.region.address(), 64, a.region.lkey()));
    arm(receives, Armed.SOLICITED);
    to.modify(new QpAttributes().state(QpState.ERR));
    assertEquals(WcStatus.WR_FLUSH_ERR, next(receives).status());
    expectEvent(true, receives);
    assertNotNull(to.lastFailure());
  }

  @Test
  void aPlainWriteTellsTheReceiverNothing() {
    arm(receives, Armed.NEXT_COMP);
    from.postSend(request(WrOpcode.RDMA_WRITE, true, a.region.rkey()));
    assertEquals(WcStatus.SUCCESS, next(sends).status());
    expectEvent(false, receives);
  }
}
