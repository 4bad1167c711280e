package org.rdma4j.mlx5.device.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.rdma4j.mlx5.device.internal.TestDriver.input;

import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.mlx5.device.internal.TestUser.Qp;
import org.rdma4j.mlx5.device.internal.TestUser.Wr;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Clock;
import org.rdma4j.roce.link.Fabric;

/** Two cards on one network: datagrams, groups, the general services queue pair, the port's commands. */
class DatagramTest {
  private static final Gid HERE = Gid.parse("::ffff:192.0.2.1");
  private static final Gid THERE = Gid.parse("::ffff:192.0.2.2");
  private static final Gid GROUP = Gid.parse("::ffff:239.1.2.3");
  private static final int SEND = 0x0a;
  private static final int QP1 = 8;
  private static final int QKEY = 0x1234;
  private static final int GSI_QKEY = 0x8001_0000;

  private TestSide here;
  private TestSide there;

  @BeforeEach
  void plug() {
    Fabric fabric = new Fabric(1, Clock.SYSTEM);
    here = new TestSide(TestCards.card("here", fabric), HERE);
    there = new TestSide(TestCards.card("there", fabric), THERE);
  }

  @AfterEach
  void close() {
    here.close();
    there.close();
  }

  @Test
  void generalServicesMeetAtQueuePairOne() {
    Qp one = here.queuePair(QP1);
    Qp other = there.queuePair(QP1);
    other.receive(there.memory.address(), 1000, there.key);
    one.post(new Wr(SEND).datagram(1, GSI_QKEY, 1, THERE).data(here.memory.address(), 256, here.key));
    assertEquals(0, TestUser.opcode(here.queue.await()));
    MemorySegment received = there.queue.await();
    assertEquals(2, TestUser.opcode(received));
    assertEquals(1, Layouts.CQE.field("remote_qp").get(received, 0));
    assertEquals(other.number, Layouts.CQE.field("qpn").get(received, 0));
  }

  @Test
  void aGroupReachesItsMembers() {
    Qp one = here.queuePair(TestUser.UD);
    Qp other = there.queuePair(TestUser.UD);
    MemorySegment attach = input(Opcode.ATTACH_TO_MCG, 0, 0);
    Command.in(Opcode.ATTACH_TO_MCG, "qpn").set(attach, 0, other.number);
    GROUP.writeTo(attach, Command.in(Opcode.ATTACH_TO_MCG, "multicast_gid").offset());
    there.driver.succeed(attach, 0);
    other.receive(there.memory.address(), 200, there.key);
    one.post(new Wr(SEND).datagram(0xff_ffff, QKEY, 1, GROUP).data(here.memory.address(), 100, here.key));
    assertEquals(0, TestUser.opcode(here.queue.await()));
    assertEquals(140, TestUser.byteCount(there.queue.await()));
    MemorySegment detach = input(Opcode.DETACH_FROM_MCG, 0, 0);
    MemorySegment.copy(attach, 8, detach, 8, 24);
    there.driver.succeed(detach, 0);
    assertEquals(CommandStatus.BAD_RESOURCE, there.driver.status(detach));
    HERE.writeTo(attach, Command.in(Opcode.ATTACH_TO_MCG, "multicast_gid").offset());
    assertEquals(CommandStatus.BAD_PARAMETER, there.driver.status(attach), "no group");
  }

  @Test
  void version1IsRefused() {
    MemorySegment set = input(Opcode.SET_ROCE_ADDRESS, 0, 0);
    HERE.writeTo(set, Command.in(Opcode.SET_ROCE_ADDRESS, "roce_address").offset());
    assertEquals(CommandStatus.BAD_PARAMETER, here.driver.status(set));
    Command.in(Opcode.SET_ROCE_ADDRESS, "roce_address_index").set(set, 0, Limits.ROCE_ADDRESSES);
    assertEquals(CommandStatus.BAD_INDEX, here.driver.status(set));
  }

  @Test
  void theVportTellsWhoItIs() {
    MemorySegment context = here.driver.succeed(input(Opcode.QUERY_NIC_VPORT_CONTEXT, 0, 0), 0);
    assertEquals(0x0000_c0ff_fe00_0201L, Layouts.NIC_VPORT_CONTEXT.field("node_guid").getLong(context, 16));
    assertEquals(1, Layouts.NIC_VPORT_CONTEXT.field("roce_en").get(context, 16), "turned on");
    MemorySegment off = input(Opcode.MODIFY_NIC_VPORT_CONTEXT, 0, 0);
    off.set(TestUser.DWORD, 12, 1 << 1);
    here.driver.succeed(off, 0);
    Qp qp = here.user.new Qp(TestUser.UD, here.queue, here.queue, 0, 0, false);
    qp.init();
    assertEquals(CommandStatus.BAD_SYSTEM_STATE, here.driver.status(qp.command(Opcode.INIT2RTR_QP)));
    MemorySegment keys = input(Opcode.QUERY_HCA_VPORT_PKEY, 0, 0);
    assertEquals(0xffff, here.driver.succeed(keys, 4).get(TestUser.DWORD, 16));
    MemorySegment state = here.driver.succeed(input(Opcode.QUERY_VPORT_STATE, 0, 0), 0);
    assertEquals(1, TestUser.out(Opcode.QUERY_VPORT_STATE, "state", state));
  }

