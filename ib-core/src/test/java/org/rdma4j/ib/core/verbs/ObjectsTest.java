package org.rdma4j.ib.core.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.fake.FakeQp;
import org.rdma4j.roce.address.Gid;

/** Lifetimes: who pins whom, in which order things end, what is tracked. */
class ObjectsTest {
  private final TestDevice device = new TestDevice();
  private final Arena arena = Arena.ofShared();

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
  void whatIsInUseIsNotDestroyed() {
    ProtectionDomain unused = device.pd();
    ProtectionDomain pd = device.pd();
    FakeQp qp = device.qp(pd, QpType.RC);
    MemoryRegion mr = pd.registerMemory(arena.allocate(64), Access.LOCAL_WRITE);
    VerbsException busy = fails(Errno.EBUSY, pd::destroy);
    assertEquals("PD 1 of fake0 is used by QP 17, MR 0", busy.getMessage());
    fails(Errno.EBUSY, qp.sendCq()::destroy);
    qp.destroy();
    qp.destroy();
    mr.close();
    pd.destroy();
    qp.sendCq().destroy();
    unused.destroy();
    fails(Errno.EINVAL, () -> qp.modify(TestDevice.toInit()));
    fails(Errno.EINVAL, () -> pd.registerMemory(arena.allocate(64)));
    assertEquals(0, device.provider.objects.get());
  }

  @Test
  void aRefusedDestructionLeavesTheObjectAsItWas() {
    FakeQp qp = device.qp(device.pd(), QpType.RC);
    qp.destroyFailure(new VerbsException(Errno.EBUSY, "attached to a multicast group"));
    fails(Errno.EBUSY, qp::destroy);
    assertEquals(1, device.device.resources().count(ResourceType.QP));
    qp.modify(TestDevice.toInit());
    qp.destroyFailure(null);
    qp.destroy();
    assertEquals(0, device.device.resources().count(ResourceType.QP));
  }

  @Test
  void limitsAreNamed() {
    device.pd();
    device.pd();
    ProtectionDomain last = device.pd();
    assertTrue(fails(Errno.ENOMEM, device::pd).getMessage().contains("max_pd is 3"));
    last.destroy();
    device.pd();
    fails(Errno.EINVAL, () -> device.context.createCq(0, null, 0));
    fails(Errno.EINVAL, () -> device.context.createCq(32768, null, 0));
    fails(Errno.EINVAL, () -> device.context.createCq(1, null, 1));
  }

  @Test
  void memoryMustBeUsableByTheDevice() {
    ProtectionDomain pd = device.pd();
    fails(Errno.EINVAL, () -> pd.registerMemory(MemorySegment.ofArray(new byte[8])));
    try (Arena confined = Arena.ofConfined()) {
      fails(Errno.EINVAL, () -> pd.registerMemory(confined.allocate(8)));
    }
    Arena closed = Arena.ofShared();
    MemorySegment dead = closed.allocate(8);
    closed.close();
    fails(Errno.EINVAL, () -> pd.registerMemory(dead));
    fails(Errno.EINVAL, () -> pd.registerMemory(arena.allocate(8).asSlice(0, 0)));
    MemorySegment segment = arena.allocate(4096);
    fails(Errno.EINVAL, () -> pd.registerMemory(segment, Access.REMOTE_WRITE));
    fails(Errno.EINVAL, () -> pd.registerMemory(segment, Access.REMOTE_ATOMIC, Access.REMOTE_READ));
    fails(Errno.EACCES, () -> pd.registerMemory(segment.asReadOnly(), Access.LOCAL_WRITE));
    fails(Errno.EINVAL, () -> pd.registerMemory(segment, -4095, Set.of()));
    assertEquals(segment.address(), pd.registerMemory(segment).address());
    assertEquals(0, pd.registerMemory(segment, Access.ZERO_BASED).address());
    assertEquals(0x1000, pd.registerMemory(segment, 0x1000, Set.of()).address());
    MemorySegment huge = MemorySegment.ofAddress(0x100000).reinterpret(5L << 30);
    assertEquals(5L << 30, pd.registerMemory(huge, Access.LOCAL_WRITE, Access.REMOTE_WRITE).length());
  }

