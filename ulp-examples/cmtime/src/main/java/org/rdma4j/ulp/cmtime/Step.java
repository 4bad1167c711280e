package org.rdma4j.ulp.cmtime;

/** The steps of a connection, in their order. */
enum Step {
  CREATE_ID("create id", "creating id"),
  BIND("bind addr", "binding source address"),
  RESOLVE_ADDR("resolve addr", "resolving address"),
  RESOLVE_ROUTE("resolve route", "resolving route"),
  CREATE_QP("create qp", "creating qp"),
  CONNECT("connect", "connecting"),
  DISCONNECT("disconnect", "disconnecting"),
  DESTROY("destroy", "destroying id");

  private final String label;
  private final String progress;

  Step(String label, String progress) {
    this.label = label;
    this.progress = progress;
  }

  /** Its name in the table. */
  String label() {
    return label;
  }

  /** What is said when it begins. */
  String progress() {
    return progress;
  }
}
