package org.rdma4j.rxe;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.DeviceCapability;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.FlushPlacement;
import org.rdma4j.ib.core.verbs.FlushSelectivity;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.MemoryWindow;
import org.rdma4j.ib.core.verbs.MwBindInfo;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.Rkeys;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcOpcode;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.ib.core.verbs.WorkRequestBuilder;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.engine.FailedCheck;

/** Atomic writes and flushes between two devices: {@code a} asks, {@code b} has the memory. */
class MemoryPlacementTest {
  private static final int BYTES = 8192;
  private static final Set<FlushPlacement> GLOBAL = Set.of(FlushPlacement.GLOBAL);
  private static final Set<FlushPlacement> PERSISTENT = Set.of(FlushPlacement.PERSISTENT);

  @TempDir Path folder;

  private final TestLink rxe0 = TestLink.open("rxe0");
  private final TestLink rxe1 = TestLink.open("rxe1");
  private final End a = new End(rxe0, QpType.RC, BYTES);
  private final End b = new End(rxe1, QpType.RC, BYTES);
  private final MemoryRegion region =
      b.pd.registerMemory(
          b.memory, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.FLUSH_GLOBAL, Access.MW_BIND);

  @BeforeEach
  void connect() {
    a.connect(b, PathMtu.MTU_1024);
    b.connect(a, PathMtu.MTU_1024);
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    rxe0.close();
    rxe1.close();
  }

  private WorkCompletion post(SendWorkRequest wr) {
    a.qp.postSend(wr.flags(SendFlag.SIGNALED));
    return a.next();
  }

  private void refused(SendWorkRequest wr, WcStatus status, FailedCheck check) {
    WorkCompletion failed = post(wr);
    assertEquals(status, failed.status());
    assertEquals(check.code(), failed.vendorError());
    End.reset(a, b, PathMtu.MTU_1024);
  }

  @Test
  void theDeviceSaysWhatItCan() {
    assertTrue(a.context.attributes().has(DeviceCapability.ATOMIC_WRITE));
    assertTrue(a.context.attributes().has(DeviceCapability.FLUSH_GLOBAL));
    assertTrue(a.context.attributes().has(DeviceCapability.FLUSH_PERSISTENT));
    assertEquals(1L << 38, DeviceCapability.FLUSH_GLOBAL.bit());
    assertEquals(1L << 40, DeviceCapability.ATOMIC_WRITE.bit());
  }

  @Test
  void bothStylesOfPosting() {
    WorkCompletion done = post(new SendWorkRequest().atomicWrite(region.rkey(), region.address() + 64, 0x1234_5678L));
    assertEquals(WcStatus.SUCCESS, done.status(), done.toString());
    assertEquals(WcOpcode.ATOMIC_WRITE, done.opcode());
    assertEquals(0x1234_5678L, b.memory.get(JAVA_LONG, 64));
    done = post(new SendWorkRequest().flush(region.rkey(), region.address(), 100, GLOBAL, FlushSelectivity.RANGE));
    assertEquals(WcStatus.SUCCESS, done.status(), done.toString());
    assertEquals(WcOpcode.FLUSH, done.opcode());
    WorkRequestBuilder builder = a.qp.workRequests();
    builder.start();
    builder.flags(SendFlag.SIGNALED);
    builder.wrId(1);
    builder.atomicWrite(region.rkey(), region.address() + 72, -2);
    builder.wrId(2);
    builder.flush(region.rkey(), 0, 0, GLOBAL, FlushSelectivity.MEMORY_REGION);
    builder.complete();
    assertEquals(1, a.nextSuccess().wrId());
    assertEquals(2, a.nextSuccess().wrId());
    assertEquals(-2, b.memory.get(JAVA_LONG, 72));
  }

