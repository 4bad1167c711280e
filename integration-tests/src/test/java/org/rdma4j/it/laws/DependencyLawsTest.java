package org.rdma4j.it.laws;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.rdma4j.it.BundleOnClassPath;

/** Who may know whom: the table and the laws of the design, on the compiled classes. */
class DependencyLawsTest {
  private static final String ROOT = "org.rdma4j.";

  /** What programs use that make connections. */
  private static final List<String> CONSUMER_OF_CONNECTIONS =
      List.of("org.rdma4j.ib.core", "org.rdma4j.rdma.cm", "org.rdma4j.ulp.command", "org.rdma4j.roce.address");

  /** For each bundle the packages (with all below) that its classes may use besides their own. */
  private static final Map<String, List<String>> MAY_USE =
      Map.ofEntries(
          Map.entry("org.rdma4j.pci", List.of()),
          Map.entry("org.rdma4j.mlx5.ifc", List.of()),
          Map.entry("org.rdma4j.mlx5.core", List.of("org.rdma4j.pci", "org.rdma4j.mlx5.ifc")),
          Map.entry(
              "org.rdma4j.mlx5.device", List.of("org.rdma4j.pci", "org.rdma4j.roce", "org.rdma4j.mlx5.ifc")),
          Map.entry("org.rdma4j.roce", List.of()),
          Map.entry("org.rdma4j.ib.core", List.of("org.rdma4j.roce.address", "org.rdma4j.roce.packet")),
          Map.entry("org.rdma4j.rxe", List.of("org.rdma4j.roce", "org.rdma4j.ib.core")),
          Map.entry(
              "org.rdma4j.mlx5.ib",
              List.of(
                  "org.rdma4j.ib.core", "org.rdma4j.mlx5.core", "org.rdma4j.mlx5.ifc", "org.rdma4j.roce.address")),
          Map.entry(
              "org.rdma4j.provider.contract",
              List.of("org.rdma4j.ib.core", "org.rdma4j.roce.address", "org.rdma4j.ulp.command")),
          Map.entry("org.rdma4j.rdma.cm", List.of("org.rdma4j.ib.core", "org.rdma4j.roce.address")),
          Map.entry("org.rdma4j.ulp.command", List.of()),
          Map.entry(
              "org.rdma4j.ulp.pingpong",
              List.of("org.rdma4j.ib.core", "org.rdma4j.roce.address", "org.rdma4j.ulp.command")),
          Map.entry(
              "org.rdma4j.ulp.demo",
              List.of("org.rdma4j.ib.core", "org.rdma4j.roce.address", "org.rdma4j.ulp.command")),
          Map.entry(
              "org.rdma4j.ulp.provider",
              List.of("org.rdma4j.ib.core", "org.rdma4j.roce.address", "org.rdma4j.roce.packet")),
          Map.entry("org.rdma4j.ulp.rping", CONSUMER_OF_CONNECTIONS),
          Map.entry("org.rdma4j.ulp.ucmatose", CONSUMER_OF_CONNECTIONS),
          Map.entry(
              "org.rdma4j.ulp.udaddy",
              List.of(
                  "org.rdma4j.ib.core", "org.rdma4j.rdma.cm", "org.rdma4j.ulp.command", "org.rdma4j.roce.address",
                  "org.rdma4j.roce.packet")),
          Map.entry("org.rdma4j.ulp.mckey", CONSUMER_OF_CONNECTIONS),
          Map.entry("org.rdma4j.ulp.cmtime", CONSUMER_OF_CONNECTIONS),
          Map.entry("org.rdma4j.ulp.rdmaclient", CONSUMER_OF_CONNECTIONS),
          Map.entry(
              "org.rdma4j.tools",
              List.of(
                  "org.rdma4j.ib.core", "org.rdma4j.rdma.cm", "org.rdma4j.roce", "org.rdma4j.ulp", "org.rdma4j.pci",
                  "org.rdma4j.mlx5.ifc", "org.rdma4j.mlx5.core", "org.rdma4j.mlx5.device")));

  private static final List<BundleOnClassPath> BUNDLES = BundleOnClassPath.ours();
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .importLocations(BUNDLES.stream().map(DependencyLawsTest::location).collect(Collectors.toSet()));

  @Test
  void everyBundleIsInTheTable() {
    assertEquals(
        new TreeSet<>(MAY_USE.keySet()),
        BUNDLES.stream().map(BundleOnClassPath::name).collect(Collectors.toCollection(TreeSet::new)));
  }

  @Test
  void bundlesUseOnlyWhatTheTableAllows() {
    assertNone(
        "use what the table does not allow",
        (user, used) -> {
          String bundle = bundleOf(user);
          return !isUnder(used, bundle) && MAY_USE.get(bundle).stream().noneMatch(allowed -> isUnder(used, allowed));
        });
  }

  @Test
  void nothingUsesAProvider() {
    for (String provider : List.of("org.rdma4j.rxe", "org.rdma4j.mlx5.ib", "org.rdma4j.ulp.provider")) {
      assertNone("use a provider", (user, used) -> isUnder(used, provider) && !isUnder(user, provider));
    }
  }

  @Test
  void onlyExportedPackagesAreUsedAcrossBundles() {
    Set<String> exported =
        BUNDLES.stream().flatMap(bundle -> bundle.exports().keySet().stream()).collect(Collectors.toSet());
    assertNone(
        "use a package that its bundle keeps private",
        (user, used) -> !bundleOf(user).equals(bundleOf(used)) && !exported.contains(used));
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching("org.rdma4j.(**)").should().beFreeOfCycles().check(CLASSES);
  }

  private static void assertNone(String what, BiPredicate<String, String> forbidden) {
    assertFalse(CLASSES.isEmpty(), "no class was found");
    String broken =
        CLASSES.stream()
            .map(JavaClass::getDirectDependenciesFromSelf)
            .flatMap(Set::stream)
            .filter(dependency -> dependency.getTargetClass().getPackageName().startsWith(ROOT))
            .filter(
                dependency ->
                    forbidden.test(
                        dependency.getOriginClass().getPackageName(), dependency.getTargetClass().getPackageName()))
            .map(Dependency::getDescription)
            .sorted()
            .collect(joining("\n"));
    assertEquals("", broken, () -> "classes that " + what);
  }

  private static Location location(BundleOnClassPath bundle) {
    Path path = bundle.location();
    return Files.isDirectory(path)
        ? Location.of(path)
        : Location.of(URI.create("jar:" + path.toUri() + "!/"));
  }

  private static String bundleOf(String packageName) {
    return MAY_USE.keySet().stream()
        .filter(bundle -> isUnder(packageName, bundle))
        .findFirst()
        .orElseThrow(() -> new AssertionError(packageName + " belongs to no bundle"));
  }

  private static boolean isUnder(String packageName, String parent) {
    return packageName.equals(parent) || packageName.startsWith(parent + ".");
  }
}