  @Test
  void closingAContextEndsItsObjectsInOrder() {
    ProtectionDomain pd = device.pd();
    device.qp(pd, QpType.RC);
    pd.registerMemory(arena.allocate(64));
    pd.createAh(new AhAttributes(1, TestDevice.PEER, 1));
    pd.createSrq(new SrqInitAttributes(16, 1));
    Context other = device.device.open("other");
    ProtectionDomain foreign = other.allocatePd();
    device.provider.log.clear();
    device.context.close();
    device.context.close();
    assertEquals(
        List.of("destroy QP", "destroy AH", "destroy SRQ", "destroy MR", "destroy CQ", "destroy PD"),
        device.provider.log);
    fails(Errno.EINVAL, device::pd);
    assertEquals(1, device.device.resources().count(ResourceType.CTX));
    foreign.destroy();
    other.close();
    assertEquals(0, device.device.resources().count(ResourceType.CTX));
  }

  @Test
  void resourcesAreListedWithOwnerAndParents() {
    ProtectionDomain pd = device.pd();
    FakeQp qp = device.qp(pd, QpType.RC);
    qp.modify(TestDevice.toInit());
    qp.modify(TestDevice.toRtr());
    ResourceTable table = device.device.resources();
    ResourceTable.Qp listed = table.queuePairs().getFirst();
    assertEquals(17, listed.number());
    assertEquals(18, listed.remoteNumber());
    assertEquals(QpState.RTR, listed.state());
    assertEquals(0x123456, listed.rqPsn());
    assertEquals(0, listed.pdId());
    assertEquals("test", listed.owner().comm());
    assertEquals("org.example.consumer", listed.owner().bundle());
    assertEquals(ProcessHandle.current().pid(), listed.owner().pid());
    assertEquals(0, listed.owner().contextId());
    assertEquals(1, table.protectionDomains().getFirst().users());
    assertEquals(2, table.completionQueues().getFirst().users());
    Context client = device.control.openClient("org.example.client", "cm");
    client.allocatePd();
    ResourceTable.Pd kernel = table.protectionDomains().getLast();
    assertTrue(kernel.owner().kernel());
    assertEquals(1, kernel.id());
    assertEquals(1, table.count(ResourceType.CTX));
  }

  @Test
  void numbersAreGivenAgainOnlyAtTheEndOfTheRange() {
    ProtectionDomain first = device.pd();
    first.destroy();
    assertEquals(1, device.pd().id());
  }

  @Test
  void anAddressHandleHoldsItsSlot() {
    Gid gid = Gid.parse("2001:db8::2");
    AddressHandle handle = device.pd().createAh(new AhAttributes(1, TestDevice.PEER, 2));
    assertEquals(gid, handle.attributes().sourceGid().gid());
    assertTrue(device.control.removeGid(1, gid, GidType.ROCE_V2, "eth0", false));
    assertFalse(device.control.removeGid(1, gid, GidType.ROCE_V2, "eth0", false));
    fails(Errno.EINVAL, () -> handle.protectionDomain().createAh(new AhAttributes(1, TestDevice.PEER, 2)));
    device.control.addGid(1, Gid.parse("2001:db8::3"), GidType.ROCE_V2, "eth0", false);
    assertEquals(3, device.device.gidTable(1).find(Gid.parse("2001:db8::3")).index());
    handle.destroy();
    device.control.addGid(1, Gid.parse("2001:db8::4"), GidType.ROCE_V2, "eth0", false);
    assertEquals(2, device.device.gidTable(1).find(Gid.parse("2001:db8::4")).index());
  }

  @Test
  void aProviderThatBreaksInACreationLeavesNothing() {
    device.provider.inCreate(
        () -> {
          throw new IllegalStateException("broken");
        });
    assertEquals("broken", fails(Errno.EIO, device::pd).getCause().getMessage());
    device.provider.inCreate(() -> {});
    device.pd();
    device.pd();
    device.pd();
  }

  @Test
  void aSharedReceiveQueueIsLimitedAndPinned() {
    ProtectionDomain pd = device.pd();
    SharedReceiveQueue srq = pd.createSrq(new SrqInitAttributes(16, 1));
    CompletionQueue cq = device.cq();
    QueuePair qp = pd.createQp(new QpInitAttributes(QpType.RC).sendCq(cq).recvCq(cq).srq(srq));
    srq.modifyLimit(8);
    assertEquals(8, srq.query().limit());
    fails(Errno.EINVAL, () -> srq.modifyLimit(17));
    fails(Errno.EOPNOTSUPP, () -> srq.resize(32));
    fails(Errno.EBUSY, srq::destroy);
    assertEquals(List.of(qp.number()), device.device.resources().sharedReceiveQueues().getFirst().qpNumbers());
    fails(Errno.EINVAL, () -> pd.createSrq(new SrqInitAttributes(16, 28)));
    fails(Errno.EINVAL, () -> pd.createSrq(new SrqInitAttributes(SrqType.BASIC, 16, 1, 17)));
  }
}
