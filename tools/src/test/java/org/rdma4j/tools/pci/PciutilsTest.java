package org.rdma4j.tools.pci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.pci.PciIdentity;
import org.rdma4j.tools.Output;

/**
 * Lets the real lspci read our dump of configuration spaces full of random bits ({@code lspci -F}) and compares what
 * both make of them. The real one cannot know sizes and drivers from a dump.
 */
class PciutilsTest {
  private static final long SEED = 0x9c1;
  private static final int FUNCTIONS = 31;
  private static final Path REAL = Path.of("/usr/bin/lspci");

  @TempDir private Path folder;

  @BeforeAll
  static void needed() {
    assumeTrue(Files.isExecutable(REAL), "lspci is not installed (Debian package pciutils): nothing to compare with");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "-n", "-nn", "-v", "-v -n", "-v -nn", "-vv", "-vvv -n", "-x", "-xxx", "-xxxx", "-m", "-mm", "-mm -n",
        "-m -nn", "-vm", "-vmm", "-vmm -nn", "-D", "-s 3:1e", "-s 3: -v", "-d 15b3:", "-d ::0200 -n"
      })
  void bothSayTheSame(String options) throws Exception {
    Random random = new Random(SEED);
    List<ListedFunction> functions = new ArrayList<>();
    for (int slot = 0; slot < FUNCTIONS; slot++) {
      functions.add(arbitrary("0000:03:%02x.0".formatted(slot), random));
    }
    compare(functions, options);
  }

  @ParameterizedTest
  @ValueSource(strings = {"-v", "-vv"})
  void capabilitiesThatGoNowhere(String options) throws Exception {
    List<ListedFunction> functions = new ArrayList<>();
    for (int link : new int[] {0x0001, 0x4001, 0x60ff, 0xffff, 0x6000, 0x0015, 0x6015, 0x0009, 0x9c01, 0x9e01}) {
      ListedFunction function = plain("0000:03:%02x.0".formatted(functions.size()), 0x15b3, 0x1019, 0x020000);
      function.put(0x34, 1, 0x40);
      function.put(0x40, 2, link);
      functions.add(function);
    }
    compare(functions, options);
  }

  @Test
  void everyPowerOfASlot() throws Exception {
    List<ListedFunction> functions = new ArrayList<>();
    for (int value : new int[] {0, 1, 10, 0xef, 0xf0, 0xf5, 0xfe, 0xff}) {
      for (int scale = 0; scale < 3; scale++) {
        ListedFunction function = plain("0000:03:%02x.0".formatted(functions.size()), 0x15b3, 0x1019, 0x020000);
        function.put(0x64, 4, value << 18 | scale << 26);
        functions.add(function);
      }
    }
    compare(functions, "-vv");
  }

  private static ListedFunction arbitrary(String address, Random random) {
    int[] vendors = {0x15b3, 0x8086, 0xfffe};
    int[] devices = {0x1019, 0x1017, 0xfff1};
    int[] classes = {0x020000, 0x020700, 0x02fe00, 0x010802, 0x0c0330, 0xfe0000};
    ListedFunction function =
        plain(
            address, vendors[random.nextInt(vendors.length)], devices[random.nextInt(devices.length)],
            classes[random.nextInt(classes.length)]);
    function.put(0x04, 2, random.nextInt() & ~0xa0);
    function.put(0x06, 2, random.nextInt() | 0x10);
    function.put(0x08, 1, random.nextInt(3));
    function.put(0x0c, 2, random.nextInt());
    function.put(0x3c, 1, random.nextInt(256));
    function.put(0x3d, 1, random.nextInt(5));
    function.put(0x3e, 2, random.nextInt());
    function.put(0x42, 2, random.nextInt());
    function.put(0x44, 2, random.nextInt());
    function.put(0x62, 2, random.nextInt() & 0xfe00 | random.nextInt(2) << 4 | 1 + random.nextInt(2));
    for (int at = 0x64; at < 0x9c; at += 2) {
      function.put(at, 2, random.nextInt());
    }
    function.put(0x64 + 3, 1, random.nextInt() & 0xf3);
    function.put(0x9e, 2, random.nextInt());
    function.put(0xa0, 4, random.nextInt());
    function.put(0xa4, 4, random.nextInt());
    return function;
  }

  private static ListedFunction plain(String address, int vendor, int device, int classCode) {
    ListedFunction function =
        new ListedFunction(address, new PciIdentity(vendor, device, 0x15b3, 0x0008, classCode, 0, null, null), null);
    function.put(0x14, 4, 0);
    return function;
  }

  /** What a function is in detail other versions say in other words. */
  private static void assumeSameForms(String options) throws IOException {
    if (options.contains("v") && !options.contains("m")) {
      Process process = new ProcessBuilder(REAL.toString(), "--version").start();
      String version = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      assumeTrue(version.contains("version 3.9."), "forms are those of lspci 3.9; here is " + version);
    }
  }

  private void compare(List<ListedFunction> functions, String options) throws IOException, InterruptedException {
    assumeSameForms(options);
    Lspci ours = new Lspci(new ListedBus(List.copyOf(functions)), PciIds.ofMachine());
    Path dump = Files.writeString(folder.resolve("dump"), Output.of(ours, "-xxxx", "-n").out());
    String[] arguments = options.isEmpty() ? new String[0] : options.split(" ");
    List<String> command = new ArrayList<>(List.of(REAL.toString(), "-O", "hwdb.disable=1", "-F", dump.toString()));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String real = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor());
    String said = Output.of(ours, arguments).out().replaceAll(" \\[size=\\d+[KMGT]?]", "");
    assertEquals(real, said, "seed " + SEED + ", lspci " + options);
  }
}
