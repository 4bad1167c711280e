package org.rdma4j.it.container;

import java.util.Arrays;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;

/** Finds bundles. */
final class Bundles {
  private Bundles() {}

  static Bundle named(BundleContext context, String symbolicName) {
    return Arrays.stream(context.getBundles())
        .filter(bundle -> symbolicName.equals(bundle.getSymbolicName()))
        .findFirst()
        .orElseThrow();
  }
}
