package org.rdma4j.tools.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class OptionsTest {
  @Test
  void optionsEndAtTheCommand() {
    Options options = Options.parse("--bare", "ibv_devinfo", "--help", "-v");
    assertTrue(options.bare());
    assertFalse(options.help());
    assertEquals(List.of("ibv_devinfo", "--help", "-v"), options.command());
  }

  @Test
  void noCommandMeansTheShell() {
    assertEquals(List.of(), Options.parse().command());
  }

  @Test
  void helpAndVersionAreKnownByTheirLetters() {
    assertTrue(Options.parse("-h").help());
    assertTrue(Options.parse("-V").version());
  }

  @Test
  void anUnknownOptionIsNamed() {
    var e = assertThrows(IllegalArgumentException.class, () -> Options.parse("--bear", "ibv_devices"));
    assertEquals("no such option: --bear", e.getMessage());
  }

  @Test
  void oneArgumentWithSeveralWordsIsAScript() {
    assertTrue(Options.parse("rdma dev; rdma link").script());
    assertTrue(Options.parse("ibv_devices;ibv_devinfo").script());
    assertFalse(Options.parse("ibv_devices").script());
    assertFalse(Options.parse("ibv_devinfo", "-d", "a b;c").script());
  }
}