  @Test
  void aFlushMakesAFilePersistent() throws IOException {
    Path file = folder.resolve("memory");
    Files.write(file, new byte[BYTES]);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, b.arena);
      MemoryRegion persistent =
          b.pd.registerMemory(mapped, Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.FLUSH_PERSISTENT);
      long at = persistent.address() + 4096;
      a.qp.postSend(new SendWorkRequest().atomicWrite(persistent.rkey(), at, 0x0706_0504_0302_0100L));
      WorkCompletion done =
          post(new SendWorkRequest().flush(persistent.rkey(), at, 8, PERSISTENT, FlushSelectivity.RANGE));
      assertEquals(WcStatus.SUCCESS, done.status(), done.toString());
      byte[] bytes = Files.readAllBytes(file);
      assertEquals(mapped.get(JAVA_BYTE, 4097), bytes[4097]);
      done = post(new SendWorkRequest().flush(persistent.rkey(), 0, 0, PERSISTENT, FlushSelectivity.MEMORY_REGION));
      assertEquals(WcStatus.SUCCESS, done.status(), done.toString());
      refused(
          new SendWorkRequest().flush(persistent.rkey(), at, 8, GLOBAL, FlushSelectivity.RANGE),
          WcStatus.REM_ACCESS_ERR, FailedCheck.NAK_REMOTE_ACCESS);
      persistent.destroy();
    }
  }

  @Test
  void onlyMappedMemoryCanBePersistent() {
    VerbsException e =
        assertThrows(VerbsException.class, () -> b.pd.registerMemory(b.memory, Access.FLUSH_PERSISTENT));
    assertEquals(Errno.EINVAL, e.errno());
    assertTrue(e.getMessage().contains("mapped from a file"), e.getMessage());
  }

  @Test
  void whatTheKeyDoesNotAllow() {
    refused(
        new SendWorkRequest().flush(region.rkey(), region.address(), 8, PERSISTENT, FlushSelectivity.RANGE),
        WcStatus.REM_ACCESS_ERR, FailedCheck.NAK_REMOTE_ACCESS);
    refused(
        new SendWorkRequest()
            .flush(region.rkey(), region.address() + BYTES - 7, 8, GLOBAL, FlushSelectivity.RANGE),
        WcStatus.REM_ACCESS_ERR, FailedCheck.NAK_REMOTE_ACCESS);
    refused(
        new SendWorkRequest().atomicWrite(region.rkey(), region.address() + BYTES, 1),
        WcStatus.REM_ACCESS_ERR, FailedCheck.NAK_REMOTE_ACCESS);
    refused(
        new SendWorkRequest().flush(b.region.rkey(), b.region.address(), 8, GLOBAL, FlushSelectivity.RANGE),
        WcStatus.REM_ACCESS_ERR, FailedCheck.NAK_REMOTE_ACCESS);
  }

  @Test
  void throughAWindow() {
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);
    int key = Rkeys.increment(window.rkey());
    MwBindInfo info =
        new MwBindInfo(region, region.address() + 4096, 1024, Access.REMOTE_WRITE, Access.FLUSH_GLOBAL);
    b.qp.postSend(new SendWorkRequest().flags(SendFlag.SIGNALED).bindMw(window, key, info));
    b.nextSuccess();
    a.qp.postSend(new SendWorkRequest().atomicWrite(key, region.address() + 4096, 77));
    WorkCompletion done =
        post(new SendWorkRequest().flush(key, region.address() + 4096, 8, GLOBAL, FlushSelectivity.RANGE));
    assertEquals(WcStatus.SUCCESS, done.status(), done.toString());
    assertEquals(77, b.memory.get(JAVA_LONG, 4096));
    refused(
        new SendWorkRequest().flush(key, region.address(), 8, GLOBAL, FlushSelectivity.RANGE),
        WcStatus.REM_ACCESS_ERR, FailedCheck.NAK_REMOTE_ACCESS);
  }

  @Test
  void aWindowHasNoRightToFlushThatItsRegionHasNot() {
    MemoryWindow window = b.pd.allocateMw(MwType.TYPE_2);
    MwBindInfo info =
        new MwBindInfo(region, region.address(), 1024, Access.REMOTE_WRITE, Access.FLUSH_PERSISTENT);
    b.qp.postSend(new SendWorkRequest().bindMw(window, Rkeys.increment(window.rkey()), info));
    WorkCompletion failed = b.next();
    assertEquals(WcStatus.MW_BIND_ERR, failed.status());
    assertEquals(FailedCheck.BIND_ACCESS.code(), failed.vendorError());
  }

  @Test
  void throughAFastRegistration() {
    MemoryRegion fast = b.pd.allocateMr(4);
    fast.map(List.of(b.memory.asSlice(0, 4096), b.memory.asSlice(4096, 4096)));
    Set<Access> rights = Set.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.FLUSH_GLOBAL);
    b.qp.postSend(new SendWorkRequest().flags(SendFlag.SIGNALED).regMr(fast, fast.rkey(), rights));
    b.nextSuccess();
    a.qp.postSend(new SendWorkRequest().atomicWrite(fast.rkey(), fast.address() + 4096, 78));
    WorkCompletion done =
        post(new SendWorkRequest().flush(fast.rkey(), 0, 0, GLOBAL, FlushSelectivity.MEMORY_REGION));
    assertEquals(WcStatus.SUCCESS, done.status(), done.toString());
    assertEquals(78, b.memory.get(JAVA_LONG, 4096));
  }
}
