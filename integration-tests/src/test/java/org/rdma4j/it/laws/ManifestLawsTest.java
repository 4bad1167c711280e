package org.rdma4j.it.laws;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.rdma4j.it.BundleOnClassPath;

/** What the built bundles promise to the container. */
class ManifestLawsTest {
  /** Bundles that export nothing: providers, commands and examples, which nobody compiles against. */
  private static final Set<String> PRIVATE =
      Set.of(
          "org.rdma4j.rxe",
          "org.rdma4j.tools",
          "org.rdma4j.ulp.pingpong",
          "org.rdma4j.ulp.demo",
          "org.rdma4j.ulp.provider",
          "org.rdma4j.ulp.rping",
          "org.rdma4j.ulp.ucmatose",
          "org.rdma4j.ulp.udaddy",
          "org.rdma4j.ulp.mckey",
          "org.rdma4j.ulp.cmtime",
          "org.rdma4j.ulp.rdmaclient");

  private static final Pattern DOCUMENTED = Pattern.compile("<exported.packages>([^<]+)</exported.packages>");

  @Test
  void everyExportedPackageHasAVersion() {
    forEachBundle(
        bundle ->
            bundle
                .exports()
                .forEach(
                    (name, version) ->
                        assertFalse(version.startsWith("0.0.0"), name + " of " + bundle.name() + " has no version")));
  }

  @Test
  void importsAmongOurBundlesHaveARange() {
    forEachBundle(
        bundle ->
            bundle
                .imports()
                .forEach(
                    (name, version) ->
                        assertTrue(
                            !name.startsWith("org.rdma4j.") || version.startsWith("["),
                            bundle.name() + " imports " + name + " in any version")));
  }

  @Test
  void noBundleImportsAProvider() {
    forEachBundle(
        bundle ->
            assertEquals(
                List.of(),
                bundle.imports().keySet().stream().filter(name -> name.startsWith("org.rdma4j.rxe")).toList(),
                bundle.name()));
  }

  @Test
  void privateBundlesExportNothing() {
    forEachBundle(
        bundle -> assertTrue(!PRIVATE.contains(bundle.name()) || bundle.exports().isEmpty(), bundle.name()));
  }

  @Test
  void noPackageIsInTwoBundles() {
    var seen = new TreeSet<String>();
    forEachBundle(
        bundle ->
            bundle.packages().forEach(name -> assertTrue(seen.add(name), name + " is in two bundles")));
  }

  @Test
  void everyExportedPackageIsUnderDoclint() {
    Set<String> patterns = documented();
    forEachBundle(
        bundle ->
            bundle
                .exports()
                .keySet()
                .forEach(
                    name ->
                        assertTrue(
                            patterns.stream().anyMatch(pattern -> covers(pattern, name)),
                            name + " is exported, but not in exported.packages of its pom.xml")));
  }

  private static void forEachBundle(Consumer<BundleOnClassPath> check) {
    List<BundleOnClassPath> bundles = BundleOnClassPath.ours();
    assertFalse(bundles.isEmpty(), "no bundle was found");
    assertAll(bundles.stream().map(bundle -> () -> check.accept(bundle)));
  }

  private static Set<String> documented() {
    try (Stream<Path> files = Files.walk(Path.of(".."), 3)) {
      return files
          .filter(file -> file.endsWith("pom.xml"))
          .map(ManifestLawsTest::read)
          .flatMap(text -> DOCUMENTED.matcher(text).results())
          .flatMap(match -> Stream.of(match.group(1).split(",")))
          .map(String::trim)
          .collect(Collectors.toSet());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static boolean covers(String pattern, String name) {
    return pattern.endsWith(".*")
        ? name.startsWith(pattern.substring(0, pattern.length() - 1))
        : pattern.equals(name);
  }
}
