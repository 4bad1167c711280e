package org.rdma4j.mlx5.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.mlx5.core.CommandException;
import org.rdma4j.mlx5.core.CommandRecord;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.CommandStatistics;
import org.rdma4j.mlx5.core.DeviceParameter;
import org.rdma4j.mlx5.core.Mlx5Errno;
import org.rdma4j.mlx5.core.ObjectCommands;
import org.rdma4j.mlx5.core.RegisterCommands;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Opcode;

/** The command interface: mailboxes, statuses, time-outs, many at once, and the end of it. */
@Timeout(300)
class CommandTest {
  private final Bench bench = new Bench();

  @AfterEach
  void close() {
    bench.close();
  }

  private CommandException fails(Opcode opcode) {
    return assertThrows(CommandException.class, () -> bench.device().execute(CommandRequest.of(opcode)));
  }

  @ParameterizedTest
  @EnumSource(value = CommandStatus.class, mode = EnumSource.Mode.EXCLUDE, names = "OK")
  void statusesBecomeExceptions(CommandStatus status) {
    bench.start().card.answers.put(
        Opcode.ALLOC_PD,
        (input, output) -> {
          output.set(ValueLayout.JAVA_INT_UNALIGNED, 4, 0x78563412);
          return status.number();
        });
    CommandException failure = fails(Opcode.ALLOC_PD);
    assertEquals(status.number(), failure.status());
    assertEquals(0x12345678, failure.syndrome());
    assertEquals(Opcode.ALLOC_PD, failure.opcode());
    assertEquals(
        "ALLOC_PD(0x800) op_mod(0x0) failed, status %s(0x%x), syndrome (0x12345678), err(%s)"
            .formatted(status.text(), status.number(), failure.errno()),
        failure.getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "1, EBADR", "2, EBADR", "3, EFAULT", "4, EFAULT", "5, EFAULT", "6, EIO", "7, ENOMSG", "16, ENOMSG", "50, EINVAL"
  })
  void deliveryStatusesBecomeExceptions(int delivery, Mlx5Errno errno) {
    bench.start().card.delivery = delivery;
    CommandException failure = fails(Opcode.ALLOC_PD);
    bench.card.delivery = 0;
    assertEquals(errno, failure.errno());
    assertTrue(failure.getMessage().startsWith("ALLOC_PD(0x800) was not delivered"), failure.getMessage());
  }

  @ParameterizedTest
  @CsvSource({"1", "512", "513", "5000"})
  void longMessagesGoThroughMailboxes(int bytes) {
    bench.start();
    assertEchoed(bytes);
  }

