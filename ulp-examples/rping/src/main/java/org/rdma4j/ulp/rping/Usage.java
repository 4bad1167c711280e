package org.rdma4j.ulp.rping;

/** The help text, which is that of rdma-core. */
final class Usage {
  static final String TEXT =
      """
      rping -s [-vVd] [-S size] [-C count] [-a addr] [-p port]
      rping -c [-vVd] [-S size] [-C count] [-I addr] -a addr [-p port]
      \t-c\t\tclient side
      \t-I\t\tSource address to bind to for client.
      \t-s\t\tserver side.  To bind to any address with IPv6 use -a ::0
      \t-v\t\tdisplay ping data to stdout
      \t-V\t\tvalidate ping data
      \t-d\t\tdebug printfs
      \t-S size \tping data size
      \t-C count\tping count times
      \t-a addr\t\taddress
      \t-p port\t\tport
      \t-P\t\tpersistent server mode allowing multiple connections
      \t-q\t\tuse self-created, self-modified QP
      """;

  private Usage() {}
}
