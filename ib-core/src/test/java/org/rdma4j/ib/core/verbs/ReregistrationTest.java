package org.rdma4j.ib.core.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the core checks of re-registrations, and what a region is after them. */
class ReregistrationTest {
  private final TestDevice device = new TestDevice();
  private final Arena arena = Arena.ofShared();
  private final ProtectionDomain pd = device.pd();
  private final MemorySegment memory = arena.allocate(4096);
  private final MemoryRegion region = pd.registerMemory(memory, Access.LOCAL_WRITE);

  @AfterEach
  void close() {
    device.close();
    arena.close();
    assertEquals(0, device.provider.objects.get());
  }

  private void refuses(Errno errno, MrUpdate update) {
    VerbsException e = assertThrows(VerbsException.class, () -> region.reregister(update));
    assertEquals(errno, e.errno(), e.getMessage());
    assertEquals(memory, region.segment());
    assertEquals(Set.of(Access.LOCAL_WRITE), region.access());
    assertEquals(pd, region.protectionDomain());
  }

  @Test
  void whatIsNotSetStays() {
    region.reregister(new MrUpdate().access(Access.REMOTE_READ));
    assertEquals(Set.of(Access.REMOTE_READ), region.access());
    assertEquals(memory, region.segment());
    assertEquals(memory.address(), region.address());
    MemorySegment other = arena.allocate(100);
    region.reregister(new MrUpdate().translation(other));
    assertEquals(other.address(), region.address());
    assertEquals(100, region.length());
    assertEquals(Set.of(Access.REMOTE_READ), region.access());
    region.reregister(new MrUpdate().translation(memory, 0x1000));
    assertEquals(0x1000, region.address());
    region.reregister(new MrUpdate().translation(memory).access(Access.ZERO_BASED));
    assertEquals(0, region.address());
    ResourceTable.Mr listed = device.device.resources().memoryRegions().getFirst();
    assertEquals(region.lkey(), listed.lkey());
    assertEquals(4096, listed.length());
  }

  @Test
  void anotherDomainIsPinnedInPlaceOfTheOld() {
    ProtectionDomain other = device.pd();
    region.reregister(new MrUpdate().protectionDomain(other));
    assertEquals(other, region.protectionDomain());
    pd.destroy();
    assertEquals(Errno.EBUSY, assertThrows(VerbsException.class, other::destroy).errno());
    region.destroy();
    other.destroy();
  }

  @Test
  void aRefusalLeavesEverything() {
    refuses(Errno.EINVAL, new MrUpdate());
    refuses(Errno.EINVAL, new MrUpdate().access(Access.REMOTE_WRITE));
    refuses(Errno.EINVAL, new MrUpdate().translation(MemorySegment.ofArray(new byte[8])));
    refuses(Errno.EACCES, new MrUpdate().translation(memory.asReadOnly()));
    refuses(Errno.EINVAL, new MrUpdate().protectionDomain(device.device.open("other").allocatePd()));
    ProtectionDomain gone = device.pd();
    gone.destroy();
    refuses(Errno.EINVAL, new MrUpdate().protectionDomain(gone));
    ProtectionDomain other = device.pd();
    device.provider.reregisterFailure(new VerbsException(Errno.EBUSY, "windows"));
    refuses(Errno.EBUSY, new MrUpdate().protectionDomain(other));
    other.destroy();
    MemoryRegion fast = pd.allocateMr(1);
    assertThrows(VerbsException.class, () -> fast.reregister(new MrUpdate().access()));
  }
}
