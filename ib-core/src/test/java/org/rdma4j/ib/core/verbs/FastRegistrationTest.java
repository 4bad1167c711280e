package org.rdma4j.ib.core.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the core maps and checks before fast registration. */
class FastRegistrationTest {
  private static final int PAGE = 4096;

  private final TestDevice device = new TestDevice();
  private final Arena arena = Arena.ofShared();
  private final ProtectionDomain pd = device.pd();
  private final MemorySegment memory = arena.allocate(16 * PAGE, PAGE);

  @AfterEach
  void close() {
    device.close();
    arena.close();
    assertEquals(0, device.provider.objects.get());
  }

  private static void fails(Errno errno, Runnable code) {
    VerbsException e = assertThrows(VerbsException.class, code::run);
    assertEquals(errno, e.errno(), e.getMessage());
  }

  private MemorySegment pages(int first, int count) {
    return memory.asSlice((long) first * PAGE, (long) count * PAGE);
  }

  private MemorySegment bytes(long from, long count) {
    return memory.asSlice(from, count);
  }

  @Test
  void aRegionForFastRegistrationBeginsWithoutMemory() {
    MemoryRegion region = pd.allocateMr(4);
    assertEquals(MrType.MEM_REG, region.type());
    assertEquals(0, region.length());
    assertNull(region.segment());
    assertEquals(region.lkey(), region.rkey());
    region.updateKey(0x1ab);
    assertEquals(0xab, region.lkey() & 0xff);
    assertEquals(region.lkey(), region.rkey());
    fails(Errno.EINVAL, () -> pd.allocateMr(0));
    fails(Errno.EINVAL, () -> pd.allocateMr(9));
    MemoryRegion user = pd.registerMemory(memory);
    assertEquals(MrType.USER, user.type());
    fails(Errno.EINVAL, () -> user.map(List.of(memory)));
    fails(Errno.EINVAL, () -> user.updateKey(1));
  }

  @Test
  void wholePagesAreMappedFromAnywhere() {
    MemoryRegion region = pd.allocateMr(8);
    assertEquals(3, region.map(List.of(pages(4, 1), pages(0, 2), pages(9, 1))));
    assertEquals(pages(4, 1).address(), region.address());
    assertEquals(4 * PAGE, region.length());
  }

  @Test
  void onlyTheFirstBeginsAndOnlyTheLastEndsInsideAPage() {
    MemoryRegion region = pd.allocateMr(8);
    assertEquals(2, region.map(List.of(bytes(100, PAGE - 100), bytes(3 * PAGE, 10), pages(5, 1))));
    assertEquals(PAGE - 90, region.length());
    assertEquals(1, region.map(List.of(pages(0, 1), bytes(2 * PAGE + 8, 8))));
    assertEquals(1, region.map(List.of(bytes(0, 100), pages(2, 1))));
    assertEquals(100, region.length());
  }

  @Test
  void whatIsContiguousIsOnePiece() {
    MemoryRegion region = pd.allocateMr(2);
    assertEquals(4, region.map(List.of(bytes(10, 20), bytes(30, 70), bytes(100, PAGE), bytes(PAGE + 100, 50))));
    assertEquals(PAGE + 140, region.length());
    assertEquals(memory.address() + 10, region.address());
  }

  @Test
  void mappingStopsWhereThePagesAreUsedUp() {
    MemoryRegion region = pd.allocateMr(2);
    assertEquals(2, region.map(List.of(pages(0, 1), pages(4, 1), pages(8, 1))));
    assertEquals(2 * PAGE, region.length());
    assertEquals(1, region.map(List.of(pages(0, 1), pages(4, 3))));
    assertEquals(2 * PAGE, region.length(), "the first page of the second piece is mapped too");
    assertEquals(0, region.map(List.of(bytes(100, 3 * PAGE))));
    assertEquals(2 * PAGE - 100, region.length());
    assertEquals(1, region.map(List.of(bytes(0, PAGE + 100), bytes(PAGE + 100, PAGE))));
    assertEquals(2 * PAGE, region.length(), "the rest of the shared page is mapped too");
  }

  @Test
  void mappingBeginsAtAnOffset() {
    MemoryRegion region = pd.allocateMr(8);
    assertEquals(2, region.map(List.of(pages(0, 2), pages(5, 1)), PAGE + 1, PAGE));
    assertEquals(2 * PAGE - 1, region.length());
    assertEquals(memory.address() + PAGE + 1, region.address());
  }

  @Test
  void whatCannotBeMappedIsRefused() {
    MemoryRegion region = pd.allocateMr(8);
    fails(Errno.EINVAL, () -> region.map(List.of()));
    fails(Errno.EINVAL, () -> region.map(List.of(memory.asSlice(0, 0))));
    fails(Errno.EINVAL, () -> region.map(List.of(MemorySegment.ofArray(new byte[PAGE]))));
    fails(Errno.EINVAL, () -> region.map(List.of(memory), -1, PAGE));
    fails(Errno.EINVAL, () -> region.map(List.of(memory), 16 * PAGE, PAGE));
    fails(Errno.EINVAL, () -> region.map(List.of(memory), 0, 2048));
    fails(Errno.EINVAL, () -> region.map(List.of(memory), 0, 12288));
    fails(Errno.EINVAL, () -> region.map(List.of(memory), 0, 0));
    try (Arena confined = Arena.ofConfined()) {
      MemorySegment own = confined.allocate(8);
      fails(Errno.EINVAL, () -> region.map(List.of(own)));
    }
    assertEquals(0, region.length());
    region.destroy();
    fails(Errno.EINVAL, () -> region.map(List.of(memory)));
  }
}
