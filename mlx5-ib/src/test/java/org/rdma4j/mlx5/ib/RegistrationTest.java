package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.mlx5.core.Mlx5Errno;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.roce.address.PathMtu;

/** Regions by the driver's own queue pair, and by commands where that cannot be. */
class RegistrationTest {
  private static final int PAGE = 4096;
  private static final int BYTES = 16 * PAGE;
  private static final Set<Access> WRITE = Set.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE);

  private final TestHost left = new TestHost();
  private final TestHost right = new TestHost();
  private final End a = new End(left, QpType.RC, BYTES);
  private final End b = new End(right, QpType.RC, BYTES);

  @BeforeEach
  void connect() {
    a.connect(b, PathMtu.MTU_4096);
    b.connect(a, PathMtu.MTU_4096);
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    left.close();
    right.close();
  }

  private long commands(Opcode opcode) {
    return right.core.commandStatistics().stream()
        .filter(each -> each.opcode() == opcode)
        .mapToLong(each -> each.count())
        .sum();
  }

  private WcStatus write(int rkey, long address, int length) {
    a.qp.postSend(
        new SendWorkRequest()
            .opcode(WrOpcode.RDMA_WRITE)
            .flags(SendFlag.SIGNALED)
            .rkey(rkey)
            .remoteAddress(address)
            .addSge(a.region.address(), length, a.region.lkey()));
    return a.next().status();
  }

  @Test
  void aKeyComesBackUnderAnotherNameAndWithoutCommands() {
    MemoryRegion first = b.pd.registerMemory(b.memory.asSlice(0, PAGE), b.memory.address(), WRITE);
    int old = first.rkey();
    assertEquals(WcStatus.SUCCESS, write(old, first.address(), PAGE));
    long made = commands(Opcode.CREATE_MKEY);
    long ended = commands(Opcode.DESTROY_MKEY);
    first.destroy();
    assertEquals(1, right.device.keys().free());
    assertEquals(WcStatus.REM_ACCESS_ERR, write(old, b.memory.address(), 1));
    End.reset(a, b, PathMtu.MTU_4096);
    MemoryRegion second = b.pd.registerMemory(b.memory.asSlice(PAGE, PAGE), b.memory.address(), WRITE);
    assertEquals(old >>> 8, second.rkey() >>> 8);
    assertNotEquals(old, second.rkey());
    a.fill(0, PAGE, 3);
    assertEquals(WcStatus.SUCCESS, write(second.rkey(), second.address(), PAGE));
    b.verify(PAGE, PAGE, 3);
    assertEquals(WcStatus.REM_ACCESS_ERR, write(old, second.address(), 1));
    assertEquals(made, commands(Opcode.CREATE_MKEY));
    assertEquals(ended, commands(Opcode.DESTROY_MKEY));
  }

  /** Memory and address are alike in the smallest page only, so there are more pages than an entry has room for. */
  @Test
  void manyPagesAreListedInMemory() {
    long address = (b.memory.address() ^ PAGE) + (1L << 40);
    MemoryRegion region = b.pd.registerMemory(b.memory, address, WRITE);
    a.fill(0, BYTES, 4);
    assertEquals(WcStatus.SUCCESS, write(region.rkey(), address, BYTES));
    b.verify(0, BYTES, 4);
    assertEquals(WcStatus.REM_ACCESS_ERR, write(region.rkey(), address + BYTES - 1, 2));
  }

  @Test
  void regionsForWindowsAreMadeAndEndedByCommands() {
    long made = commands(Opcode.CREATE_MKEY);
    long ended = commands(Opcode.DESTROY_MKEY);
    b.pd.registerMemory(b.memory, Access.LOCAL_WRITE, Access.MW_BIND).destroy();
    assertEquals(made + 1, commands(Opcode.CREATE_MKEY));
    assertEquals(ended + 1, commands(Opcode.DESTROY_MKEY));
    assertEquals(0, right.device.keys().free());
  }

  @Test
  void aRefusedChangeLeavesTheQueuePairUsable() {
    UmrQueue queue = UmrQueue.open(right.device);
    MemoryRegion region = b.pd.registerMemory(b.memory, b.memory.address(), WRITE);
    RegionShape shape = RegionShape.of(0x1000, 0x1000, PAGE, WRITE, queue.pd());
    for (int i = 0; i < 200; i++) {
      Mlx5Exception refused =
          assertThrows(Mlx5Exception.class, () -> queue.enable(region.rkey() + 1, shape, true), "it is not free");
      assertEquals(Mlx5Errno.EFAULT, refused.errno());
      assertEquals(WcStatus.SUCCESS, write(region.rkey(), region.address(), PAGE));
    }
    queue.close();
  }

  @Test
  void manyThreadsRegister() throws InterruptedException, ExecutionException {
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Callable<Integer>> tasks = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        MemorySegment mine = b.memory.asSlice((long) i * PAGE, PAGE);
        tasks.add(
            () -> {
              int key = 0;
              for (int round = 0; round < 50; round++) {
                MemoryRegion region = b.pd.registerMemory(mine, mine.address(), WRITE);
                assertNotEquals(key, region.rkey());
                key = region.rkey();
                region.destroy();
              }
              return key;
            });
      }
      for (Future<Integer> each : threads.invokeAll(tasks)) {
        each.get();
      }
    }
    assertEquals(WcStatus.SUCCESS, write(b.region.rkey(), b.region.address(), BYTES));
  }

  @Test
  void aPulledCardKeepsNobodyWaiting() {
    MemoryRegion region = b.pd.registerMemory(b.memory, b.memory.address(), WRITE);
    right.pull();
    region.destroy();
    right.remove();
    assertEquals(0, right.device.keys().free());
  }
}
