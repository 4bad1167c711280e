package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.AsyncEvent;
import org.rdma4j.ib.core.verbs.AsyncEventType;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.PortAttributes;
import org.rdma4j.ib.core.verbs.QpAttributes;
import org.rdma4j.ib.core.verbs.QpState;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;

/** P_Key tables of two devices, through the public interface. */
class PkeyTest {
  private TestLink first;
  private TestLink second;
  private End a;
  private End b;

  private static TestLink link(String name, String pkeys) {
    return TestLink.open(
        new RxeSettings(name, "lo", TestLink.anyLoopback()).withPkeys(PortPkeys.parse(pkeys)));
  }

  private void open(String pkeys, int index, String peersPkeys, int peersIndex) {
    first = link("rxe0", pkeys);
    second = link("rxe1", peersPkeys);
    a = new End(first, QpType.UD, 4096);
    b = new End(second, QpType.UD, 4096);
    bringUp(a, index);
    bringUp(b, peersIndex);
  }

  private static void bringUp(End end, int pkeyIndex) {
    end.qp.modify(new QpAttributes().state(QpState.INIT).pkeyIndex(pkeyIndex).port(1).qkey(End.QKEY));
    end.qp.modify(new QpAttributes().state(QpState.RTR));
    end.qp.modify(new QpAttributes().state(QpState.RTS).sqPsn(1));
  }

  @AfterEach
  void close() {
    if (a != null) {
      a.close();
      b.close();
    }
    if (first != null) {
      first.close();
      second.close();
    }
  }

  private void send() {
    a.qp.postSend(
        new SendWorkRequest()
            .opcode(WrOpcode.SEND)
            .flags(SendFlag.SIGNALED)
            .addSge(a.region.address(), 16, a.region.lkey())
            .ah(a.pd.createAh(new AhAttributes(1, second.gid, a.sgidIndex())))
            .remoteQpn(b.qp.number())
            .remoteQkey(End.QKEY));
    a.nextSuccess();
  }

  private void receive() {
    b.qp.postReceive(new ReceiveWorkRequest().addSge(b.region.address(), 1024, b.region.lkey()));
  }

  private static PortAttributes port(TestLink link) {
    return link.control.view("test").port(1);
  }

  private void awaitRefused(int count) {
    long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (port(second).badPkeyCounter() < count) {
      assertTrue(System.nanoTime() < deadline, "no packet refused");
      Thread.onSpinWait();
    }
  }

  @Test
  void thePkeyAtTheIndexIsSentAndReported() {
    open("0xffff,0x8001", 1, "0xffff,0,0x0001", 2);
    assertEquals(3, port(second).pkeyTableLength());
    assertEquals(1, b.context.device().pkey(1, 2));
    assertEquals(2, b.context.device().findPkey(1, 0x8001));
    receive();
    send();
    WorkCompletion received = b.nextSuccess();
    assertEquals(2, received.pkeyIndex());
    assertEquals(0, port(second).badPkeyCounter());
    a.qp.modify(new QpAttributes().state(QpState.RESET));
    VerbsException e = assertThrows(VerbsException.class, () -> bringUp(a, 2));
    assertEquals(Errno.EINVAL, e.errno());
  }

  @Test
  void limitedMembersDoNotTalkToEachOther() {
    open("0xffff,0x0001", 1, "0xffff,0x0001", 1);
    receive();
    send();
    awaitRefused(1);
    assertEquals(0, b.cq.poll(WorkCompletion.batch(1)));
  }

  @Test
  void aChangeTakesEffectAtOnceAndIsReported() {
    open("0xffff,0x8001", 1, "0xffff,0x8002", 1);
    receive();
    send();
    awaitRefused(1);
    second.device.changePkeys(PortPkeys.parse("0xffff,0x8001"));
    AsyncEvent event = b.context.getAsyncEvent(Duration.ofSeconds(20));
    while (event.type() != AsyncEventType.PKEY_CHANGE) {
      event = b.context.getAsyncEvent(Duration.ofSeconds(20));
    }
    assertEquals(1, event.port());
    assertEquals(0x8001, b.context.device().pkey(1, 1));
    send();
    assertEquals(1, b.nextSuccess().pkeyIndex());
  }

  @Test
  void thereAreAsManyAsPromised() {
    String most = String.join(",", Collections.nCopies(Limits.MAX_PKEYS, "0xffff"));
    assertEquals(
        Limits.MAX_PKEYS,
        SettingsReader.read(Map.of("name", "rxe0", "netdev", "lo", "pkeys", most)).pkeys().size());
    VerbsException e = assertThrows(VerbsException.class, () -> PortPkeys.parse(most + ",1"));
    assertTrue(e.getMessage().contains("max_pkeys is 64"), e.getMessage());
  }
}
