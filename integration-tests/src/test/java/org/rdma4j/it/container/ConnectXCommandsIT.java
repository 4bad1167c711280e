package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.inject.Inject;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.ops4j.pax.exam.Configuration;
import org.ops4j.pax.exam.Option;
import org.ops4j.pax.exam.junit.PaxExam;
import org.ops4j.pax.exam.spi.reactors.ExamReactorStrategy;
import org.ops4j.pax.exam.spi.reactors.PerClass;
import org.osgi.framework.BundleContext;
import org.osgi.service.cm.ConfigurationAdmin;
import org.rdma4j.mlx5.core.BlueFlameRegister;
import org.rdma4j.mlx5.core.CommandException;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.CompletionHandler;
import org.rdma4j.mlx5.core.CompletionQueueCommands;
import org.rdma4j.mlx5.core.CoreCompletionQueue;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.DoorbellRecord;
import org.rdma4j.mlx5.core.MemoryKeyCommands;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.NicVportCommands;
import org.rdma4j.mlx5.core.ObjectCommands;
import org.rdma4j.mlx5.core.PortCommands;
import org.rdma4j.mlx5.core.QueueCounterCommands;
import org.rdma4j.mlx5.core.QueuePairCommands;
import org.rdma4j.mlx5.core.QueuePairCommands.Transition;
import org.rdma4j.mlx5.core.RoceAddressCommands;
import org.rdma4j.mlx5.core.SharedQueueCommands;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.PciBus;

