package org.rdma4j.it.peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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

  private static final Path JAR = Path.of("target", "cm-peer.jar").toAbsolutePath();

  private static String id;

  private CmPeerJar() {}

  /**
   * Starts a container that has the bundle and the device, and runs a script. The container's start level is below that
   * of bundles which come later, and a bundle's is set beside the script, so the bundle is installed long before it is
   * started.
   */
  static Running start(Rdma4j rdma, String name, List<String> commands) {
    String install = "felix:install " + JAR.toUri();
    String number = bundleId(rdma, install);
    List<String> script = new ArrayList<>(List.of("felix:start " + number));
    script.addAll(commands);
    return rdma.startScript(name, List.of(install, "felix:bundlelevel -s 1 " + number), script);
  }

  /** The number that the bundle has in every container. */
  private static synchronized String bundleId(Rdma4j rdma, String install) {
    if (id == null) {
      write();
      String output = rdma.startScript("cm-peer-bundle", List.of(), List.of(install)).await(LIMIT).ok().output();
      Matcher said = BUNDLE_ID.matcher(output);
      if (!said.find()) {
        throw new PeerException("the bundle is not installed:\n" + output);
      }
      id = said.group(1);
    }
    return id;
  }

  private static void write() {
    Manifest manifest = new Manifest();
    Attributes main = manifest.getMainAttributes();
    main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    main.putValue("Bundle-ManifestVersion", "2");
    main.putValue("Bundle-SymbolicName", "org.rdma4j.it.peer.cm");
    main.putValue("Bundle-Activator", "org.rdma4j.it.peer.cm.CmPeerBundle");
    main.putValue("Import-Package", IMPORTS);
    try (Stream<Path> files = Files.list(CLASSES.resolve(PACKAGE));
        JarOutputStream out = new JarOutputStream(Files.newOutputStream(JAR), manifest)) {
      for (Path each : files.toList()) {
        out.putNextEntry(new ZipEntry(PACKAGE + "/" + each.getFileName()));
        Files.copy(each, out);
      }
    } catch (IOException e) {
      throw new PeerException("cannot write " + JAR, e);
    }
  }
}
