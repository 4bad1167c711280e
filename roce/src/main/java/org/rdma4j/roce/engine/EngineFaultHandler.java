package org.rdma4j.roce.engine;

/** Is told of exceptions that no code of the engine expects; they never stop it. */
@FunctionalInterface
public interface EngineFaultHandler {
  /**
   * Something went wrong. Called on the engine thread, once for each exception.
   *
   * @param where what was being done, for a log
   * @param cause the exception
   */
  void onFault(String where, Throwable cause);
}
