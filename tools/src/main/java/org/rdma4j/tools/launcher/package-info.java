/**
 * The main program: {@code ./rdma COMMAND ARGS...} runs one command in a fresh container and exits with its status,
 * {@code ./rdma} alone is the shell.
 *
 * <h2>What a command keeps to</h2>
 *
 * A command is a public method of a service with the properties {@code osgi.command.scope=rdma} and {@code
 * osgi.command.function=NAME}, best of the form {@code void NAME(String[] arguments)}. Gogo's own process is its
 * surroundings, so that it works the same in the shell, in a script and from {@code ./rdma}, and no bundle has to
 * import this one:
 *
 * <pre>{@code
 * Process process = Process.Utils.current(); // org.apache.felix.service.command.Process
 * process.out().println(...);                // what it has to say
 * process.err().println("ibv_devinfo: ..."); // what went wrong, as NAME: MESSAGE
 * process.error(1);                          // its exit status, 0 when never called
 * }</pre>
 *
 * {@code org.rdma4j.ulp.command.Command} does this for programs that return their status. A method that returns an
 * {@code int} returns its status too. An exception that leaves the method is a failure: its message is printed as
 * {@code NAME: MESSAGE}, the status is 1. Arguments arrive as they were typed: blanks, quotes and leading dashes are
 * kept. A script goes on after a command that set a status, as {@code sh} does, and ends at one that threw; its status
 * is that of the first failure, and it ends when its background commands have.
 */
package org.rdma4j.tools.launcher;
