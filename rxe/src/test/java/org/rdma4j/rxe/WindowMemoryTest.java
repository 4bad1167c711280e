package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.rxe.ring.LocalOperands;

/** Binds as a ring may hold them that nobody of good will has written. */
class WindowMemoryTest {
  private static final int DOMAIN = 3;
  private static final int QP = 17;
  private static final int REGION_KEY = 0x155;
  private static final int KEY = 0x8000_0110;
  private static final long IOVA = 0x10_0000;

  private final SegmentMemory region =
      new SegmentMemory(
          Arena.ofAuto().allocate(4096), IOVA, REGION_KEY, DOMAIN, Set.of(Access.LOCAL_WRITE, Access.MW_BIND));
  private final WindowList ofQp = new WindowList(WindowList.OF_QUEUE_PAIR);
  private final WindowMemory window = new WindowMemory(KEY, DOMAIN, MwType.TYPE_2);
  private final LocalOperands bind = new LocalOperands();

  WindowMemoryTest() {
    bind.windowKey = KEY;
    bind.newKey = 0x11;
    bind.regionKey = REGION_KEY;
    bind.address = IOVA;
    bind.length = 4096;
    bind.access = Access.REMOTE_WRITE.bit();
  }

  private FailedCheck bind(WindowMemory target) {
    return target.bind(bind, region, DOMAIN, QP, ofQp);
  }

  @Test
  void theKeyTakesOnlyItsLowerByteFromTheRequest() {
    bind.newKey = 0x1234_5611;
    assertEquals(FailedCheck.NONE, bind(window));
    assertEquals(0x8000_0111, window.key());
    assertFalse(region.windows().isEmpty());
    assertFalse(ofQp.isEmpty());
  }

  @Test
  void aWindowIsNamedByTheKeyItWasAllocatedWithOrThePresentOne() {
    assertEquals(FailedCheck.NONE, bind(window));
    window.unbind();
    assertEquals(FailedCheck.NONE, bind(window));
    window.unbind();
    bind.windowKey = window.key();
    assertEquals(FailedCheck.NONE, bind(window));
    window.unbind();
    bind.windowKey = 0x8000_0112;
    assertEquals(FailedCheck.BIND_WINDOW, bind(window));
  }

  @Test
  void accessBitsThatNoWindowHasAreRefused() {
    bind.access = Access.LOCAL_WRITE.bit();
    assertEquals(FailedCheck.WORK_REQUEST, bind(window));
    bind.access = -1;
    assertEquals(FailedCheck.WORK_REQUEST, bind(window));
    bind.access = Access.ZERO_BASED.bit();
    assertEquals(FailedCheck.WORK_REQUEST, bind(new WindowMemory(KEY, DOMAIN, MwType.TYPE_1)));
    assertEquals(FailedCheck.NONE, bind(window));
  }

  @Test
  void lengthsAndAddressesNeverWrap() {
    for (long length : new long[] {-1, Long.MIN_VALUE, 4097, Long.MAX_VALUE}) {
      bind.length = length;
      assertEquals(FailedCheck.BIND_RANGE, bind(window));
    }
    bind.length = 1;
    for (long address : new long[] {-1, 0, IOVA - 1, IOVA + 4096, Long.MIN_VALUE, Long.MAX_VALUE}) {
      bind.address = address;
      assertEquals(FailedCheck.BIND_RANGE, bind(window));
    }
  }

  @Test
  void theWholeKeyOfTheRegionCounts() {
    bind.regionKey = REGION_KEY + 1;
    assertEquals(FailedCheck.BIND_REGION, bind(window));
    bind.regionKey = 0;
    assertEquals(FailedCheck.BIND_REGION, window.bind(bind, null, DOMAIN, QP, ofQp));
  }

  @Test
  void listsLoseExactlyTheWindowThatIsUnbound() {
    WindowMemory[] all = new WindowMemory[5];
    for (int i = 0; i < all.length; i++) {
      all[i] = new WindowMemory(KEY, DOMAIN, MwType.TYPE_2);
      assertEquals(FailedCheck.NONE, bind(all[i]));
    }
    for (int i : new int[] {2, 0, 4}) {
      assertTrue(all[i].invalidate(all[i].key(), DOMAIN, QP));
    }
    assertFalse(region.windows().isEmpty());
    all[1].unbind();
    assertFalse(ofQp.isEmpty());
    ofQp.unbindAll();
    assertTrue(region.windows().isEmpty());
  }
}
