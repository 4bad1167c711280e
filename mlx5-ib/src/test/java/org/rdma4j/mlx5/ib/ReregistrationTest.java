package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MrUpdate;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.PathMtu;

/** Regions of {@code b} that change their memory, rights and domain while {@code a} uses them. */
class ReregistrationTest {
  private static final int BYTES = 8192;
  private static final Access[] WRITE = {Access.LOCAL_WRITE, Access.REMOTE_WRITE};

  private final TestHost left = new TestHost();
  private final TestHost right = new TestHost();
  private final End a = new End(left, QpType.RC, BYTES);
  private final End b = new End(right, QpType.RC, BYTES);
  private final MemorySegment first = b.memory.asSlice(0, 4096);
  private final MemorySegment second = b.memory.asSlice(4096, 4096);
  private final MemoryRegion region = b.pd.registerMemory(first, WRITE);

  @BeforeEach
  void connect() {
    a.connect(b, PathMtu.MTU_1024);
    b.connect(a, PathMtu.MTU_1024);
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    left.close();
    right.close();
  }

  private WorkCompletion remote(WrOpcode opcode, int rkey, long address, int length) {
    a.qp.postSend(
        new SendWorkRequest()
            .opcode(opcode)
            .flags(SendFlag.SIGNALED)
            .rkey(rkey)
            .remoteAddress(address)
            .addSge(a.region.address(), length, a.region.lkey()));
    return a.next();
  }

  private void writes(long offset, int seed) {
    a.fill(0, 4096, seed);
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_WRITE, region.rkey(), region.address(), 4096).status());
    b.verify(offset, 4096, seed);
  }

  /** The access is refused, and both ends are connected anew. */
  private void refuses(WrOpcode opcode, int rkey, long address) {
    assertEquals(WcStatus.REM_ACCESS_ERR, remote(opcode, rkey, address, 1).status());
    End.reset(a, b, PathMtu.MTU_1024);
  }

  @Test
  void theMemoryChangesAndTheOldKeyGoes() {
    writes(0, 1);
    int key = region.rkey();
    region.reregister(new MrUpdate().translation(second));
    assertNotEquals(key, region.rkey());
    assertEquals(key >>> 8, region.rkey() >>> 8);
    assertEquals(second.address(), region.address());
    writes(4096, 2);
    b.verify(0, 4096, 1);
    refuses(WrOpcode.RDMA_WRITE, key, region.address());
    refuses(WrOpcode.RDMA_WRITE, region.rkey(), first.address());
    region.reregister(new MrUpdate().translation(first, 0x10_0000));
    writes(0, 3);
  }

  @Test
  void rightsChangeUnderTheSameKey() {
    int key = region.rkey();
    refuses(WrOpcode.RDMA_READ, key, region.address());
    region.reregister(new MrUpdate().access(Access.REMOTE_READ));
    assertEquals(key, region.rkey());
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_READ, key, region.address(), 4096).status());
    refuses(WrOpcode.RDMA_WRITE, key, region.address());
    region.reregister(new MrUpdate().access());
    assertEquals(0, region.rkey());
    refuses(WrOpcode.RDMA_READ, key, region.address());
    region.reregister(new MrUpdate().access(WRITE));
    assertEquals(key, region.rkey());
    writes(0, 4);
  }

  @Test
  void anotherDomainShutsTheQueuePairsOfTheOldOut() {
    ProtectionDomain other = b.context.allocatePd();
    region.reregister(new MrUpdate().protectionDomain(other));
    refuses(WrOpcode.RDMA_WRITE, region.rkey(), region.address());
    region.reregister(new MrUpdate().protectionDomain(b.pd));
    writes(0, 5);
    other.destroy();
  }

  @Test
  void aRegionWithWindowsStaysAsItIs() {
    region.reregister(new MrUpdate().access(Access.LOCAL_WRITE, Access.MW_BIND));
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_1);
    MwBindInfo info = new MwBindInfo(region, region.address(), 64, Access.REMOTE_WRITE);
    window.bind(b.qp, 1, SendFlag.SIGNALED, info);
    b.nextSuccess();
    int key = region.lkey();
    VerbsException busy =
        assertThrows(VerbsException.class, () -> region.reregister(new MrUpdate().translation(second)));
    assertEquals(Errno.EBUSY, busy.errno());
    assertTrue(busy.getMessage().contains(window.label()), busy.getMessage());
    assertEquals(key, region.lkey());
    assertEquals(WcStatus.SUCCESS, remote(WrOpcode.RDMA_WRITE, window.rkey(), region.address(), 64).status());
    window.destroy();
    region.reregister(new MrUpdate().translation(second).access(WRITE));
    writes(4096, 6);
  }

  @Test
  void everyWriteLandsInOneMemoryOrTheOther() {
    for (int i = 1; i <= 50; i++) {
      a.memory.fill((byte) i);
      a.qp.postSend(
          new SendWorkRequest()
              .opcode(WrOpcode.RDMA_WRITE)
              .flags(SendFlag.SIGNALED)
              .rkey(region.rkey())
              .remoteAddress(region.address())
              .addSge(a.region.address(), 4096, a.region.lkey()));
      region.reregister(new MrUpdate().translation(i % 2 == 0 ? first : second));
      if (a.next().status() != WcStatus.SUCCESS) {
        End.reset(a, b, PathMtu.MTU_1024);
      }
      MemorySegment now = region.segment();
      assertNotEquals((byte) i, now.get(ValueLayout.JAVA_BYTE, 0), "the key of the old memory reached the new");
    }
  }
}
