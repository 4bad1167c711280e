package org.rdma4j.it.container;

import static org.ops4j.pax.exam.CoreOptions.bundle;
import static org.ops4j.pax.exam.CoreOptions.composite;
import static org.ops4j.pax.exam.CoreOptions.frameworkProperty;
import static org.ops4j.pax.exam.CoreOptions.junitBundles;
import static org.ops4j.pax.exam.CoreOptions.systemPackages;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.ops4j.pax.exam.Option;
import org.ops4j.pax.exam.options.UrlProvisionOption;
import org.rdma4j.it.BundleOnClassPath;

/** What a test in Felix installs: the bundles that the product's bndrun names, from the class path of the tests. */
final class Installed {
  /** Where FileInstall looks for configuration files while a test runs. */
  static final Path DEVICES = Path.of("target/devices").toAbsolutePath();

  private static final Pattern CLAUSE = Pattern.compile("([\\w.-]+);version=");

  /** Takes the terminal when it is started; the product does not start it either. */
  private static final String SHELL = "org.apache.felix.gogo.jline";

  private Installed() {}

  static Option product() throws IOException {
    var run = new Properties();
    try (Reader in = Files.newBufferedReader(Path.of("../cnf/rdma.bndrun"))) {
      run.load(in);
    }
    Map<String, BundleOnClassPath> available = BundleOnClassPath.all();
    Option[] bundles =
        CLAUSE.matcher(run.getProperty("-runbundles", "")).results()
            .map(clause -> installed(clause.group(1), available))
            .toArray(Option[]::new);
    if (bundles.length == 0) {
      throw new IllegalStateException("cnf/rdma.bndrun names no bundles");
    }
    return composite(
        composite(bundles),
        systemPackages(
            "org.slf4j;version=2.0.17",
            "org.slf4j.event;version=2.0.17",
            "org.slf4j.spi;version=2.0.17",
            "ch.qos.logback.classic;version=1.5.38",
            "ch.qos.logback.classic.spi;version=1.5.38",
            "ch.qos.logback.core;version=1.5.38"),
        frameworkProperty("felix.fileinstall.dir").value(Files.createDirectories(DEVICES).toString()),
        frameworkProperty("felix.fileinstall.poll").value("200"),
        frameworkProperty("felix.fileinstall.filter").value(".*\\.cfg"),
        frameworkProperty("felix.fileinstall.enableConfigSave").value("false"),
        frameworkProperty("felix.fileinstall.log.default").value("jul"),
        frameworkProperty("org.ops4j.pax.logging.DefaultServiceLog.level").value("WARN"),
        junitBundles());
  }

  private static Option installed(String name, Map<String, BundleOnClassPath> available) {
    BundleOnClassPath found = available.get(name);
    if (found == null) {
      throw new IllegalStateException(name + " is in cnf/rdma.bndrun but not on the class path of the tests");
    }
    UrlProvisionOption option = bundle("reference:" + found.location().toUri());
    return name.equals(SHELL) ? option.noStart() : option;
  }
}
