package org.rdma4j.ib.core.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the core checks of memory windows, and in which order they end. */
class MemoryWindowTest {
  private final TestDevice device = new TestDevice();
  private final Arena arena = Arena.ofShared();
  private final ProtectionDomain pd = device.pd();
  private final MemoryRegion region = pd.registerMemory(arena.allocate(4096), Access.LOCAL_WRITE, Access.MW_BIND);

  @AfterEach
  void close() {
    device.close();
    arena.close();
    assertEquals(0, device.provider.objects.get());
  }

  private static VerbsException fails(Errno errno, Runnable code) {
    VerbsException e = assertThrows(VerbsException.class, code::run);
    assertEquals(errno, e.errno(), e.getMessage());
    return e;
  }

  @Test
  void aWindowPinsItsDomainAndIsLimited() {
    MemoryWindow window = pd.allocateMw(MwType.TYPE_1);
    assertEquals("MW 0 of fake0", window.toString());
    assertTrue(fails(Errno.EBUSY, pd::destroy).getMessage().contains("MW 0"));
    pd.allocateMw(MwType.TYPE_1);
    assertTrue(fails(Errno.ENOMEM, () -> pd.allocateMw(MwType.TYPE_1)).getMessage().contains("max_mw is 2"));
    window.destroy();
    pd.allocateMw(MwType.TYPE_1);
  }

  @Test
  void typesTheDeviceDoesNotNameAreRefused() {
    fails(Errno.EOPNOTSUPP, () -> pd.allocateMw(MwType.TYPE_2));
  }

  @Test
  void aBindIsCheckedBeforeItIsPosted() {
    MemoryWindow window = pd.allocateMw(MwType.TYPE_1);
    QueuePair qp = device.qp(pd, QpType.RC);
    MwBindInfo info = new MwBindInfo(region, region.address(), 64, Access.REMOTE_READ);
    int before = window.rkey();
    assertEquals(Rkeys.increment(before), window.bind(qp, 1, SendFlag.SIGNALED, info));
    window.bind(qp, 2, 0, MwBindInfo.UNBIND);
    ProtectionDomain other = device.pd();
    QueuePair foreign = device.qp(other, QpType.RC);
    fails(Errno.EPERM, () -> window.bind(foreign, 3, 0, info));
    MemoryRegion elsewhere = other.registerMemory(arena.allocate(64));
    fails(Errno.EPERM, () -> window.bind(qp, 3, 0, new MwBindInfo(elsewhere, elsewhere.address(), 64)));
    MwBindInfo zeroBased = new MwBindInfo(region, region.address(), 64, Access.ZERO_BASED);
    fails(Errno.EINVAL, () -> window.bind(qp, 3, 0, zeroBased));
    window.destroy();
    fails(Errno.EINVAL, () -> window.bind(qp, 3, 0, info));
  }

  @Test
  void rightsThatNoWindowHasAreRefused() {
    fails(Errno.EINVAL, () -> new MwBindInfo(region, region.address(), 64, Access.LOCAL_WRITE));
    fails(Errno.EINVAL, () -> new MwBindInfo(region, region.address(), -1, Access.REMOTE_READ));
    fails(Errno.EINVAL, () -> new MwBindInfo(null, 0, 64, Set.of()));
  }

  @Test
  void windowsEndBeforeRegions() {
    pd.allocateMw(MwType.TYPE_1);
    device.provider.log.clear();
    device.context.close();
    assertEquals(List.of("destroy MW", "destroy MR", "destroy PD"), device.provider.log);
  }

  @Test
  void keysCountInTheirLowerByte() {
    assertEquals(0x12345601, Rkeys.increment(0x12345600));
    assertEquals(0xffffff00, Rkeys.increment(0xffffffff));
    assertEquals(0x123456ab, Rkeys.withTag(0x12345600, 0x7ab));
  }
}
