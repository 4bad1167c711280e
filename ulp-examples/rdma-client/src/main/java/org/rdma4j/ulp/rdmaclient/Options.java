package org.rdma4j.ulp.rdmaclient;

import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.UsageException;

/**
 * What was typed after the name of the program, over its defaults.
 *
 * @param server address of the server, to connect to or listen on
 * @param port its port, as number or name of a service
 */
record Options(String server, String port) {
  private static final String PORT = "7471";

  /**
   * Reads a command line.
   *
   * @param program the program, for messages
   * @param server where nothing else is said
   * @throws UsageException where it is not understood
   */
  static Options parse(String program, String server, String... arguments) throws UsageException {
    Getopt getopt = new Getopt(program, new Getopt.Option('s', null, true), new Getopt.Option('p', null, true));
    Options options = new Options(server, PORT);
    Getopt.Result result = getopt.parse(arguments);
    for (Getopt.Given given : result.options()) {
      options =
          given.letter() == 's'
              ? new Options(given.argument(), options.port)
              : new Options(options.server, given.argument());
    }
    if (!result.operands().isEmpty()) {
      throw new UsageException(program + ": unexpected operands: " + String.join(" ", result.operands()));
    }
    return options;
  }

  /** The help text, which is that of rdma-core. */
  static String usage(String program) {
    return "usage: " + program + "\n\t[-s server_address]\n\t[-p port_number]\n";
  }
}
