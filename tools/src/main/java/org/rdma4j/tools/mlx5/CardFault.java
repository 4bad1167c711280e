package org.rdma4j.tools.mlx5;

import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.rdma4j.mlx5.device.CardFaults;

/** Faults by the names that {@code mlx5 fault} has for them, each with its numbers. */
enum CardFault {
  DROP_COMMANDS(0, 1, "[COUNT]", (faults, numbers) -> faults.dropCommands(numbers.length == 0 ? 1 : numbers[0])),
  FAIL_COMMANDS(2, 3, "OPCODE STATUS [COUNT]", CardFault::failCommands),
  STOP_HEALTH(0, 0, "", (faults, numbers) -> faults.stopHealthCounter(true)),
  ASSERT(0, 1, "[SYNDROME]", (faults, numbers) -> faults.assertFatal(numbers.length == 0 ? 1 : numbers[0])),
  LOSE_INTERRUPTS(0, 1, "[COUNT]", (faults, numbers) -> faults.loseInterrupts(numbers.length == 0 ? 1 : numbers[0])),
  FAIL_DMA(0, 1, "[COUNT]", (faults, numbers) -> faults.failDma(numbers.length == 0 ? 1 : numbers[0])),
  CORRUPT_CQE(0, 1, "[COUNT]", (faults, numbers) -> faults.corruptCompletions(numbers.length == 0 ? 1 : numbers[0])),
  CABLE_OUT(0, 0, "", (faults, numbers) -> faults.cable(false)),
  CABLE_IN(0, 0, "", (faults, numbers) -> faults.cable(true)),
  CLEAR(0, 0, "", (faults, numbers) -> faults.clear());

  /** How a fault is brought to a card. */
  private interface Injection {
    void inject(CardFaults faults, int... numbers);
  }

  private final int least;
  private final int most;
  private final String operands;
  private final Injection injection;

  CardFault(int least, int most, String operands, Injection injection) {
    this.least = least;
    this.most = most;
    this.operands = operands;
    this.injection = injection;
  }

  private static void failCommands(CardFaults faults, int... numbers) {
    faults.failCommands(numbers[0], numbers[1], numbers.length > 2 ? numbers[2] : 1);
  }

  /** The word for it in the shell. */
  String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The fault of a word, or null. */
  static CardFault of(String word) {
    return Stream.of(values()).filter(each -> each.word().equals(word)).findFirst().orElse(null);
  }

  static String usage() {
    return Stream.of(values())
        .map(each -> "  " + (each.word() + " " + each.operands).stripTrailing())
        .collect(Collectors.joining("\n"));
  }

  boolean takes(int count) {
    return count >= least && count <= most;
  }

  /** IllegalArgumentException says which number is out of range. */
  void inject(CardFaults faults, int... numbers) {
    injection.inject(faults, numbers);
  }
}
