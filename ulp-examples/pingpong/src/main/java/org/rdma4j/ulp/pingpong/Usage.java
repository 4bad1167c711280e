package org.rdma4j.ulp.pingpong;

/** The help texts, which are those of rdma-core. */
final class Usage {
  private static final String HEAD =
      """
      Usage:
        %1$s            start a server and wait for connection
        %1$s <host>     connect to server at <host>

      Options:
        -p, --port=<port>      listen on/connect to port <port> (default 18515)
        -d, --ib-dev=<dev>     use IB device <dev> (default first device found)
        -i, --ib-port=<port>   use port <port> of IB device (default 1)
        -s, --size=<size>      size of message to exchange (default %2$d)
      """;

  private static final String MTU = "  -m, --mtu=<size>       path MTU (default 1024)\n";
  private static final String NUMBER_OF_QPS = "  -q, --num-qp=<num>     number of QPs to use (default 16)\n";
  private static final String DEPTH =
      "  -r, --rx-depth=<dep>   number of receives to post at a time (default 500)\n";
  private static final String ITERATIONS = "  -n, --iters=<iters>    number of exchanges (default 1000)\n";
  private static final String ITERATIONS_PER_QP =
      "  -n, --iters=<iters>    number of exchanges per QP(default 1000)\n";
  private static final String SERVICE_LEVEL = "  -l, --sl=<sl>          service level value\n";
  private static final String SERVICE_LEVEL_UD =
      "  -l, --sl=<SL>          send messages with service level <SL> (default 0)\n";
  private static final String EVENTS_AND_GID =
      """
        -e, --events           sleep on CQ events (default poll)
        -g, --gid-idx=<gid index> local port gid index
      """;

  private static final String ON_DEMAND = "  -o, --odp\t\t    use on demand paging\n";
  private static final String RC_ONLY =
      """
        -o, --odp\t\t    use on demand paging
        -O, --iodp\t\t    use implicit on demand paging
        -P, --prefetch\t    prefetch an ODP MR
        -t, --ts\t            get CQE with timestamp
        -c, --chk\t            validate received buffer
        -j, --dm\t            use device memory
        -N, --new_send            use new post send WR API
      """;

  private static final String CHECK = "  -c, --chk              validate received buffer\n";

  private Usage() {}

  static String of(Program program) {
    String head = String.format(HEAD, program.command(), program.defaultSize());
    return switch (program) {
      case RC -> head + MTU + DEPTH + ITERATIONS + SERVICE_LEVEL + EVENTS_AND_GID + RC_ONLY;
      case UC -> head + MTU + DEPTH + ITERATIONS + SERVICE_LEVEL + EVENTS_AND_GID + CHECK;
      case UD -> head + DEPTH + ITERATIONS + SERVICE_LEVEL_UD + EVENTS_AND_GID + CHECK;
      case SRQ ->
          head + MTU + NUMBER_OF_QPS + DEPTH + ITERATIONS_PER_QP + SERVICE_LEVEL + EVENTS_AND_GID + ON_DEMAND + CHECK;
    };
  }
}
