package org.rdma4j.mlx5.device.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.rdma4j.mlx5.device.internal.TestUser.Qp;
import org.rdma4j.mlx5.device.internal.TestUser.Wr;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.UdpLinkConfig;
import org.rdma4j.roce.link.UdpLinks;

/** Cards as their configuration makes them, on the loopback interface. */
class UdpTest {
  private static final int WRITE = 0x08;
  private static final int LENGTH = 30_000;

  /** An address that no other test on the machine uses at the same time. */
  private static String address(int number) {
    long pid = ProcessHandle.current().pid();
    return "127." + (140 + number) + "." + pid / 250 % 250 + "." + (pid % 250 + 1);
  }

  private static TestSide side(int number) {
    CardSettings settings = SettingsReader.read("udp" + number, Map.of("addr", address(number)));
    Card card = new Card(settings, UdpLinks.open(UdpLinkConfig.DEFAULT.withNetworkInterface(settings.netdev())));
    return new TestSide(card, settings.address());
  }

  @Test
  void cardsTalkThroughTheHost() {
    try (TestSide here = side(0);
        TestSide there = side(1)) {
      Qp one = here.user.new Qp(TestUser.RC, here.queue, here.queue, 0, 0, false);
      Qp other = there.user.new Qp(TestUser.RC, there.queue, there.queue, 0, 0, false);
      one.init();
      other.init();
      one.ready(other.number, 1, Gid.parse("::ffff:" + address(1)));
      other.ready(one.number, 1, Gid.parse("::ffff:" + address(0)));
      Random random = new Random(1);
      for (int i = 0; i < LENGTH; i++) {
        here.memory.segment().set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
      }
      one.post(new Wr(WRITE).remote(there.memory.address(), there.key).data(here.memory.address(), LENGTH, here.key));
      MemorySegment cqe = here.queue.await();
      assertEquals(0, TestUser.opcode(cqe), () -> "syndrome " + TestUser.syndrome(cqe));
      assertArrayEquals(
          here.memory.segment().asSlice(0, LENGTH).toArray(ValueLayout.JAVA_BYTE),
          there.memory.segment().asSlice(0, LENGTH).toArray(ValueLayout.JAVA_BYTE));
    }
  }

  /** The card's one address is the only one it takes of the host; others are entries that lead nowhere. */
  @Test
  void otherAddressesThanTheConfiguredOneLeadNowhere() {
    try (TestSide here = side(0)) {
      here.user.roceAddress(2, Gid.parse("::ffff:" + address(2)));
      Qp qp = here.user.new Qp(TestUser.RC, here.queue, here.queue, 0, 0, false);
      qp.init();
      MemorySegment rtr = qp.command(Opcode.INIT2RTR_QP);
      long at = Command.in(Opcode.INIT2RTR_QP, "qpc").offset();
      TestUser.set(Layouts.QPC, rtr, at, "mtu", 3);
      TestUser.set(Layouts.QPC, rtr, at, "primary_address_path.src_addr_index", 2);
      assertEquals(CommandStatus.BAD_PARAMETER, here.driver.status(rtr));
    }
  }
}