  @Test
  void registersOfThePortCanBeRead() {
    MemorySegment type = register(0x5004, Layouts.of("ptys").size());
    assertEquals(1 << 20, Layouts.of("ptys").field("eth_proto_oper").get(type, 16), "100 Gb/s");
    MemorySegment mtu = register(0x5003, Layouts.of("pmtu").size());
    assertEquals(9000, Layouts.of("pmtu").field("oper_mtu").get(mtu, 16));
    MemorySegment timeouts = register(0xc00e, Layouts.of("dtor").size());
    assertEquals(5, Layouts.of("dtor").field("reclaim_pages_to.to_value").get(timeouts, 16));
    MemorySegment unknown = input(Opcode.ACCESS_REG, 1, 64);
    Command.in(Opcode.ACCESS_REG, "register_id").set(unknown, 0, 0x9014);
    assertEquals(CommandStatus.BAD_PARAMETER, here.driver.status(unknown));
  }

  private MemorySegment register(int id, long bytes) {
    MemorySegment read = input(Opcode.ACCESS_REG, 1, bytes);
    Command.in(Opcode.ACCESS_REG, "register_id").set(read, 0, id);
    return here.driver.succeed(read, bytes);
  }

  @Test
  void countersCountTheErrorsOfTheirQueuePairs() {
    int set =
        TestUser.out(
            Opcode.ALLOC_Q_COUNTER,
            "counter_set_id",
            here.driver.succeed(input(Opcode.ALLOC_Q_COUNTER, 0, 0), 0));
    Qp qp = here.queuePair(TestUser.UD);
    MemorySegment bind = qp.command(Opcode.RTS2RTS_QP);
    Command.in(Opcode.RTS2RTS_QP, "opt_param_mask").set(bind, 0, 1 << 25);
    Layouts.QPC.field("counter_set_id").set(bind, Command.in(Opcode.RTS2RTS_QP, "qpc").offset(), set);
    here.driver.succeed(bind, 0);
    qp.post(new Wr(SEND).datagram(1, 0, 1, THERE).data(here.memory.address(), 100, 0xbad00));
    assertEquals(4, TestUser.syndrome(here.queue.await()));
    MemorySegment query = input(Opcode.QUERY_Q_COUNTER, 0, 0);
    Command.in(Opcode.QUERY_Q_COUNTER, "counter_set_id").set(query, 0, set);
    MemorySegment counters = here.driver.succeed(query, 0);
    assertEquals(1, TestUser.out(Opcode.QUERY_Q_COUNTER, "req_local_protection", counters));
    MemorySegment free = input(Opcode.DEALLOC_Q_COUNTER, 0, 0);
    Command.in(Opcode.DEALLOC_Q_COUNTER, "counter_set_id").set(free, 0, set);
    assertEquals(CommandStatus.RESOURCE_BUSY, here.driver.status(free));
    here.driver.succeed(qp.command(Opcode.DESTROY_QP), 0);
    here.driver.succeed(free, 0);
  }

  /** The engine's thread allocates nothing for an entry, a datagram or a completion. */
  @Test
  void nothingIsAllocatedPerEntry() {
    Qp one = here.queuePair(TestUser.UD);
    Qp other = there.queuePair(TestUser.UD);
    exchange(one, other, 2000);
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long engine =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().equals("mlx5-here"))
            .findAny()
            .orElseThrow()
            .threadId();
    long before = threads.getThreadAllocatedBytes(engine);
    exchange(one, other, 2000);
    long bytes = threads.getThreadAllocatedBytes(engine) - before;
    assertTrue(bytes < 2000, bytes + " bytes for 2000 sends");
  }

  private void exchange(Qp one, Qp other, int count) {
    Wr wr = new Wr(SEND).datagram(other.number, QKEY, 1, THERE).data(here.memory.address(), 100, here.key);
    for (int i = 0; i < count; i++) {
      other.receive(there.memory.address(), 200, there.key);
      one.post(wr);
      here.queue.await();
      there.queue.await();
    }
  }
}
