package org.rdma4j.roce.engine;

/** Translates memory keys; called on the engine thread for every access. */
public interface KeyTable {
  /**
   * Looks a key up.
   *
   * @param key local or remote key
   * @return the memory whose local or remote key this may be, or null; the caller compares the whole key
   */
  RegisteredMemory find(int key);
}
