package org.rdma4j.ib.core.verbs;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The XRC domains of a device ({@code uverbs_cmd.c:ib_uverbs_open_xrcd}, with names in place of inodes). */
final class XrcRegistry {
  /** One domain, for all who have opened it. */
  final class Domain {
    private final String name;
    private final int number;
    private final Map<Integer, XrcTarget> targets = new HashMap<>();
    private int handles;

    Domain(String name, int number) {
      this.name = name;
      this.number = number;
    }

    String name() {
      return name;
    }

    int number() {
      return number;
    }

    /** One handle less; the last ends the domain. */
    void close() {
      synchronized (XrcRegistry.this) {
        if (--handles > 0) {
          return;
        }
        byName.remove(name, this);
      }
      provider.releaseXrcd(number);
    }

    XrcTarget target(int qpNumber) {
      synchronized (targets) {
        return targets.get(qpNumber);
      }
    }

    void add(XrcTarget target) {
      synchronized (targets) {
        targets.put(target.number(), target);
      }
    }

    void remove(XrcTarget target) {
      synchronized (targets) {
        targets.remove(target.number(), target);
      }
    }
  }

  private final IbDevice provider;
  private final Map<String, Domain> byName = new HashMap<>();

  XrcRegistry(IbDevice provider) {
    this.provider = provider;
  }

  /** Opens a domain, which is made where need be; from inside a call that has entered the device. */
  synchronized XrcDomain open(ObjectContext owner, String name, Set<XrcOpenFlag> flags) {
    Domain found = name == null ? null : byName.get(name);
    if (found == null && !flags.contains(XrcOpenFlag.CREATE)) {
      throw new VerbsException(
          Errno.EAGAIN, owner.deviceName() + " has no XRC domain " + name + "; with CREATE it would be made");
    }
    if (found != null && flags.contains(XrcOpenFlag.EXCLUSIVE)) {
      throw new VerbsException(Errno.EINVAL, owner.deviceName() + " has an XRC domain " + name + " already");
    }
    if (found == null) {
      found = new Domain(name, provider.allocateXrcd());
      if (name != null) {
        byName.put(name, found);
      }
    }
    found.handles++;
    return new XrcDomain(owner, found);
  }
}
