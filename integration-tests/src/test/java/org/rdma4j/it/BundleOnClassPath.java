package org.rdma4j.it;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.stream.Stream;

/**
 * A bundle that the tests have on their class path.
 *
 * @param name its symbolic name
 * @param location its jar, or the folder it is built from
 * @param manifest what bnd has written
 */
public record BundleOnClassPath(String name, Path location, Manifest manifest) {
  private static final String OURS = "org.rdma4j.";

  /** All bundles there are, by symbolic name. */
  public static Map<String, BundleOnClassPath> all() {
    var found = new TreeMap<String, BundleOnClassPath>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Manifest manifest = manifestOf(Path.of(entry));
      String name = manifest == null ? null : manifest.getMainAttributes().getValue("Bundle-SymbolicName");
      if (name != null) {
        String symbolicName = name.split(";")[0].trim();
        found.putIfAbsent(symbolicName, new BundleOnClassPath(symbolicName, Path.of(entry), manifest));
      }
    }
    return found;
  }

  /** The bundles of this project. */
  public static List<BundleOnClassPath> ours() {
    return all().values().stream().filter(b -> b.name.startsWith(OURS)).toList();
  }

  /** The packages it exports, each with its version ("0.0.0" when it has none). */
  public Map<String, String> exports() {
    return clauses("Export-Package");
  }

  /** The packages it imports, each with the version range. */
  public Map<String, String> imports() {
    return clauses("Import-Package");
  }

  /** The packages that have classes in it. */
  public Set<String> packages() {
    var found = new TreeSet<String>();
    try {
      if (Files.isDirectory(location)) {
        try (Stream<Path> files = Files.walk(location)) {
          files.map(file -> location.relativize(file).toString()).forEach(path -> addPackage(found, path));
        }
      } else {
        try (var jar = new JarFile(location.toFile())) {
          jar.stream().forEach(entry -> addPackage(found, entry.getName()));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  private static void addPackage(Set<String> packages, String path) {
    int end = path.lastIndexOf('/');
    if (path.endsWith(".class") && end > 0) {
      packages.add(path.substring(0, end).replace('/', '.'));
    }
  }

  private static Manifest manifestOf(Path entry) {
    if (!Files.exists(entry)) {
      return null;
    }
    try {
      if (Files.isDirectory(entry)) {
        Path file = entry.resolve(JarFile.MANIFEST_NAME);
        if (!Files.exists(file)) {
          return null;
        }
        try (InputStream in = Files.newInputStream(file)) {
          return new Manifest(in);
        }
      }
      try (var jar = new JarFile(entry.toFile())) {
        return jar.getManifest();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Map<String, String> clauses(String header) {
    var found = new TreeMap<String, String>();
    String value = manifest.getMainAttributes().getValue(header);
    for (String clause : value == null ? List.<String>of() : split(value, ',')) {
      List<String> parts = split(clause, ';');
      String version = "0.0.0";
      for (String part : parts) {
        if (part.startsWith("version=")) {
          version = part.substring("version=".length()).replace("\"", "");
        }
      }
      found.put(parts.getFirst(), version);
    }
    return found;
  }

  private static List<String> split(String text, char separator) {
    var parts = new ArrayList<String>();
    boolean quoted = false;
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"') {
        quoted = !quoted;
      } else if (c == separator && !quoted) {
        parts.add(text.substring(start, i).trim());
        start = i + 1;
      }
    }
    parts.add(text.substring(start).trim());
    return parts;
  }
}
