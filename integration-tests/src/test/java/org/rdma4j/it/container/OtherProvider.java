package org.rdma4j.it.container;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.rdma4j.it.BundleOnClassPath;

/**
 * The provider's bundle as a stream to install or update from: as it is, or as another provider's that has the same
 * code under a name and a configuration PID of its own.
 */
final class OtherProvider {
  static final String SYMBOLIC_NAME = "org.example.rxe";

  private static final String ORIGINAL = "org.rdma4j.rxe";

  private OtherProvider() {}

  /** The provider as it is. */
  static byte[] original() throws IOException {
    BundleOnClassPath found = BundleOnClassPath.all().get(ORIGINAL);
    return jar(found.manifest(), files(found.location()));
  }

  /** The same code as a provider of somebody else. */
  static byte[] renamed() throws IOException {
    BundleOnClassPath found = BundleOnClassPath.all().get(ORIGINAL);
    var manifest = new Manifest(found.manifest());
    Attributes main = manifest.getMainAttributes();
    main.putValue("Bundle-SymbolicName", SYMBOLIC_NAME);
    Map<String, byte[]> files = files(found.location());
    files.replaceAll(OtherProvider::rename);
    return jar(manifest, files);
  }

  static InputStream stream(byte[] jar) {
    return new ByteArrayInputStream(jar);
  }

  private static byte[] rename(String path, byte[] content) {
    if (!path.startsWith("OSGI-INF/")) {
      return content;
    }
    String text = new String(content, StandardCharsets.UTF_8);
    return text.replaceAll("(name|id|pid|factoryPid|configuration-pid)=\"" + ORIGINAL + "\"",
            "$1=\"" + SYMBOLIC_NAME + "\"")
        .getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] jar(Manifest manifest, Map<String, byte[]> files) throws IOException {
    var bytes = new ByteArrayOutputStream();
    try (var jar = new JarOutputStream(bytes, manifest)) {
      for (Map.Entry<String, byte[]> each : files.entrySet()) {
        jar.putNextEntry(new ZipEntry(each.getKey()));
        jar.write(each.getValue());
      }
    }
    return bytes.toByteArray();
  }

  private static Map<String, byte[]> files(Path location) throws IOException {
    var files = new LinkedHashMap<String, byte[]>();
    if (Files.isDirectory(location)) {
      try (Stream<Path> all = Files.walk(location)) {
        for (Path each : all.filter(Files::isRegularFile).toList()) {
          files.put(location.relativize(each).toString(), Files.readAllBytes(each));
        }
      }
    } else {
      try (var jar = new JarFile(location.toFile())) {
        for (var entry : jar.stream().filter(each -> !each.isDirectory()).toList()) {
          files.put(entry.getName(), jar.getInputStream(entry).readAllBytes());
        }
      }
    }
    files.remove(JarFile.MANIFEST_NAME);
    return files;
  }
}
