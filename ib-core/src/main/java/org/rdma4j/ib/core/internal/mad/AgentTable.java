package org.rdma4j.ib.core.internal.mad;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.mad.MadReceiver;
import org.rdma4j.ib.core.mad.MadRegistration;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

/** Which agents a port has, and what each wants. Guarded by the engine. */
final class AgentTable {
  static final int CLASS_SUBN_LID_ROUTED = 0x01;
  static final int CLASS_SUBN_DIRECTED = 0x81;
  private static final int CLASSES = 0x50;
  private static final int CLASS_VERSIONS = 0x83;
  private static final int HIGH_IDS = 1 << 24;

  private record Wanted(int managementClass, int classVersion, int method) {}

  private final Map<Integer, MadAgentImpl> byHighId = new HashMap<>();
  private final Map<Wanted, MadAgentImpl> byWish = new HashMap<>();
  private MadAgentImpl core;
  private int last;

  MadAgentImpl add(MadEngine engine, MadRegistration registration, MadReceiver receiver) {
    List<Wanted> wishes = wishes(registration);
    for (Wanted wish : wishes) {
      if (byWish.containsKey(wish)) {
        throw new VerbsException(
            Errno.EINVAL,
            "another agent of the port has class %#04x, version %d, method %#04x"
                .formatted(wish.managementClass(), wish.classVersion(), wish.method()));
      }
    }
    do {
      last = last % (HIGH_IDS - 1) + 1;
    } while (byHighId.containsKey(last));
    MadAgentImpl agent = new MadAgentImpl(engine, last, registration, receiver);
    byHighId.put(last, agent);
    wishes.forEach(wish -> byWish.put(wish, agent));
    return agent;
  }

  private static List<Wanted> wishes(MadRegistration registration) {
    List<Wanted> wishes = new ArrayList<>();
    if (registration == null) {
      return wishes;
    }
    int managementClass = registration.managementClass();
    int version = registration.classVersion();
    boolean subnet = managementClass == CLASS_SUBN_LID_ROUTED;
    if (managementClass < 0 || managementClass >= CLASSES || subnet || version < 0 || version >= CLASS_VERSIONS) {
      throw new VerbsException(
          Errno.EINVAL,
          "class %#x, version %#x: classes of general services are below 0x50 and not 1, versions below 0x83"
              .formatted(managementClass, version));
    }
    for (int method : registration.methods()) {
      if (method < 1 || method >= MadHeader.RESPONSE) {
        throw new VerbsException(Errno.EINVAL, "method %#x: 1 to 0x7f can be wanted".formatted(method));
      }
      wishes.add(new Wanted(managementClass, version, method));
    }
    return wishes;
  }

  void remove(MadAgentImpl agent) {
    byHighId.remove(agent.highTransactionId(), agent);
    byWish.values().removeIf(agent::equals);
  }

  boolean isEmpty() {
    return byHighId.isEmpty();
  }

  MadAgentImpl byTransaction(int highId) {
    return byHighId.get(highId);
  }

  MadAgentImpl wanting(MemorySegment mad) {
    return byWish.get(
        new Wanted(
            MadHeader.MANAGEMENT_CLASS.getInt(mad),
            MadHeader.CLASS_VERSION.getInt(mad),
            MadHeader.METHOD.getInt(mad)));
  }

  /** Who answers for the port itself; nobody's agent. */
  MadAgentImpl core(MadEngine engine) {
    if (core == null) {
      core = new MadAgentImpl(engine, 0, null, (mad, asked) -> {});
    }
    return core;
  }

  List<MadAgentImpl> all() {
    List<MadAgentImpl> all = new ArrayList<>(byHighId.values());
    if (core != null) {
      all.add(core);
    }
    return all;
  }
}
