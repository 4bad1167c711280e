package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcFlag;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.engine.IdleStrategy;
import org.rdma4j.roce.link.IcrcCheck;

/** Every operation through the public interface, over real sockets, with every byte verified. */
class OperationsTest {
  private static final int BYTES = 1 << 20;
  private static final int[] SIZES = {0, 1, 63, 1000, 4096, 65_535, BYTES};
  private static final int GRH = 40;

  /** Ways between the two devices. */
  enum Way {
    IPV4,
    IPV6,
    SAME_DEVICE
  }

  private TestLink first;
  private TestLink second;
  private End a;
  private End b;

  private void open(Way way, QpType type, PathMtu mtu) throws IOException {
    switch (way) {
      case IPV4 -> {
        first = TestLink.open("rxe0");
        second = TestLink.open("rxe1");
      }
      case SAME_DEVICE -> {
        first = TestLink.open("rxe0");
        second = first;
      }
      default -> {
        // There is one IPv6 loopback address, so one device has both ends, on a port nobody else uses.
        assumeTrue(hasIpv6Loopback(), "no address ::1 on this host");
        first =
            TestLink.open(
                new RxeSettings("rxe0", "lo", TestLink.gid("::1"), IcrcCheck.STRICT, freePort(), IdleStrategy.BLOCK));
        second = first;
      }
    }
    a = new End(first, type, BYTES);
    b = new End(second, type, BYTES);
    a.connect(b, mtu);
    b.connect(a, mtu);
  }

