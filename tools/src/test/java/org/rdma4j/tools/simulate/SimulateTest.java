package org.rdma4j.tools.simulate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.roce.simulation.FailedSimulation;
import org.rdma4j.roce.simulation.SimulationRunner;
import org.rdma4j.roce.simulation.Tally;
import org.rdma4j.tools.Output;

class SimulateTest {
  @Test
  void playsAndSumsUp() {
    Output output = Output.of(new Simulate(), "--seeds", "40", "--first", "7");
    assertEquals(0, output.status(), output.err());
    assertTrue(
        output.out().matches("(?s)(.* of .*\n)*40 seeds in .* seeds/s: .* operations, .* packets, .* faults\n.*"),
        output.out());
    for (String line : new String[] {"operations:", "  RC RDMA_READ\n", "  UD SEND\n", "completions:",
        "  send RC SUCCESS\n", "faults:", "  packet lost\n", "events:"}) {
      assertTrue(output.out().contains(line), () -> line + " is missing in\n" + output.out());
    }
    assertEquals("", output.err());
  }

  @Test
  void tracesOneSeed() {
    Output output = Output.of(new Simulate(), "--seed=3", "--trace");
    assertEquals(0, output.status(), output.err());
    assertTrue(output.out().contains(" posts #0 "), output.out());
    assertTrue(output.out().contains(" completes #"), output.out());
    assertTrue(output.out().contains(" us  a > "), output.out());
    assertTrue(output.out().contains("\n1 seeds in "), output.out());
    assertEquals(trace(output), trace(Output.of(new Simulate(), "--seed=3", "--trace")), "not repeated");
  }

  private static String trace(Output output) {
    return output.out().substring(0, output.out().indexOf("\n1 seeds in "));
  }

  @Test
  void failureIsReportedAndSetsTheStatus() {
    var size = new FailedSimulation.Size(2, 30, 9);
    var failure = new FailedSimulation(77, "received twice", size, new FailedSimulation.Size(1, 1, 1), 20, "  ...\n");
    var command =
        new Simulate(
            (threads, progress, first, count) -> new SimulationRunner.Result(count, new Tally(), failure));
    Output output = Output.of(command, "-n5", "-j1");
    assertEquals(1, output.status());
    assertTrue(output.out().startsWith("5 seeds in "), output.out());
    assertEquals(
        """
        seed 77 failed: received twice
          of 2 pairs of queue pairs, 30 operations, 9 faults
          left 1 pairs of queue pairs, 1 operations, 1 faults after 20 runs:
          ...
          repeat with: ./rdma simulate --seed 77
        """,
        output.err());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "--seeds=0 | invalid argument '0' for --seeds: a number from 1 to 9223372036854775807",
        "--seeds=many | invalid argument 'many' for --seeds: a number from 1 to 9223372036854775807",
        "--threads=0 | invalid argument '0' for --threads: a number from 1 to 1024",
        "--trace | --trace needs --seed",
        "--seed=1 --first=2 | --seed plays one seed, so neither --seeds nor --first goes with it",
        "7 | no argument is expected, but there is '7'",
        "--speed=1 | unrecognized option '--speed'"
      })
  void mistakesAreNamed(String arguments, String message) {
    Output output = Output.of(new Simulate(), arguments.split(" "));
    assertEquals(1, output.status());
    assertTrue(output.err().startsWith("simulate: " + message + "\nUsage: simulate "), output.err());
  }

  @Test
  void helps() {
    Output output = Output.of(new Simulate(), "--help");
    assertEquals(0, output.status());
    assertTrue(output.out().startsWith("Usage: simulate [options]"), output.out());
  }
}
