package org.rdma4j.provider.contract.command;

import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.List;
import org.apache.felix.service.command.CommandProcessor;
import org.apache.felix.service.command.CommandSession;

/** Takes a device out and brings it back as a person does, by commands of the shell, each in a session of its own. */
final class ShellPlug extends Devices.Unplugging {
  private final CommandProcessor shell;
  private final PrintStream err;
  private final String takeOut;
  private final String putBack;

  ShellPlug(
      CommandProcessor shell, PrintStream err, Devices devices, List<String> names, String takeOut, String putBack) {
    super(devices, names);
    this.shell = shell;
    this.err = err;
    this.takeOut = takeOut;
    this.putBack = putBack;
  }

  /** What the command prints would be in the way of the report, so only its errors are shown. */
  private void execute(String command) throws Exception {
    try (CommandSession session =
        shell.createSession(InputStream.nullInputStream(), OutputStream.nullOutputStream(), err)) {
      session.execute(command);
    }
  }

  @Override
  void out() throws Exception {
    execute(takeOut);
  }

  @Override
  void in() throws Exception {
    execute(putBack);
  }
}
