package org.rdma4j.it.peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/** The bundle of the package {@code cm}, made from the classes of these tests. */
final class CmPeerJar {
  private static final String PACKAGE = "org/rdma4j/it/peer/cm";
  private static final Path CLASSES = Path.of("target", "test-classes");
  private static final String IMPORTS =
      "org.osgi.framework,org.apache.felix.service.command,org.rdma4j.rdma.cm,org.rdma4j.ib.core.verbs";

  private static final Pattern BUNDLE_ID = Pattern.compile("Bundle ID: (\\d+)");
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static List<String> commands = List.of();

  private CmPeerJar() {}

  /**
   * Writes the bundle and gives the shell's commands that install and start it. The container's start level is below
   * that of bundles which come later.
   */
  static synchronized List<String> startCommands(Rdma4j rdma) {
    if (commands.isEmpty()) {
      String install = "felix:install " + jar().toUri();
      String output = rdma.startScript("cm-peer-bundle", List.of(install)).await(LIMIT).ok().output();
      Matcher id = BUNDLE_ID.matcher(output);
      if (!id.find()) {
        throw new PeerException("the bundle is not installed:\n" + output);
      }
      // The number that it has in every container.
      commands = List.of(install, "felix:bundlelevel -s 1 " + id.group(1), "felix:start " + id.group(1));
    }
    return commands;
  }

  private static Path jar() {
    Path jar = Path.of("target", "cm-peer.jar").toAbsolutePath();
    Manifest manifest = new Manifest();
    Attributes main = manifest.getMainAttributes();
    main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    main.putValue("Bundle-ManifestVersion", "2");
    main.putValue("Bundle-SymbolicName", "org.rdma4j.it.peer.cm");
    main.putValue("Bundle-Activator", "org.rdma4j.it.peer.cm.CmPeerBundle");
    main.putValue("Import-Package", IMPORTS);
    try (Stream<Path> files = Files.list(CLASSES.resolve(PACKAGE));
        JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
      for (Path each : files.toList()) {
        out.putNextEntry(new ZipEntry(PACKAGE + "/" + each.getFileName()));
        Files.copy(each, out);
      }
    } catch (IOException e) {
      throw new PeerException("cannot write " + jar, e);
    }
    return jar;
  }
}
