package org.rdma4j.tools.pci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.tools.Output;

/** What setpci of pciutils 3.9 says. */
class SetpciTest {
  private final ListedFunction card = ListedFunction.connectX5("0000:03:00.0");
  private final ListedFunction second = ListedFunction.connectX5("0000:04:00.0");
  private final Setpci setpci = new Setpci(new ListedBus(List.of(card, second)));

  private String on3(String... accesses) {
    String[] all = new String[accesses.length + 2];
    all[0] = "-s";
    all[1] = "3:0.0";
    System.arraycopy(accesses, 0, all, 2, accesses.length);
    Output output = Output.of(setpci, all);
    assertEquals(0, output.status(), output.err());
    return output.out();
  }

  private void fails(String message, String... arguments) {
    assertEquals(
        new Output(1, "", "setpci: " + message + ".\nTry `setpci --help' for more information.\n"),
        Output.of(setpci, arguments));
  }

  @Test
  void reads() {
    assertEquals("15b3\n0406\nee00000c\n", on3("VENDOR_ID", "command", "BASE_ADDRESS_0"));
    assertEquals("15\n101715b3\n3f\n", on3("1.b", "0.L", "BASE_ADDRESS_1.B"));
    assertEquals("803f\n4011\n00002000\n", on3("CAP_MSIX+2.w", "9c.W", "CAP11+4.L"));
    assertEquals("15b3\n15b3\n", Output.of(setpci, "-d", "15b3:", "VENDOR_ID").out());
  }

  @Test
  void writes() {
    assertEquals("", on3("COMMAND=2"));
    assertEquals(2, card.readConfig(4, 2));
    assertEquals(0x0406, second.readConfig(4, 2));
    on3("COMMAND=404:404");
    assertEquals(0x406, card.readConfig(4, 2));
    on3("COMMAND=0:4", "INTERRUPT_LINE=b");
    assertEquals(0x402, card.readConfig(4, 2));
    assertEquals(0x0b, card.readConfig(0x3c, 1));
    on3("80.w=1,2,3");
    assertEquals(0x0002_0001, card.readConfig(0x80, 4));
    assertEquals(3, card.readConfig(0x84, 2));
  }

  @Test
  void groupsHaveTheirOwnFunctions() {
    Output output = Output.of(setpci, "-s", "3:", "COMMAND=1", "COMMAND", "-s", "4:", "-d15b3:1017", "COMMAND");
    assertEquals(new Output(0, "0001\n0406\n", ""), output);
  }

  @Test
  void verbose() {
    assertEquals(
        new Output(
            0,
            """
            0000:03:00.0 @04 = 0406
            0000:03:00.0 @04 0406->(0001:0001)->0407
            0000:03:00.0 (cap 11 @9c) @9e = 803f
            0000:03:00.0 @3c 01 02
            """,
            ""),
        Output.of(
            setpci, "-vD", "-s", "3:", "COMMAND", "COMMAND=1:1", "CAP_MSIX+2.w", "INTERRUPT_LINE=1,2"));
    assertEquals(0x0406, card.readConfig(4, 2));
  }

  @Test
  void mistakes() {
    fails("No operation specified");
    fails("Filter specification expected", "COMMAND");
    fails("Unknown register \"COMAND\"", "-s3:", "COMAND");
    fails("Missing width", "-s3:", "CAP_PM");
    fails("Missing width", "-s3:", "40");
    fails("Invalid width \"Q\"", "-s3:", "40.Q");
    fails("Unaligned register address 41", "-s3:", "41.w");
    fails("Register number 1000 out of range", "-s3:", "1000.b");
    fails("Invalid offset \"x\"", "-s3:", "40+x.b");
    fails("Missing value", "-s3:", "40.b=");
    fails("Invalid value \"zz\"", "-s3:", "40.b=zz");
    fails("Value \"100\" is out of range", "-s3:", "40.b=100");
    fails("Invalid mask \"y\"", "-s3:", "40.b=1:y");
    fails("Mask \"100\" is out of range", "-s3:", "40.b=1:100");
    fails("Unable to parse filter -s Invalid bus number", "-s", "zz:", "COMMAND");
    fails("Invalid or misplaced option -q", "-q", "COMMAND");
    fails("Option -s requires an argument", "-s");
    assertEquals(
        new Output(
            1,
            "",
            "setpci: 0000:03:00.0: Instance #0 of Capability 0003 not found - there are no capabilities with that id."
                + "\n"),
        Output.of(setpci, "-s", "3:", "CAP_VPD.w"));
    assertEquals(
        new Output(1, "", "setpci: 0000:03:00.0: Access of width 1 to register 109b out of range\n"),
        Output.of(setpci, "-s", "3:", "CAP_MSIX+fff.b"));
  }

  @Test
  void nothingChosenIsAWarning() {
    assertEquals(
        new Output(0, "", "setpci: Warning: No devices selected for operation group 1.\n"),
        Output.of(setpci, "-s", "9:", "COMMAND"));
    assertEquals(new Output(0, "", ""), Output.of(setpci, "-f", "-s", "9:", "COMMAND"));
  }

  @Test
  void help() {
    assertTrue(Output.of(setpci, "--help").out().startsWith("Usage: setpci [<options>] (<device>+ <reg>"));
    assertTrue(Output.of(setpci, "--dumpregs").out().contains("     04 W COMMAND\n"));
    assertTrue(Output.of(setpci, "--dumpregs").out().contains("  11 00 - CAP_MSIX\n"));
  }
}
