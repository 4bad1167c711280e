package org.rdma4j.ib.core.internal;

import org.rdma4j.ib.core.client.DeviceClient;

/** A registered client: its place in the order, and whether it is going. */
final class ClientEntry implements Comparable<ClientEntry> {
  private final DeviceClient client;
  private final String bundle;
  private final int ranking;
  private final long serviceId;
  private final String name;
  private volatile boolean gone;

  ClientEntry(DeviceClient client, String bundle, int ranking, long serviceId) {
    this.client = client;
    this.bundle = bundle;
    this.ranking = ranking;
    this.serviceId = serviceId;
    this.name = nameOf(client);
  }

  private static String nameOf(DeviceClient client) {
    try {
      return String.valueOf(client.name());
    } catch (RuntimeException | Error e) {
      return client.getClass().getName();
    }
  }

  DeviceClient client() {
    return client;
  }

  String bundle() {
    return bundle;
  }

  String name() {
    return name;
  }

  boolean isGone() {
    return gone;
  }

  void go() {
    gone = true;
  }

  /** Higher ranking first, then by order of registration. */
  @Override
  public int compareTo(ClientEntry other) {
    int byRanking = Integer.compare(other.ranking, ranking);
    return byRanking != 0 ? byRanking : Long.compare(serviceId, other.serviceId);
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }

  @Override
  public String toString() {
    return "client " + name + " of bundle " + bundle;
  }
}
