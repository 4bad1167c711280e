package org.rdma4j.tools.launcher;

import org.apache.felix.gogo.jline.Shell;
import org.apache.felix.service.command.CommandProcessor;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.osgi.framework.BundleContext;

/** Gogo's shell with line editing, history and completion on this process's terminal. */
final class InteractiveShell {
  private static final String[] SHELL = {"gosh", "sh", "source", "help"};

  private final BundleContext context;
  private final CommandProcessor processor;

  InteractiveShell(BundleContext context, CommandProcessor processor) {
    this.context = context;
    this.processor = processor;
  }

  /** Reads and runs commands until the end of input or {@code exit}. */
  void run() throws Exception {
    var shell = new Shell(new Surroundings(), processor);
    ShellCommands.register(context, SHELL, () -> shell);
    ShellCommands.register(context, new String[] {"exit"}, () -> new Exit(shell));
    try (Terminal terminal =
            TerminalBuilder.builder()
                .name("rdma")
                .system(true)
                .nativeSignals(true)
                .signalHandler(Terminal.SignalHandler.SIG_IGN)
                .build();
        var session = processor.createSession(terminal.input(), terminal.output(), terminal.output())) {
      session.put(Shell.VAR_TERMINAL, terminal);
      shell.gosh(session, new String[] {"--login", "--noshutdown"});
    }
  }

  /** The command {@code exit}. */
  public record Exit(Shell shell) {
    /** Ends the shell once this command is done. */
    public void exit() {
      shell.stop();
    }
  }

  /** Where the shell finds its settings; who runs it stops the container. */
  private final class Surroundings implements Shell.Context {
    @Override
    public String getProperty(String name) {
      return context.getProperty(name);
    }

    @Override
    public void exit() {
      // The main program returns when the shell does.
    }
  }
}
