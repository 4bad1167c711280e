package org.rdma4j.ulp.rping;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.UsageException;

class RpingOptionsTest {
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  @Test
  void defaultsAreTheOriginals() throws Exception {
    RpingOptions options = parse("-s");
    assertTrue(options.server());
    assertNull(options.address());
    assertNull(options.source());
    assertEquals(7174, options.port());
    assertEquals(64, options.size());
    assertEquals(0, options.count());
    assertFalse(options.verbose() || options.validate() || options.debug() || options.persistent() || options.ownQp());
  }

  @Test
  void allThatCanBeSet() throws Exception {
    RpingOptions options =
        parse("-cvVdqP", "-a", "::1", "-I127.0.0.1", "-p", "7999", "-S", "65536", "-C", "1000");
    assertFalse(options.server());
    assertEquals(InetAddress.getByName("::1"), options.address());
    assertEquals(InetAddress.getByName("127.0.0.1"), options.source());
    assertEquals(7999, options.port());
    assertEquals(65536, options.size());
    assertEquals(1000, options.count());
    assertTrue(options.verbose() && options.validate() && options.debug() && options.persistent() && options.ownQp());
  }

  @Test
  void whatFollowsDebugIsTold() throws Exception {
    parse("-s", "-v", "-d", "-V", "-p", "5", "-S", "30", "-C", "2");
    assertEquals("validate data\nport 5\nsize 30\ncount 2\n", printed.toString(StandardCharsets.UTF_8));
  }

  @Test
  void mistakesAreRefused() {
    for (String bad : List.of("-s -x", "-s operand", "-v", "-s -p 65536", "-s -C", "-s -S many")) {
      assertThrows(UsageException.class, () -> parse(bad.split(" ")), bad);
    }
    assertFailure("Invalid size 22 (valid range is 23 to 65536)", 22, "-s", "-S", "22");
    assertFailure("Invalid size 65537 (valid range is 23 to 65536)", 22, "-s", "-S", "65537");
    assertFailure("Invalid count -1", 22, "-s", "-C", "-1");
    assertFailure("rping: ::g is no host name and no address", 254, "-c", "-a", "::g");
    assertEquals(
        "getaddrinfo failed (Name or service not known) - invalid hostname or IP address\n",
        printed.toString(StandardCharsets.UTF_8));
  }

  private void assertFailure(String message, int status, String... arguments) {
    CommandException failure = assertThrows(CommandException.class, () -> parse(arguments));
    assertEquals(message, failure.getMessage());
    assertEquals(status, failure.status());
  }

  private RpingOptions parse(String... arguments) throws UsageException, CommandException {
    return RpingOptions.parse(new PrintStream(printed, true, StandardCharsets.UTF_8), arguments);
  }
}
