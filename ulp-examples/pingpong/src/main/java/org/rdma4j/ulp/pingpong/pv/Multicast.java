package org.rdma4j.ulp.pingpong.pv;

import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.rdma4j.ib.core.verbs.AddressHandle;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.WrOpcode;
import org.rdma4j.roce.address.Gid;

/**
 * The scenario "mcast", in which the sides do not know of each other: the server attaches two queue pairs to the group
 * {@code --host}, the client sends to it. The keys are those of the connection manager, so that {@code mckey} of Linux
 * can be the other side.
 */
final class Multicast {
  /** The Q_Key of groups of the connection manager. */
  static final int QKEY = 0x01234567;

  private static final int QUEUE_PAIR = 0xffffff;
  private static final int MEMBERS = 2;
  private static final int IMMEDIATE = 0x01020304;

  private final PvOptions options;
  private final Gid group;
  private final PrintStream out;

  Multicast(PvOptions options, PrintStream out) {
    this.options = options;
    this.out = out;
    group = Gid.parse(options.host().contains(":") ? options.host() : "::ffff:" + options.host());
  }

  void play(Context context, Arena memory) {
    if (options.server()) {
      serve(context, memory);
    } else {
      send(new Endpoint(context, memory, options, out));
    }
  }

  private void serve(Context context, Arena memory) {
    List<Endpoint> members = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      Endpoint member = new Endpoint(context, memory, options, out);
      member.readyForDatagrams(QKEY);
      member.postReceives(options.sizes().size(), Collections.max(options.sizes()));
      member.queuePair().attachMulticast(group, 0);
      members.add(member);
    }
    out.println("server mcast: " + MEMBERS + " members of " + group);
    for (Endpoint member : members) {
      member.drain(options.sizes().size());
      member.check();
      member.queuePair().detachMulticast(group, 0);
    }
  }

  private void send(Endpoint sender) {
    sender.readyForDatagrams(QKEY);
    AddressHandle handle =
        sender.queuePair().protectionDomain().createAh(new AhAttributes(1, group, options.gidIndex()).withHopLimit(64));
    for (int i = 0; i < options.sizes().size(); i++) {
      int size = options.sizes().get(i);
      sender.fill(i, size);
      SendWorkRequest request = new SendWorkRequest().opcode(WrOpcode.SEND_WITH_IMM).immediate(IMMEDIATE + i);
      sender.postAddressed(i + 1, request.ah(handle).remoteQpn(QUEUE_PAIR).remoteQkey(QKEY), size, sender.slot(i));
      sender.drain(1);
    }
  }
}
