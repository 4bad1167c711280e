package org.rdma4j.tools.rdma;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceTable;
import org.rdma4j.rdma.cm.CmIdResource;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.roce.address.Gid;

/** One line for each object of a device, field by field as the kernel fills them ({@code nldev.c}). */
final class ResourceLines {
  /** Completions of kernel style users are handed out by a thread of the core. */
  private static final String KERNEL_POLL_CONTEXT = "WORKQUEUE";

  private ResourceLines() {}

  static void queuePairs(Devices.Link link, Filters filters, Report report) {
    for (ResourceTable.Qp qp : link.device().resources().queuePairs()) {
      boolean connected = qp.type().isConnected();
      // nldev.c:fill_res_qp_entry_query says nothing of the peer of an extended connection.
      boolean hasPeer = qp.type() == QpType.RC || qp.type() == QpType.UC;
      if (qp.port() != link.port()
          || filters.hide("lqpn", qp.number())
          || !qp.owner().kernel() && filters.hide("pdn", qp.pdId())
          || hasPeer && filters.hide("rqpn", qp.remoteNumber())
          || hasPeer && filters.hide("rq-psn", qp.rqPsn())
          || connected && filters.hide("path-mig-state", qp.migration().name())
          || filters.hide("sq-psn", qp.sqPsn())
          || filters.hide("type", qp.type().name())
          || filters.hide("state", qp.state().name())
          || hideOwner(qp.owner(), filters)) {
        continue;
      }
      report.startItem();
      link(link, report);
      report.number("lqpn", "lqpn %d ", qp.number());
      if (hasPeer) {
        report.number("rqpn", "rqpn %d ", qp.remoteNumber());
      }
      report.word("type", "type %s ", qp.type().name());
      report.word("state", "state %s ", qp.state().name());
      if (hasPeer) {
        report.number("rq-psn", "rq-psn %d ", qp.rqPsn());
      }
      report.number("sq-psn", "sq-psn %d ", qp.sqPsn());
      if (connected) {
        report.word("path-mig-state", "path-mig-state %s ", qp.migration().name());
      }
      if (!qp.owner().kernel() && qp.pdId() >= 0) {
        report.number("pdn", "pdn %d ", qp.pdId());
      }
      owner(qp.owner(), report);
      report.endItem();
    }
  }

  /** nldev.c:fill_res_cm_id_entry, which tells no number of a queue pair where there is none. */
  static void connectionIds(Devices.Link link, List<CmIdResource> ids, Filters filters, Report report) {
    for (CmIdResource id : ids) {
      if (!link.device().name().equals(id.device())
          || id.port() != link.port()
          || id.qpNumber() != 0 && filters.hide("lqpn", id.qpNumber())
          || id.qpNumber() != 0 && filters.hide("qp-type", id.qpType().name())
          || filters.hide("ps", text(id.portSpace()))
          || filters.hide("state", id.state().text())
          || hideAddress("src", id.local(), filters)
          || hideAddress("dst", peer(id), filters)
          || filters.hide("pid", id.pid())
          || filters.hide("cm-idn", id.number())) {
        continue;
      }
      report.startItem();
      link(link, report);
      report.number("cm-idn", "cm-idn %d ", id.number());
      if (id.qpNumber() != 0) {
        report.number("lqpn", "lqpn %d ", id.qpNumber());
        report.word("qp-type", "qp-type %s ", id.qpType().name());
      }
      report.word("state", "state %s ", id.state().text());
      report.word("ps", "ps %s ", text(id.portSpace()));
      report.number("pid", "pid %d ", id.pid());
      report.word("comm", "comm %s ", id.comm());
      if (id.local() != null) {
        report.word("src-addr", "src-addr %s ", text(id.local()));
        report.word("dst-addr", "dst-addr %s ", text(peer(id)));
      }
      report.endItem();
    }
  }

  /** An identifier with an address of its own has a peer's address of the same family, if only zeros. */
  private static InetSocketAddress peer(CmIdResource id) {
    if (id.remote() != null || id.local() == null) {
      return id.remote();
    }
    boolean ipv4 = id.local().getAddress() instanceof Inet4Address;
    return new InetSocketAddress((ipv4 ? Gid.ofIpv4(0) : Gid.ZERO).toInetAddress(), 0);
  }

  private static boolean hideAddress(String end, InetSocketAddress address, Filters filters) {
    return address != null
        && (filters.hide(end + "-addr", text(address.getAddress())) || filters.hide(end + "-port", address.getPort()));
  }

  private static String text(InetSocketAddress address) {
    return text(address.getAddress()) + ":" + address.getPort();
  }

  /** As inet_ntop writes it. */
  private static String text(InetAddress address) {
    return address instanceof Inet4Address ? address.getHostAddress() : Gid.of(address).toString();
  }

  private static String text(PortSpace space) {
    return space == PortSpace.TCP || space == PortSpace.UDP ? space.name() : "IPoIB";
  }

  static void completionQueues(RdmaDevice device, Filters filters, Report report) {
    for (ResourceTable.Cq cq : device.resources().completionQueues()) {
      boolean kernel = cq.owner().kernel();
      if (filters.hide("users", cq.users())
          || kernel && filters.hide("poll-ctx", KERNEL_POLL_CONTEXT)
          || filters.hide("cqn", cq.id())
          || hideContext(cq.owner(), filters)) {
        continue;
      }
      report.startItem();
      device(device, report);
      report.number("cqn", "cqn %d ", cq.id());
      report.number("cqe", "cqe %d ", cq.entries());
      report.number("users", "users %d ", cq.users());
      if (kernel) {
        report.word("poll-ctx", "poll-ctx %s ", KERNEL_POLL_CONTEXT);
      }
      report.flag("adaptive-moderation", "adaptive-moderation %s ", false);
      context(cq.owner(), report);
      report.endItem();
    }
  }

