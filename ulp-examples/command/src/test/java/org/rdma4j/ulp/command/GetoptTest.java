package org.rdma4j.ulp.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Options against what the C library does with the same command line. */
class GetoptTest {
  private final Getopt getopt =
      new Getopt(
          "cmd",
          new Getopt.Option('p', "port", true),
          new Getopt.Option('i', "ib-port", true),
          new Getopt.Option('d', "ib-dev", true),
          new Getopt.Option('e', "events", false),
          new Getopt.Option('c', "chk", false));

  @Test
  void lettersCanBeJoinedAndHaveTheirArgumentAttached() throws UsageException {
    assertEquals("e c p=7 | []", parse("-ecp7"));
    assertEquals("p=7 e | []", parse("-p", "7", "-e"));
  }

  @Test
  void longNamesCanBeShortened() throws UsageException {
    assertEquals("p=7 d=rxe0 e | []", parse("--port=7", "--ib-d", "rxe0", "--ev"));
    assertEquals("p= | []", parse("--port="));
  }

  @Test
  void optionsMayFollowOperands() throws UsageException {
    assertEquals("e p=-1 | [host, -]", parse("host", "-e", "-", "-p", "-1"));
    assertEquals("e | [host, -c, --]", parse("-e", "--", "host", "-c", "--"));
  }

  @Test
  void mistakesAreNamed() {
    assertMistake("cmd: invalid option -- 'x'", "-ex");
    assertMistake("cmd: unrecognized option '--help'", "--help");
    assertMistake("cmd: option requires an argument -- 'p'", "-ep");
    assertMistake("cmd: option '--port' requires an argument", "--po");
    assertMistake("cmd: option '--events' doesn't allow an argument", "--events=1");
    assertMistake("cmd: option '--ib' is ambiguous; possibilities: '--ib-port' '--ib-dev'", "--ib", "1");
  }

  @Test
  void numbersHaveThreeBases() throws UsageException {
    assertEquals(16, Numbers.parse("cmd", "-p", "16", 0, 65535));
    assertEquals(16, Numbers.parse("cmd", "-p", "0x10", 0, 65535));
    assertEquals(16, Numbers.parse("cmd", "-p", "020", 0, 65535));
    for (String bad : List.of("", "x", "1x", "-1", "65536", "99999999999999999999")) {
      UsageException mistake =
          assertThrows(UsageException.class, () -> Numbers.parse("cmd", "-p", bad, 0, 65535));
      assertEquals("cmd: invalid argument '" + bad + "' for -p: a number from 0 to 65535", mistake.getMessage());
    }
  }

  private String parse(String... arguments) throws UsageException {
    Getopt.Result result = getopt.parse(arguments);
    return result.options().stream()
            .map(given -> given.argument() == null ? "" + given.letter() : given.letter() + "=" + given.argument())
            .collect(Collectors.joining(" "))
        + " | "
        + result.operands();
  }

  private void assertMistake(String message, String... arguments) {
    assertEquals(message, assertThrows(UsageException.class, () -> getopt.parse(arguments)).getMessage());
  }
}
