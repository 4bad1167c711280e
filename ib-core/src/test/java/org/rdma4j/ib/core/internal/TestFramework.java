package org.rdma4j.ib.core.internal;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.apache.felix.framework.FrameworkFactory;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.launch.Framework;

/** A framework in this JVM, with empty bundles whose contexts the tests use. */
final class TestFramework {
  private static final long STOP_MILLIS = 30_000;

  private final Framework framework;

  TestFramework(Path storage) throws BundleException {
    framework =
        new FrameworkFactory()
            .newFramework(Map.of(Constants.FRAMEWORK_STORAGE, storage.toString(), "felix.log.level", "0"));
    framework.start();
  }

  BundleContext context() {
    return framework.getBundleContext();
  }

  /** A started bundle without content. */
  Bundle bundle(String symbolicName) throws BundleException, IOException {
    Manifest manifest = new Manifest();
    Attributes main = manifest.getMainAttributes();
    main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    main.putValue(Constants.BUNDLE_MANIFESTVERSION, "2");
    main.putValue(Constants.BUNDLE_SYMBOLICNAME, symbolicName);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new JarOutputStream(bytes, manifest).close();
    Bundle bundle =
        context().installBundle("test:" + symbolicName, new ByteArrayInputStream(bytes.toByteArray()));
    bundle.start();
    return bundle;
  }

  void stop() throws BundleException, InterruptedException {
    framework.stop();
    framework.waitForStop(STOP_MILLIS);
  }
}