  private static boolean hasIpv6Loopback() {
    try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(InetAddress.ofLiteral("::1"), 0))) {
      return socket.isBound();
    } catch (SocketException e) {
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(InetAddress.ofLiteral("::1"), 0))) {
      return socket.getLocalPort();
    }
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

  private static SendWorkRequest send(End end, long id, WrOpcode opcode, int length) {
    return new SendWorkRequest()
        .wrId(id)
        .opcode(opcode)
        .flags(SendFlag.SIGNALED)
        .addSge(end.region.address(), length, end.region.lkey());
  }

  private void postReceive(End end, long id, int length) {
    end.qp.postReceive(new ReceiveWorkRequest().wrId(id).addSge(end.region.address(), length, end.region.lkey()));
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void sends(Way way) throws IOException {
    open(way, QpType.RC, PathMtu.MTU_1024);
    for (int size : SIZES) {
      a.fill(0, size, size);
      postReceive(b, size, BYTES);
      a.qp.postSend(send(a, size + 1, WrOpcode.SEND, size));
      WorkCompletion received = b.nextSuccess();
      assertEquals(size, received.wrId());
      assertEquals(size, received.byteLength());
      assertEquals(WcOpcode.RECV, received.opcode());
      assertEquals(b.qp.number(), received.qpNumber());
      b.verify(0, size, size);
      WorkCompletion sent = a.nextSuccess();
      assertEquals(size + 1, sent.wrId());
      assertEquals(WcOpcode.SEND, sent.opcode());
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void writesReadsAndAtomics(Way way) throws IOException {
    open(way, QpType.RC, PathMtu.MTU_4096);
    for (int size : SIZES) {
      a.fill(0, size, size + 5);
      a.qp.postSend(
          send(a, 1, WrOpcode.RDMA_WRITE, size).remoteAddress(b.region.address()).rkey(b.region.rkey()));
      assertEquals(WcOpcode.RDMA_WRITE, a.nextSuccess().opcode());
      b.verify(0, size, size + 5);
      b.fill(0, size, size + 6);
      a.qp.postSend(send(a, 2, WrOpcode.RDMA_READ, size).remoteAddress(b.region.address()).rkey(b.region.rkey()));
      assertEquals(WcOpcode.RDMA_READ, a.nextSuccess().opcode());
      a.verify(0, size, size + 6);
    }
    atomics();
  }

  private void atomics() {
    b.memory.set(ValueLayout.JAVA_LONG, 8, 100);
    SendWorkRequest add =
        send(a, 3, WrOpcode.ATOMIC_FETCH_AND_ADD, 8)
            .remoteAddress(b.region.address() + 8)
            .rkey(b.region.rkey())
            .compareAdd(5);
    a.qp.postSend(add);
    assertEquals(WcOpcode.FETCH_ADD, a.nextSuccess().opcode());
    assertEquals(100, a.memory.get(ValueLayout.JAVA_LONG, 0));
    assertEquals(105, b.memory.get(ValueLayout.JAVA_LONG, 8));
    SendWorkRequest swap =
        send(a, 4, WrOpcode.ATOMIC_CMP_AND_SWP, 8)
            .remoteAddress(b.region.address() + 8)
            .rkey(b.region.rkey())
            .compareAdd(105)
            .swap(-1);
    a.qp.postSend(swap);
    assertEquals(WcOpcode.COMP_SWAP, a.nextSuccess().opcode());
    assertEquals(105, a.memory.get(ValueLayout.JAVA_LONG, 0));
    assertEquals(-1, b.memory.get(ValueLayout.JAVA_LONG, 8));
    a.qp.postSend(swap);
    a.nextSuccess();
    assertEquals(-1, a.memory.get(ValueLayout.JAVA_LONG, 0), "what was there, and it was not swapped");
  }

  @ParameterizedTest
  @EnumSource(value = QpType.class, names = {"RC", "UC"})
  void immediatesReachTheReceiver(QpType type) throws IOException {
    open(Way.IPV4, type, PathMtu.MTU_1024);
    a.fill(0, 5000, 3);
    postReceive(b, 10, BYTES);
    a.qp.postSend(send(a, 1, WrOpcode.SEND_WITH_IMM, 5000).immediate(0x0102_0304));
    WorkCompletion received = b.nextSuccess();
    assertEquals(WcFlag.WITH_IMM, received.flags() & WcFlag.WITH_IMM);
    assertEquals(0x0102_0304, received.immediate());
    b.verify(0, 5000, 3);
    a.nextSuccess();
    a.fill(0, 7000, 4);
    postReceive(b, 11, 0);
    a.qp.postSend(
        send(a, 2, WrOpcode.RDMA_WRITE_WITH_IMM, 7000)
            .remoteAddress(b.region.address())
            .rkey(b.region.rkey())
            .immediate(-2));
    received = b.nextSuccess();
    assertEquals(WcOpcode.RECV_RDMA_WITH_IMM, received.opcode());
    assertEquals(7000, received.byteLength());
    assertEquals(-2, received.immediate());
    b.verify(0, 7000, 4);
    a.nextSuccess();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 64})
  void inlineDataIsTakenWhenPosted(int length) throws IOException {
    open(Way.IPV4, QpType.RC, PathMtu.MTU_1024);
    byte[] data = new byte[length];
    Arrays.fill(data, (byte) 9);
    postReceive(b, 1, 100);
    postReceive(b, 2, 100);
    a.qp.postSend(
        new SendWorkRequest().wrId(1).flags(SendFlag.SIGNALED).inlineData(MemorySegment.ofArray(data)));
    Arrays.fill(data, (byte) 0);
    assertEquals(length, b.nextSuccess().byteLength());
    assertAll(length, (byte) 9);
    a.nextSuccess();
    // The same from a registered region, by address.
    a.memory.fill((byte) 8);
    a.qp.postSend(send(a, 2, WrOpcode.SEND, length).flags(SendFlag.INLINE | SendFlag.SIGNALED));
    a.memory.fill((byte) 0);
    assertEquals(length, b.nextSuccess().byteLength());
    assertAll(length, (byte) 8);
    a.nextSuccess();
  }

  private void assertAll(int length, byte value) {
    for (int i = 0; i < length; i++) {
      assertEquals(value, b.memory.get(ValueLayout.JAVA_BYTE, i), "byte " + i);
    }
  }

  @ParameterizedTest
  @EnumSource(value = QpType.class, names = {"RC", "UC"})
  void scattersAndGathers(QpType type) throws IOException {
    open(Way.IPV4, type, PathMtu.MTU_256);
    a.fill(0, 3000, 7);
    b.qp.postReceive(
        new ReceiveWorkRequest()
            .wrId(1)
            .addSge(b.region.address() + 2500, 500, b.region.lkey())
            .addSge(b.region.address(), 2500, b.region.lkey()));
    a.qp.postSend(
        new SendWorkRequest()
            .wrId(2)
            .flags(SendFlag.SIGNALED)
            .addSge(a.region.address(), 1, a.region.lkey())
            .addSge(a.region.address() + 1, 1234, a.region.lkey())
            .addSge(a.region.address() + 1235, 1765, a.region.lkey()));
    assertEquals(3000, b.nextSuccess().byteLength());
    a.nextSuccess();
    for (int i = 0; i < 3000; i++) {
      byte expected = a.memory.get(ValueLayout.JAVA_BYTE, i);
      byte found = b.memory.get(ValueLayout.JAVA_BYTE, i < 500 ? 2500 + i : i - 500);
      assertEquals(expected, found, "byte " + i);
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void datagramsComeWithTheirRouteHeader(Way way) throws IOException {
    open(way, QpType.UD, PathMtu.MTU_4096);
    AhAttributes to = new AhAttributes(1, b.link.gid, a.sgidIndex()).withTrafficClass(0x20);
    try (AddressHandle handle = a.pd.createAh(to)) {
      for (int size : new int[] {0, 1, 63, 1000, 4096}) {
        a.fill(0, size, size);
        postReceive(b, 5, GRH + size);
        a.qp.postSend(
            send(a, 6, WrOpcode.SEND_WITH_IMM, size)
                .immediate(77)
                .ah(handle)
                .remoteQpn(b.qp.number())
                .remoteQkey(End.QKEY));
        WorkCompletion received = b.nextSuccess();
        assertEquals(GRH + size, received.byteLength());
        assertEquals(a.qp.number(), received.sourceQp());
        assertEquals(WcFlag.GRH | WcFlag.WITH_IMM, received.flags());
        assertEquals(77, received.immediate());
        b.verify(GRH, size, size);
        a.nextSuccess();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(value = QpType.class, names = {"RC", "UD"})
  void builderAndCursorDoTheSame(QpType type) throws IOException {
    open(Way.IPV4, type, PathMtu.MTU_1024);
    int header = type == QpType.UD ? GRH : 0;
    AddressHandle handle = a.pd.createAh(new AhAttributes(1, b.link.gid, a.sgidIndex()));
    a.fill(0, 300, 1);
    for (int i = 0; i < 3; i++) {
      b.qp.postReceive(
          new ReceiveWorkRequest().wrId(i).addSge(b.region.address() + 1000L * i, 1000, b.region.lkey()));
    }
    WorkRequestBuilder builder = a.qp.workRequests();
    builder.start();
    builder.flags(SendFlag.SIGNALED);
    for (int i = 0; i < 3; i++) {
      builder.wrId(100 + i);
      if (i == 1) {
        builder.sendImm(9);
        builder.setSgeList(
            2,
            new int[] {a.region.lkey(), a.region.lkey()},
            new long[] {a.region.address(), a.region.address() + 100},
            new int[] {100, 200});
      } else {
        builder.send();
        if (i == 0) {
          builder.setSge(a.region.lkey(), a.region.address(), 300);
        } else {
          builder.setInlineData(a.memory.asSlice(0, 50));
        }
      }
      if (type == QpType.UD) {
        builder.setUdAddr(handle, b.qp.number(), End.QKEY);
      }
    }
    builder.complete();
    assertEquals(300 + header, b.nextSuccess().byteLength());
    assertEquals(9, b.nextSuccess().immediate());
    assertEquals(50 + header, b.nextSuccess().byteLength());
    b.verify(header, 300, 1);
    b.verify(1000 + header, 300, 1);
    b.verify(2000 + header, 50, 1);
    CompletionCursor cursor = a.cq.cursor();
    int seen = 0;
    while (seen < 3) {
      if (cursor.start()) {
        do {
          assertEquals(100 + seen, cursor.wrId());
          assertEquals(a.qp.number(), cursor.qpNumber());
          seen++;
        } while (cursor.next());
        cursor.end();
      }
    }
    assertFalse(cursor.start());
    handle.destroy();
  }
}