  static void memoryRegions(RdmaDevice device, Filters filters, Report report) {
    for (ResourceTable.Mr mr : device.resources().memoryRegions()) {
      if (filters.hide("mrlen", mr.length())
          || filters.hide("mrn", mr.id())
          || filters.hide("pdn", mr.pdId())
          || filters.hide("rkey", mr.rkey())
          || filters.hide("lkey", mr.lkey())
          || hideOwner(mr.owner(), filters)) {
        continue;
      }
      report.startItem();
      device(device, report);
      report.number("mrn", "mrn %d ", mr.id());
      report.hex("rkey", "rkey 0x%x ", Integer.toUnsignedLong(mr.rkey()));
      report.hex("lkey", "lkey 0x%x ", Integer.toUnsignedLong(mr.lkey()));
      report.number("mrlen", "mrlen %d ", mr.length());
      if (!mr.owner().kernel()) {
        report.number("pdn", "pdn %d ", mr.pdId());
      }
      owner(mr.owner(), report);
      report.endItem();
    }
  }

  static void protectionDomains(RdmaDevice device, Filters filters, Report report) {
    for (ResourceTable.Pd pd : device.resources().protectionDomains()) {
      if (filters.hide("users", pd.users())
          || filters.hide("pdn", pd.id())
          || hideContext(pd.owner(), filters)) {
        continue;
      }
      report.startItem();
      device(device, report);
      report.number("pdn", "pdn %d ", pd.id());
      report.hex("local_dma_lkey", "local_dma_lkey 0x%x ", Integer.toUnsignedLong(pd.localDmaLkey()));
      report.number("users", "users %d ", pd.users());
      context(pd.owner(), report);
      report.endItem();
    }
  }

  static void contexts(RdmaDevice device, Filters filters, Report report) {
    for (ResourceTable.Ctx ctx : device.resources().contexts()) {
      if (filters.hide("ctxn", ctx.id()) || hideOwner(ctx.owner(), filters)) {
        continue;
      }
      report.startItem();
      device(device, report);
      report.number("ctxn", "ctxn %d ", ctx.id());
      owner(ctx.owner(), report);
      report.endItem();
    }
  }

  static void sharedReceiveQueues(RdmaDevice device, Filters filters, Report report) {
    for (ResourceTable.Srq srq : device.resources().sharedReceiveQueues()) {
      List<Integer> wanted = srq.qpNumbers().stream().filter(number -> !filters.hide("lqpn", number)).toList();
      boolean noneWanted = wanted.isEmpty() && (!srq.qpNumbers().isEmpty() || filters.hide("lqpn", -1));
      if (noneWanted
          || filters.hide("srqn", srq.id())
          || filters.hide("type", srq.type().name())
          || filters.hide("pdn", srq.pdId())
          || filters.hide("cqn", srq.cqId())
          || hideOwner(srq.owner(), filters)) {
        continue;
      }
      report.startItem();
      device(device, report);
      report.number("srqn", "srqn %d ", srq.id());
      report.word("type", "type %s ", srq.type().name());
      if (!wanted.isEmpty()) {
        report.words("lqpn", "lqpn ", ",", " ", ranges(wanted));
      }
      report.number("pdn", "pdn %d ", srq.pdId());
      if (srq.cqId() >= 0) {
        report.number("cqn", "cqn %d ", srq.cqId());
      }
      owner(srq.owner(), report);
      report.endItem();
    }
  }

  /** Numbers in ascending order, neighbours joined: 17-19,21. */
  static List<String> ranges(List<Integer> numbers) {
    List<Integer> sorted = numbers.stream().sorted().toList();
    List<String> ranges = new ArrayList<>();
    int start = 0;
    for (int i = 1; i <= sorted.size(); i++) {
      if (i == sorted.size() || sorted.get(i) != sorted.get(i - 1) + 1) {
        int first = sorted.get(start);
        int last = sorted.get(i - 1);
        ranges.add(first == last ? Integer.toString(first) : first + "-" + last);
        start = i;
      }
    }
    return ranges;
  }

  private static void device(RdmaDevice device, Report report) {
    report.number("ifindex", null, device.index());
    report.word("ifname", "dev %s ", device.name());
  }

  private static void link(Devices.Link link, Report report) {
    report.number("ifindex", null, link.device().index());
    report.word("ifname", "link %s/", link.device().name());
    if (link.port() == 0) {
      report.word(null, "%s ", "-");
    } else {
      report.number("port", "%d ", link.port());
    }
  }

  private static void context(ResourceTable.Owner owner, Report report) {
    if (!owner.kernel()) {
      report.number("ctxn", "ctxn %d ", owner.contextId());
    }
    owner(owner, report);
  }

  private static void owner(ResourceTable.Owner owner, Report report) {
    if (!owner.kernel()) {
      report.number("pid", "pid %d ", owner.pid());
    }
    report.word("comm", owner.kernel() ? "comm [%s] " : "comm %s ", owner.comm());
  }

  private static boolean hideContext(ResourceTable.Owner owner, Filters filters) {
    return !owner.kernel() && filters.hide("ctxn", owner.contextId()) || hideOwner(owner, filters);
  }

  private static boolean hideOwner(ResourceTable.Owner owner, Filters filters) {
    return !owner.kernel() && filters.hide("pid", owner.pid());
  }
}