  private void assertEchoed(int bytes) {
    MemorySegment image = Arena.ofAuto().allocate(bytes);
    for (int i = 0; i < bytes; i++) {
      image.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + 1));
    }
    MemorySegment answer = RegisterCommands.read(bench.device(), 0x1234, image);
    assertEquals(-1, image.mismatch(answer));
  }

  @Test
  void mailboxesAreSignedWhenAskedFor() {
    bench.parameters.put(DeviceParameter.COMMAND_CHECKSUM, 1);
    bench.start();
    assertEchoed(3000);
    assertFalse(bench.card.badSignature);
  }

  @Test
  void eachHasItsOwnAnswerWhenManyAreGivenAtOnce() {
    bench.start();
    List<CompletableFuture<List<Integer>>> workers =
        IntStream.range(0, 40)
            .mapToObj(
                worker ->
                    CompletableFuture.supplyAsync(
                        () -> {
                          List<Integer> numbers = new ArrayList<>();
                          for (int i = 0; i < 50; i++) {
                            numbers.add(ObjectCommands.allocatePd(bench.device()));
                          }
                          return numbers;
                        },
                        task -> Thread.ofVirtual().start(task)))
            .toList();
    List<Integer> all = workers.stream().flatMap(worker -> worker.join().stream()).toList();
    assertEquals(2000, all.stream().distinct().count());
  }

  @Test
  void lostInterruptIsFound() {
    bench.start().card.losesInterrupts = true;
    assertTrue(ObjectCommands.allocatePd(bench.device()) > 0);
  }

  /** Takes as long as the driver waits for an event that may still come. */
  @Test
  void withoutAnAnswerTheSlotStaysTakenUntilThereIsOne() throws InterruptedException {
    bench.start().card.answers.put(Opcode.ALLOC_PD, (input, output) -> ScriptedCard.NONE);
    CommandException failure = fails(Opcode.ALLOC_PD);
    assertEquals(Mlx5Errno.ETIMEDOUT, failure.errno());
    bench.card.answers.clear();
    assertTrue(ObjectCommands.allocatePd(bench.device()) > 0);
    bench.card.answerLate(0);
    allSlotsWork();
  }

  @Test
  void slotsThatStayTakenDoNotKeepTheCard() {
    bench.start().card.answers.put(Opcode.ALLOC_PD, (input, output) -> ScriptedCard.NONE);
    assertEquals(Mlx5Errno.ETIMEDOUT, fails(Opcode.ALLOC_PD).errno());
    bench.bus.unplug(Bench.SLOT);
    assertEquals("DISABLE_HCA 0", bench.card.commands.getLast());
  }

  private void allSlotsWork() throws InterruptedException {
    CountDownLatch done = new CountDownLatch(40);
    for (int i = 0; i < 40; i++) {
      Thread.ofVirtual()
          .start(
              () -> {
                ObjectCommands.allocatePd(bench.device());
                done.countDown();
              });
    }
    assertTrue(done.await(120, TimeUnit.SECONDS));
  }

  @Test
  void errorStateEndsWaitingAndAnswersItself() throws Exception {
    CountDownLatch given = new CountDownLatch(1);
    bench.card.set("cmd_exec_to_value", 600_000);
    bench.start().card.answers.put(
        Opcode.ALLOC_PD,
        (input, output) -> {
          given.countDown();
          return ScriptedCard.NONE;
        });
    CompletableFuture<CommandException> waiting = CompletableFuture.supplyAsync(() -> fails(Opcode.ALLOC_PD));
    given.await();
    CoreDevice device = (CoreDevice) bench.device();
    device.enterErrorState();
    assertEquals(Mlx5Errno.ENXIO, waiting.get(120, TimeUnit.SECONDS).errno());
    int before = bench.card.commands.size();
    ObjectCommands.freePd(device, 7);
    CommandException failure = fails(Opcode.ALLOC_UAR);
    assertEquals(Mlx5Errno.EIO, failure.errno());
    assertEquals(CommandException.DRIVER_STATUS, failure.status());
    assertEquals(CommandException.DRIVER_SYNDROME, failure.syndrome());
    assertEquals(before, bench.card.commands.size());
  }

  @Test
  void multicastGroupsAreNamed() {
    MemorySegment group = Arena.ofAuto().allocate(16);
    group.fill((byte) 0x5a);
    List<String> seen = new ArrayList<>();
    bench.start();
    bench.trace(command -> seen.add(command.opcode() + " " + group.mismatch(command.input().asSlice(16))));
    ObjectCommands.attachMulticast(bench.device(), 7, group);
    ObjectCommands.detachMulticast(bench.device(), 7, group);
    assertEquals(List.of("ATTACH_TO_MCG -1", "DETACH_FROM_MCG -1"), seen);
  }

  @Test
  void statisticsAndTrace() {
    bench.start().card.answers.put(Opcode.ALLOC_XRCD, (input, output) -> 0xf);
    List<CommandRecord> seen = new ArrayList<>();
    bench.trace(seen::add);
    int pd = ObjectCommands.allocatePd(bench.device());
    ObjectCommands.freePd(bench.device(), pd);
    fails(Opcode.ALLOC_XRCD);
    bench.trace(null);
    ObjectCommands.allocatePd(bench.device());
    assertEquals(
        List.of(Opcode.ALLOC_PD, Opcode.DEALLOC_PD, Opcode.ALLOC_XRCD),
        seen.stream().map(CommandRecord::opcode).toList());
    assertEquals(0xf, seen.get(2).status());
    assertTrue(seen.getFirst().nanos() > 0);
    CommandStatistics row =
        bench.device().commandStatistics().stream()
            .filter(each -> each.opcode() == Opcode.ALLOC_XRCD)
            .findFirst()
            .orElseThrow();
    assertEquals(1, row.count());
    assertEquals(1, row.failed());
    assertEquals(0xf, row.lastFailedStatus());
    assertEquals(Mlx5Errno.EAGAIN, row.lastFailedErrno());
  }
}
