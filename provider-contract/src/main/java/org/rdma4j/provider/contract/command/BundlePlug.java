package org.rdma4j.provider.contract.command;

import java.util.List;
import org.osgi.framework.Bundle;

/** Stops the bundle of the provider, and starts it. */
final class BundlePlug extends Devices.Unplugging {
  private final Bundle provider;

  BundlePlug(Devices devices, List<String> names, Bundle provider) {
    super(devices, names);
    this.provider = provider;
  }

  @Override
  void out() throws Exception {
    provider.stop(Bundle.STOP_TRANSIENT);
  }

  @Override
  void in() throws Exception {
    provider.start(Bundle.START_TRANSIENT);
  }
}
