package org.rdma4j.ib.core.internal;

/**
 * How patient the core is, and what it notes.
 *
 * @param clientWarnMillis after how long a client that does not return is named in the log
 * @param clientLimitMillis after how long it is left behind
 * @param providerWarnMillis after how long a provider that does not end an object is named in the log
 * @param providerLimitMillis after how long it is left behind
 * @param creationSites whether objects remember who made them
 */
record Settings(
    long clientWarnMillis,
    long clientLimitMillis,
    long providerWarnMillis,
    long providerLimitMillis,
    boolean creationSites) {
  Settings(long clientWarnMillis, long clientLimitMillis, long providerWarnMillis, long providerLimitMillis) {
    this(clientWarnMillis, clientLimitMillis, providerWarnMillis, providerLimitMillis, true);
  }

  /** Takes at least a millisecond for each. */
  Settings {
    providerWarnMillis = Math.max(1, providerWarnMillis);
    providerLimitMillis = Math.max(1, providerLimitMillis);
    clientWarnMillis = Math.max(1, clientWarnMillis);
    clientLimitMillis = Math.max(1, clientLimitMillis);
  }

  static final Settings DEFAULT = new Settings(5_000, 30_000, 5_000, 30_000);
}
