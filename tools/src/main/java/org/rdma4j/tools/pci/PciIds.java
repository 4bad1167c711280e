package org.rdma4j.tools.pci;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The machine's list of PCI names, {@code pci.ids} (format: pciutils, {@code pci.ids(5)}). Without a list nothing has a
 * name here.
 */
final class PciIds {
  /** Where distributions keep the list. */
  static final List<Path> PLACES = List.of(Path.of("/usr/share/misc/pci.ids"), Path.of("/usr/share/hwdata/pci.ids"));

  /** A list without names. */
  static final PciIds NONE = new PciIds();

  private static final String CLASS = "C ";
  private static final int VENDOR_DIGITS = 4;

  private final Map<String, String> names = new HashMap<>();

  private PciIds() {}

  /** Reads the first list that is there; one that cannot be read is as good as none. */
  static PciIds ofMachine() {
    return PLACES.stream().filter(Files::isReadable).findFirst().map(PciIds::read).orElse(NONE);
  }

  private static PciIds read(Path file) {
    PciIds ids = new PciIds();
    try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      ids.read(lines);
    } catch (MalformedInputException e) {
      return ids;
    } catch (IOException e) {
      return NONE;
    }
    return ids;
  }

  private void read(BufferedReader lines) throws IOException {
    String[] path = {"", "", ""};
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      int depth = line.startsWith("\t\t") ? 2 : line.startsWith("\t") ? 1 : 0;
      int split = line.indexOf("  ", depth);
      if (split < 0 || line.charAt(depth) == '#') {
        continue;
      }
      String id = line.substring(depth, split);
      boolean known = depth > 0 || id.length() == VENDOR_DIGITS || id.startsWith(CLASS);
      path[depth] = known ? id : "";
      if (!path[0].isEmpty()) {
        names.put(String.join("/", List.of(path).subList(0, depth + 1)), line.substring(split).strip());
      }
    }
  }

  Optional<String> vendor(int vendor) {
    return name("%04x".formatted(vendor));
  }

  Optional<String> device(int vendor, int device) {
    return name("%04x/%04x".formatted(vendor, device));
  }

  Optional<String> subsystem(int vendor, int device, int subsystemVendor, int subsystem) {
    return name("%04x/%04x/%04x %04x".formatted(vendor, device, subsystemVendor, subsystem));
  }

  Optional<String> baseClass(int number) {
    return name(CLASS + "%02x".formatted(number));
  }

  /** The name of a class and subclass, 16 bits. */
  Optional<String> subclass(int number) {
    return name(CLASS + "%02x/%02x".formatted(number >> Byte.SIZE, number & 0xff));
  }

  Optional<String> programming(int number, int programming) {
    return name(CLASS + "%02x/%02x/%02x".formatted(number >> Byte.SIZE, number & 0xff, programming));
  }

  private Optional<String> name(String path) {
    return Optional.ofNullable(names.get(path));
  }
}
