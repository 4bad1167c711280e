package org.rdma4j.it.container;

import java.util.Arrays;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;

/** Finds bundles. */
final class Bundles {
  private Bundles() {}

  static Bundle named(BundleContext context, String symbolicName) {
    return Arrays.stream(context.getBundles())
        .filter(bundle -> symbolicName.equals(bundle.getSymbolicName()))
        .findFirst()
        .orElseThrow();
  }

  /** Starts what a test has stopped and, because it failed, not started again. */
  static void startAll(BundleContext context) throws BundleException {
    for (Bundle each : context.getBundles()) {
      if (each.getHeaders().get(Constants.FRAGMENT_HOST) == null) {
        each.start();
      }
    }
  }
}
