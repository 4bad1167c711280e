package org.rdma4j.provider.contract.command;

import java.util.List;
import org.apache.felix.service.command.CommandSession;

/** Takes a device out and brings it back as a person does, by commands of the shell. */
final class ShellPlug extends Devices.Unplugging {
  private final CommandSession session;
  private final String takeOut;
  private final String putBack;

  ShellPlug(CommandSession session, Devices devices, List<String> names, String takeOut, String putBack) {
    super(devices, names);
    this.session = session;
    this.takeOut = takeOut;
    this.putBack = putBack;
  }

  @Override
  void out() throws Exception {
    session.execute(takeOut);
  }

  @Override
  void in() throws Exception {
    session.execute(putBack);
  }
}
