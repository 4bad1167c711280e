package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.mlx5.core.MemoryKeyCommands;
import org.rdma4j.mlx5.core.ObjectCommands;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.roce.address.PathMtu;

/** The driver's own queue pair comes and goes in the kernel's order, and without it everything works by commands. */
@Timeout(120)
class UmrQueueTest {
  /** Stage POST_IB_REG_UMR of the kernel's profile. */
  private static final List<Opcode> UP =
      List.of(
          Opcode.ALLOC_PD,
          Opcode.CREATE_MKEY,
          Opcode.CREATE_CQ,
          Opcode.CREATE_QP,
          Opcode.RST2INIT_QP,
          Opcode.INIT2RTR_QP,
          Opcode.RTR2RTS_QP);

  private static final List<Opcode> DOWN =
      List.of(Opcode.TO_RST_QP, Opcode.DESTROY_QP, Opcode.DESTROY_CQ, Opcode.DESTROY_MKEY, Opcode.DEALLOC_PD);

  private static List<Opcode> commands(TestHost host, Runnable action) {
    List<Opcode> seen = new ArrayList<>();
    host.core.trace(command -> seen.add(command.opcode()));
    try {
      action.run();
    } finally {
      host.core.trace(null);
    }
    return seen;
  }

  @Test
  void commandsComeInTheKernelsOrder() {
    try (TestHost host = new TestHost()) {
      ConnectxDevice second = new ConnectxDevice(host.core, which -> {});
      assertEquals(UP, commands(host, second::registered));
      assertEquals(List.of(), commands(host, second::registered), "there is one");
      assertEquals(DOWN, commands(host, second::release).subList(0, DOWN.size()));
    }
  }

  @Test
  void keysThatWaitGoFirst() {
    TestHost host = new TestHost();
    try (End a = new End(host, QpType.RC, 4096)) {
      a.pd.registerMemory(a.memory, Access.LOCAL_WRITE).destroy();
      assertEquals(1, host.device.keys().free());
    }
    assertEquals(2, host.device.keys().free());
    List<Opcode> seen = commands(host, host::remove);
    List<Opcode> last = new ArrayList<>(List.of(Opcode.DESTROY_MKEY, Opcode.DESTROY_MKEY));
    last.addAll(DOWN);
    int from = seen.indexOf(Opcode.DESTROY_MKEY);
    assertEquals(last, seen.subList(from, from + last.size()), seen.toString());
    host.close();
  }

  @Test
  void whereverItFailsNothingIsLeftAndCommandsDoIt() {
    try (TestHost host = new TestHost()) {
      for (Opcode failing : UP) {
        host.model().faults().failCommands(failing.number(), CommandStatus.LIMITS_EXCEEDED.number(), 1);
        List<Opcode> seen =
            commands(host, () -> assertThrows(VerbsException.class, () -> UmrQueue.open(host.device), failing::text));
        assertEquals(made(seen, failing), ended(seen), failing + ": " + seen);
        ConnectxDevice without = new ConnectxDevice(host.core, which -> {});
        int pd = ObjectCommands.allocatePd(host.core);
        host.model().faults().failCommands(failing.number(), CommandStatus.LIMITS_EXCEEDED.number(), 1);
        without.registered();
        RegionShape shape = RegionShape.of(0x10000, 0x10000, 4096, Set.of(), pd);
        RegionKeys.Held held = without.keys().create(shape);
        assertEquals(-1, held.order(), "by a command");
        assertEquals(null, without.keys().change(held, shape, true));
        MemoryKeyCommands.destroy(host.core, held.value());
        ObjectCommands.freePd(host.core, pd);
        without.release();
      }
    }
  }

  /** All but the one that failed. */
  private static long made(List<Opcode> seen, Opcode failed) {
    long all = seen.stream().map(Opcode::text).filter(text -> text.matches("(ALLOC|CREATE).*")).count();
    return failed.text().matches("(ALLOC|CREATE).*") ? all - 1 : all;
  }

  private static long ended(List<Opcode> seen) {
    return seen.stream().filter(each -> each.text().startsWith("DE")).count();
  }

  @Test
  void theCardGoesInOrderWithKeysInUse() {
    remove(TestHost::close);
  }

  @Test
  void theCardIsPulledOutWithKeysInUse() {
    remove(TestHost::pull);
  }

  private static void remove(Consumer<TestHost> how) {
    try (TestHost left = new TestHost();
        TestHost right = new TestHost();
        End b = new End(right, QpType.RC, 4096)) {
      End a = new End(left, QpType.RC, 8 * 4096);
      a.connect(b, PathMtu.MTU_1024);
      b.connect(a, PathMtu.MTU_1024);
      MemoryRegion fast = a.pd.allocateMr(8);
      fast.map(List.of(a.memory));
      MemoryRegion allowing = a.pd.registerMemory(a.memory, Access.LOCAL_WRITE, Access.MW_BIND);
      MemoryWindow window = a.pd.allocateMw(MwType.TYPE_2);
      MwBindInfo info = new MwBindInfo(allowing, allowing.address(), 64, Access.REMOTE_READ);
      int posted = 0;
      for (; posted < 15; posted += 3) {
        int key = Rkeys.withTag(fast.rkey(), posted);
        int bound = Rkeys.withTag(window.rkey(), posted);
        a.qp.postSend(new SendWorkRequest().wrId(posted).regMr(fast, key, Set.of(Access.LOCAL_WRITE)));
        a.qp.postSend(new SendWorkRequest().wrId(posted + 1L).opcode(WrOpcode.LOCAL_INV).invalidateRkey(key));
        SendWorkRequest bind = new SendWorkRequest().wrId(posted + 2L).bindMw(window, bound, info);
        a.qp.postSend(posted == 0 ? bind : bind.opcode(WrOpcode.LOCAL_INV).invalidateRkey(window.rkey() ^ 0x1000));
      }
      how.accept(left);
      WorkCompletion[] batch = WorkCompletion.batch(64);
      int count = a.cq.poll(batch);
      assertTrue(count > 0, "the wrong invalidation, or what was flushed");
      for (int i = 0; i < count; i++) {
        assertFalse(batch[i].status() == WcStatus.SUCCESS, "nothing was asked to be signaled");
      }
      assertEquals(Errno.EIO, assertThrows(VerbsException.class, () -> fast.map(List.of(a.memory))).errno());
      window.destroy();
      allowing.destroy();
      fast.destroy();
      a.close();
    }
  }
}
