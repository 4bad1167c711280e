package org.rdma4j.tools.pci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.pci.PciIdentity;
import org.rdma4j.tools.Output;

/** What lspci of pciutils 3.9 prints for the same configuration space. */
class LspciTest {
  private static final String TERSE =
      "03:00.0 Ethernet controller: Mellanox Technologies MT27800 Family [ConnectX-5]\n";

  private final ListedFunction card = ListedFunction.connectX5("0000:03:00.0");
  private final ListedFunction other =
      new ListedFunction(
          "0000:04:00.1", new PciIdentity(0x1234, 0x5678, 0x4321, 1, 0x0b2002, 3, null, null), null);
  private final Lspci lspci = new Lspci(new ListedBus(List.of(card, other)), PciIds.NONE);

  @Test
  void terse() {
    assertEquals(new Output(0, TERSE + "04:00.1 Class 0b20: Device 1234:5678 (rev 03)\n", ""), Output.of(lspci));
  }

  @Test
  void numbers() {
    assertEquals(
        new Output(0, "03:00.0 0200: 15b3:1017\n04:00.1 0b20: 1234:5678 (rev 03)\n", ""), Output.of(lspci, "-n"));
    assertEquals(
        new Output(
            0,
            "03:00.0 Ethernet controller [0200]: Mellanox Technologies MT27800 Family [ConnectX-5] [15b3:1017]\n"
                + "04:00.1 Class [0b20]: Device [1234:5678] (rev 03)\n",
            ""),
        Output.of(lspci, "-nn"));
  }

  @Test
  void verbose() {
    assertEquals(
        new Output(
            0,
            TERSE
                + """
                \tSubsystem: Mellanox Technologies Device 0008
                \tFlags: bus master, fast devsel, latency 0
                \tMemory at 383fee000000 (64-bit, prefetchable) [size=32M]
                \tCapabilities: [60] Express Endpoint, MSI 00
                \tCapabilities: [9c] MSI-X: Enable+ Count=64 Masked-
                \tCapabilities: [40] Power Management version 3
                \tKernel driver in use: mlx5_core

                """,
            ""),
        Output.of(lspci, "-v", "-s", "03:00.0"));
  }

  @Test
  void verboseOfAFunctionThatIsOff() {
    other.put(0x04, 2, 0);
    other.put(0x3c, 1, 11);
    other.put(0x34, 1, 0x50);
    other.put(0x50, 4, 0x0018_5809);
    other.put(0x58, 4, 0x0007_0005);
    assertEquals(
        """
        04:00.1 Class 0b20: Device 1234:5678 (rev 03) (prog-if 02)
        \tSubsystem: Device 4321:0001
        \tFlags: fast devsel, IRQ 11
        \tMemory at 383fee000000 (64-bit, prefetchable) [disabled] [size=32M]
        \tCapabilities: [50] Vendor Specific Information: Len=18 <?>
        \tCapabilities: [58] Capability ID 0x5 [0007]

        """,
        Output.of(lspci, "-v", "-d", "1234:").out());
  }

  @Test
  void drivers() {
    assertEquals(
        TERSE + "\tSubsystem: 15b3:0008\n\tKernel driver in use: mlx5_core\n",
        Output.of(lspci, "-k", "-n", "-d", ":1017").out().replace("03:00.0 0200: 15b3:1017\n", TERSE));
  }

  @Test
  void dumps() {
    String standard = Output.of(lspci, "-x", "-s", "3:").out();
    assertEquals(
        TERSE
            + """
            00: b3 15 17 10 06 04 10 00 00 00 00 02 08 00 00 00
            10: 0c 00 00 ee 3f 38 00 00 00 00 00 00 00 00 00 00
            20: 00 00 00 00 00 00 00 00 00 00 00 00 b3 15 08 00
            30: 00 00 00 00 60 00 00 00 00 00 00 00 00 00 00 00

            """,
        standard);
    String whole = Output.of(lspci, "-xxx", "-s", "3:").out();
    assertEquals(1 + 16 + 1, whole.lines().count());
    assertTrue(whole.contains("\n90: 00 00 00 00 00 00 00 00 00 00 00 00 11 40 3f 80\n"), whole);
    assertTrue(whole.contains("\nf0: "), whole);
    assertTrue(Output.of(lspci, "-xxxx", "-s", "3:").out().contains("\nff0: "));
  }

  @Test
  void domainsAreShownWhenAskedForOrWhenThereAreSeveral() {
    assertTrue(Output.of(lspci, "-D").out().startsWith("0000:03:00.0 Ethernet"));
    Lspci two = new Lspci(new ListedBus(List.of(card, ListedFunction.connectX5("0001:03:00.0"))), PciIds.NONE);
    assertTrue(Output.of(two).out().startsWith("0000:03:00.0 Ethernet"));
    assertEquals(1, Output.of(two, "-s", "1::").out().lines().count());
  }

  @Test
  void choosing() {
    assertEquals(1, Output.of(lspci, "-s", "*:00.1").out().lines().count());
    assertEquals(1, Output.of(lspci, "-s", ".0").out().lines().count());
    assertEquals(2, Output.of(lspci, "-s", "00").out().lines().count());
    assertEquals(1, Output.of(lspci, "-d", "::0b20:2").out().lines().count());
    assertEquals(0, Output.of(lspci, "-d", "15b3:1019").out().lines().count());
  }

  @Test
  void mistakes() {
    assertEquals(new Output(1, "", "lspci: -s: Invalid slot number\n"), Output.of(lspci, "-s", "3:20"));
    assertEquals(new Output(1, "", "lspci: -s: Invalid bus number\n"), Output.of(lspci, "-s", "100:0"));
    assertEquals(new Output(1, "", "lspci: -s: Invalid function number\n"), Output.of(lspci, "-s", "3:0.8"));
    assertEquals(new Output(1, "", "lspci: -d: ':' expected\n"), Output.of(lspci, "-d", "15b3"));
    assertEquals(new Output(1, "", "lspci: -d: Invalid device ID\n"), Output.of(lspci, "-d", "15b3:x"));
    Output unknown = Output.of(lspci, "-y");
    assertEquals(1, unknown.status());
    assertTrue(unknown.err().startsWith("lspci: invalid option -- 'y'\nUsage: lspci [<switches>]\n"), unknown.err());
    assertTrue(Output.of(lspci, "more").err().startsWith("Usage: lspci"));
    assertEquals(
        new Output(1, "", "lspci: Cannot find any working access method.\n"), Output.of(new Lspci(null, PciIds.NONE)));
  }
}