/**
 * What a verbs driver will ask of mlx5-core, carried out by the modelled card: every group of commands, and a work
 * request through doorbell, completion and event.
 */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class ConnectXCommandsIT {
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int ANY_QP = 0xff_ffff;
  private static final int UD = 2;
  private static final int NO_RQ = 3;
  private static final int MIGRATED = 3;
  private static final int LOG_CQ = 6;
  private static final int CQE = 64;

  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ConfigurationAdmin configurations;
  @Inject PciBus bus;

  private final Semaphore completed = new Semaphore(0);
  private PluggedCard plugged;
  private Mlx5Device device;
  private int pd;
  private DmaBuffer cqBuffer;
  private DoorbellRecord cqRecord;
  private CoreCompletionQueue cq;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @Before
  public void plug() throws Exception {
    Bundles.named(context, "org.rdma4j.mlx5.ib").stop(); // The card is for the tests alone.
    plugged = new PluggedCard(context, configurations);
    device = plugged.device();
    pd = ObjectCommands.allocatePd(device);
    cqBuffer = device.allocate(CQE << LOG_CQ);
    for (int i = 0; i < 1 << LOG_CQ; i++) {
      cqBuffer.segment().set(ValueLayout.JAVA_BYTE, (long) i * CQE + 0x3f, (byte) 0xf1);
    }
    cqRecord = device.allocateDoorbellRecord();
    cq = create(0);
  }

  @After
  public void unplug() throws Exception {
    try {
      cq.destroy();
      cqRecord.close();
      cqBuffer.close();
      ObjectCommands.freePd(device, pd);
    } finally {
      plugged.unplug();
    }
  }

  @Test
  public void aWorkRequestGoesThroughDoorbellCompletionAndEvent() throws Exception {
    NicVportCommands.roce(device, true);
    try (DmaBuffer queue = device.allocate(4096);
        DoorbellRecord record = device.allocateDoorbellRecord();
        BlueFlameRegister doorbell = device.allocateBlueFlame(true)) {
      int qpn = readyToSend(queue, record, doorbell);
      assertEquals(3, QueuePairCommands.query(device, qpn).get("state"));
      for (int i = 0; i < 3; i++) {
        arm(i);
        postNop(queue, record, doorbell, qpn, i);
        assertTrue("no event", completed.tryAcquire(60, TimeUnit.SECONDS));
        long entry = (long) i * CQE;
        assertEquals(0, cqBuffer.segment().get(ValueLayout.JAVA_BYTE, entry + 0x3f));
        assertEquals(qpn, cqBuffer.segment().get(DWORD, entry + 0x38) & 0xff_ffff);
        assertEquals(i, cqBuffer.segment().get(DWORD, entry + 0x3c) >>> 16);
      }
      assertEquals(3, cq.armSequence());
      QueuePairCommands.toError(device, qpn);
      assertEquals(6, QueuePairCommands.query(device, qpn).get("state"));
      QueuePairCommands.toReset(device, qpn);
      QueuePairCommands.destroy(device, qpn);
      assertThrows(CommandException.class, () -> QueuePairCommands.query(device, qpn));
    }
  }

  /** An IPv4 address as a GID. */
  private static MemorySegment mapped(String address) throws Exception {
    MemorySegment gid = Arena.ofAuto().allocate(16);
    gid.set(ValueLayout.JAVA_SHORT, 10, (short) -1);
    MemorySegment.copy(MemorySegment.ofArray(InetAddress.getByName(address).getAddress()), 0, gid, 12, 4);
    return gid;
  }

  /** Enters the card's own address into its table. */
  private MemorySegment enterAddress(int index) throws Exception {
    MemorySegment gid = mapped(PluggedCard.ADDRESS);
    MemorySegment mac = Arena.ofAuto().allocate(6);
    mac.set(ValueLayout.JAVA_BYTE, 0, (byte) 2);
    RoceAddressCommands.set(device, index, RoceAddressCommands.ROCE_V2, false, gid, mac, -1);
    return gid;
  }

  private void arm(int consumer) {
    int command = cq.armSequence() << 28 & 0x3000_0000 | consumer;
    MemorySegment record = cqRecord.segment();
    record.set(DWORD, cqRecord.offset(), consumer);
    record.set(DWORD, cqRecord.offset() + 4, command);
    cq.uar().armCompletionQueue(command, cq.number());
  }

  private int readyToSend(DmaBuffer queue, DoorbellRecord record, BlueFlameRegister doorbell) {
    CommandRequest create = CommandRequest.of(Opcode.CREATE_QP, queue.pages() * 8L);
    create
        .structure("qpc")
        .set("st", UD)
        .set("pm_state", MIGRATED)
        .set("pd", pd)
        .set("log_sq_size", 6)
        .set("rq_type", NO_RQ)
        .set("uar_page", doorbell.page().index())
        .set("cqn_snd", cq.number())
        .set("cqn_rcv", cq.number())
        .set("user_index", ANY_QP)
        .setLong("dbr_addr", record.address());
    queue.listPages(create, 0, 0);
    int qpn = QueuePairCommands.create(device, create);
    QueuePairCommands.modify(
        device,
        Transition.RST2INIT,
        qpn,
        0,
        qpc ->
            qpc.set("st", UD)
                .set("pm_state", MIGRATED)
                .set("pd", pd)
                .set("q_key", 0x1111)
                .set("primary_address_path.vhca_port_num", 1));
    QueuePairCommands.modify(
        device,
        Transition.INIT2RTR,
        qpn,
        0,
        qpc -> qpc.set("st", UD).set("pm_state", MIGRATED).set("mtu", 5).set("log_msg_max", 12));
    QueuePairCommands.modify(
        device,
        Transition.RTR2RTS,
        qpn,
        0,
        qpc -> qpc.set("st", UD).set("pm_state", MIGRATED).set("next_send_psn", 5));
    return qpn;
  }

  private static void postNop(
      DmaBuffer queue, DoorbellRecord record, BlueFlameRegister doorbell, int qpn, int index) {
    MemorySegment entry = queue.segment();
    long at = index * 64L;
    entry.set(DWORD, at, index << 8);
    entry.set(DWORD, at + 4, qpn << 8 | 1);
    entry.set(DWORD, at + 8, 2 << 2); // Completion always.
    record.segment().set(DWORD, record.offset() + 4, index + 1);
    if (index % 2 == 0) {
      doorbell.ring(entry.get(QWORD, at));
    } else {
      doorbell.ring(entry, at, 64);
    }
  }

  @Test
  public void completionQueuesAreAskedAndResized() {
    Structure before = CompletionQueueCommands.query(device, cq.number());
    assertEquals(LOG_CQ, before.get("log_cq_size"));
    assertEquals(cqRecord.address(), before.getLong("dbr_addr"));
    try (DmaBuffer larger = device.allocate(CQE << LOG_CQ + 1)) {
      larger.segment().fill((byte) 0xf1);
      CompletionQueueCommands.resize(
          device, cq.number(), larger, context -> context.set("log_cq_size", LOG_CQ + 1));
      assertEquals(LOG_CQ + 1, CompletionQueueCommands.query(device, cq.number()).get("log_cq_size"));
      cq.destroy();
      assertThrows(CommandException.class, () -> CompletionQueueCommands.query(device, cq.number()));
      cq = create(device.completionVectors() - 1);
    }
  }

  private CoreCompletionQueue create(int vector) {
    CommandRequest create = CommandRequest.of(Opcode.CREATE_CQ, cqBuffer.pages() * 8L);
    create.structure("cq_context").set("log_cq_size", LOG_CQ).setLong("dbr_addr", cqRecord.address());
    cqBuffer.listPages(create, 0, 0);
    return device.createCompletionQueue(
        create,
        vector,
        new CompletionHandler() {
          @Override
          public void completed() {
            completed.release();
          }

          @Override
          public void failed(int syndrome) {
            throw new AssertionError("completion queue error " + syndrome);
          }
        });
  }

  @Test
  public void memoryKeys() {
    CommandRequest whole = CommandRequest.of(Opcode.CREATE_MKEY);
    whole
        .structure("memory_key_mkey_entry")
        .set("length64", 1)
        .set("lr", 1)
        .set("lw", 1)
        .set("pd", pd)
        .set("qpn", ANY_QP);
    int dma = MemoryKeyCommands.create(device, whole);
    assertEquals(1, MemoryKeyCommands.query(device, dma).get("length64"));
    try (Arena arena = Arena.ofShared();
        DmaBuffer memory = device.map(arena.allocate(3 * 4096, 4096), true)) {
      CommandRequest pages = CommandRequest.of(Opcode.CREATE_MKEY, 4 * 8);
      pages.set("translations_octword_actual_size", 2);
      pages
          .structure("memory_key_mkey_entry")
          .set("access_mode_1_0", 1)
          .set("lr", 1)
          .set("lw", 1)
          .set("rw", 1)
          .set("pd", pd)
          .set("qpn", ANY_QP)
          .set("translations_octword_size", 2)
          .set("log_page_size", 12)
          .setLong("start_addr", 0x1000_0000)
          .setLong("len", memory.segment().byteSize());
      memory.listPages(pages, 0, 3);
      int key = MemoryKeyCommands.create(device, pages);
      assertNotEquals(dma & 0xff, key & 0xff);
      Structure context = MemoryKeyCommands.query(device, key);
      assertEquals(0x1000_0000, context.getLong("start_addr"));
      assertEquals(key & 0xff, context.get("mkey_7_0"));
      MemoryKeyCommands.destroy(device, key);
      assertThrows(CommandException.class, () -> MemoryKeyCommands.query(device, key));
    }
    MemoryKeyCommands.destroy(device, dma);
  }

  @Test
  public void sharedReceiveQueues() {
    int xrcd = ObjectCommands.allocateXrcd(device);
    try (DmaBuffer buffer = device.allocate(4096);
        DoorbellRecord record = device.allocateDoorbellRecord()) {
      CommandRequest pool = CommandRequest.of(Opcode.CREATE_RMP, buffer.pages() * 8L);
      SharedQueueCommands.workQueue(pool.structure("ctx"))
          .set("pd", pd)
          .set("log_wq_stride", 5)
          .set("log_wq_sz", 6)
          .setLong("dbr_addr", record.address());
      buffer.listPages(pool, 0, 0);
      int rmp = SharedQueueCommands.create(device, pool);
      record.segment().set(DWORD, record.offset(), 8); // Eight receives are posted.
      SharedQueueCommands.arm(device, rmp, 3);
      assertEquals(3, SharedQueueCommands.workQueue(SharedQueueCommands.query(device, rmp)).get("lwm"));
      SharedQueueCommands.destroy(device, rmp);

      record.segment().set(DWORD, record.offset(), 0);
      CommandRequest xrc = CommandRequest.of(Opcode.CREATE_XRC_SRQ, buffer.pages() * 8L);
      xrc.structure("xrc_srq_context_entry")
          .set("log_xrc_srq_size", 6)
          .set("log_rq_stride", 1)
          .set("xrcd", xrcd)
          .set("cqn", cq.number())
          .set("pd", pd)
          .set("db_record_addr_h", (int) (record.address() >>> 32))
          .set("db_record_addr_l", (int) record.address() >>> 2);
      buffer.listPages(xrc, 0, 0);
      int srq = SharedQueueCommands.createXrc(device, xrc);
      record.segment().set(DWORD, record.offset(), 8);
      SharedQueueCommands.armXrc(device, srq, 2);
      assertEquals(2, SharedQueueCommands.queryXrc(device, srq).get("lwm"));
      SharedQueueCommands.destroyXrc(device, srq);
    }
    ObjectCommands.freeXrcd(device, xrcd);
  }

  @Test
  public void portsAddressesAndCounters() throws Exception {
    assertTrue(PortCommands.isUp(device, 1));
    assertNotEquals(0, PortCommands.linkModes(device, 1).get("eth_proto_oper"));
    assertTrue(PortCommands.mtu(device, 1).get("oper_mtu") >= 1500);
    assertFalse(PortCommands.nodeDescription(device).isEmpty());
    assertEquals(248, PortCommands.counters(device, 1, 0x20).byteSize());

    assertNotEquals(0, NicVportCommands.query(device).getLong("node_guid"));
    assertTrue(NicVportCommands.isUp(device));
    NicVportCommands.roce(device, true);
    assertEquals(1, NicVportCommands.query(device).get("roce_en"));

    MemorySegment gid = enterAddress(3);
    Structure entry =
        device.execute(CommandRequest.of(Opcode.QUERY_ROCE_ADDRESS).set("roce_address_index", 3))
            .structure("roce_address");
    assertEquals(RoceAddressCommands.ROCE_V2, entry.get("roce_version"));
    assertEquals(-1, gid.mismatch(entry.memory().asSlice(entry.base(), 16)));
    RoceAddressCommands.clear(device, 3, RoceAddressCommands.ROCE_V2);
    NicVportCommands.roce(device, false);

    int set = QueueCounterCommands.allocate(device);
    Map<String, Long> counters = QueueCounterCommands.query(device, set, false);
    assertEquals(Long.valueOf(0), counters.get("out_of_sequence"));
    assertTrue(counters.toString(), counters.containsKey("rx_write_requests"));
    QueueCounterCommands.free(device, set);
    int domain = ObjectCommands.allocateTransportDomain(device);
    ObjectCommands.freeTransportDomain(device, domain);
  }
}
