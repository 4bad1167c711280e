package org.rdma4j.mlx5.device.internal;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.rdma4j.mlx5.device.EntryTableUsage;
import org.rdma4j.mlx5.ifc.Layout;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.PciHost;
import org.rdma4j.roce.engine.Engine;
import org.rdma4j.roce.engine.EngineCounter;
import org.rdma4j.roce.link.Link;

/** Everything that commands make, from one reset to the next: the tables, and the commands of each type. */
final class Objects {
  private static final int NUMBER_BYTES = 16;
  private static final int QP_BYTES = 256;
  private static final int FIRST_QP = 64; // Those below are special.

  private final HostPages pages = new HostPages();
  private final Map<String, EntryTable> tables = new LinkedHashMap<>();
  private final PciHost host;
  private final Capabilities capabilities;
  private final UarPages uars;
  private final Events events;
  private final MemoryKeys keys;
  private final CqCommands cqs;
  private final SrqCommands srqs;
  private final CounterCommands counters;
  private final RoceAddresses addresses;
  private final VportCommands vport;
  private final QpCommands queuePairs;

  Objects(
      Firmware firmware,
      Capabilities capabilities,
      PciHost host,
      Faults faults,
      Link link,
      Engine engine,
      Port port,
      Runnable overrun) {
    this.host = host;
    this.capabilities = capabilities;
    EntryTable eqs = add("eq", Layouts.EQC, (int) Layouts.EQC.size(), 1, Limits.LOG_MAX_EQ);
    EntryTable pds = add("pd", null, NUMBER_BYTES, 1, Limits.LOG_MAX_PD);
    EntryTable mkeys = add("mkey", Layouts.MKC, (int) Layouts.MKC.size(), 2, Limits.LOG_MAX_MKEY);
    EntryTable mtts = add("mtt", null, MttTable.ENTRY, 0, Limits.LOG_MAX_MTT);
    EntryTable completions = add("cq", Layouts.CQC, (int) Layouts.CQC.size(), 1, Limits.LOG_MAX_CQ);
    EntryTable shared = add("srq", null, QP_BYTES, 1, Limits.LOG_MAX_SRQ);
    EntryTable xrcds = add("xrcd", null, NUMBER_BYTES, 1, Limits.LOG_MAX_XRCD);
    EntryTable domains = add("td", null, NUMBER_BYTES, 1, Limits.LOG_MAX_TRANSPORT_DOMAIN);
    EntryTable sets = add("counter", null, NUMBER_BYTES, 1, Limits.LOG_COUNTER_SETS);
    add("qp", Layouts.QPC, QP_BYTES, FIRST_QP, Limits.LOG_MAX_QP);
    uars = new UarPages(firmware);
    events = new Events(firmware, eqs, uars, host, overrun);
    keys = new MemoryKeys(firmware, mkeys, pds, new MttTable(mtts, host), host);
    cqs = new CqCommands(firmware, completions, events, uars, host, faults);
    events.users(cqs::usesEq);
    srqs = new SrqCommands(firmware, shared, pds, xrcds, cqs, events, host);
    counters = new CounterCommands(firmware, sets);
    addresses = new RoceAddresses(firmware, link, port.settings().address());
    vport = new VportCommands(firmware, port, () -> engine.counters().get(EngineCounter.BAD_QKEY));
    queuePairs = new QpCommands(firmware, this, engine, host);
    new MulticastCommands(firmware, queuePairs, engine);
    new PortRegisters(firmware, port);
    Numbers.add(
        firmware,
        pds,
        Opcode.ALLOC_PD,
        Opcode.DEALLOC_PD,
        "pd",
        pd -> keys.usesPd(pd) || queuePairs.usesPd(pd) || srqs.usesPd(pd));
    Numbers.add(
        firmware,
        xrcds,
        Opcode.ALLOC_XRCD,
        Opcode.DEALLOC_XRCD,
        "xrcd",
        xrcd -> srqs.usesXrcd(xrcd) || queuePairs.usesXrcd(xrcd));
    Numbers.add(
        firmware,
        domains,
        Opcode.ALLOC_TRANSPORT_DOMAIN,
        Opcode.DEALLOC_TRANSPORT_DOMAIN,
        "transport_domain",
        domain -> false);
  }

  private EntryTable add(String name, Layout layout, int entryBytes, int first, int logCount) {
    EntryTable table = new EntryTable(name, layout, entryBytes, first, 1 << logCount, pages, host);
    tables.put(name, table);
    return table;
  }

  HostPages pages() {
    return pages;
  }

  EntryTable table(String name) {
    return tables.get(name);
  }

  UarPages uars() {
    return uars;
  }

  Events events() {
    return events;
  }

  MemoryKeys keys() {
    return keys;
  }

  CqCommands cqs() {
    return cqs;
  }

  SrqCommands srqs() {
    return srqs;
  }

  CounterCommands counters() {
    return counters;
  }

  VportCommands vport() {
    return vport;
  }

  RoceAddresses addresses() {
    return addresses;
  }

  Capabilities capabilities() {
    return capabilities;
  }

  QpCommands queuePairs() {
    return queuePairs;
  }

  List<EntryTableUsage> usage() {
    return tables.values().stream().map(EntryTable::usage).toList();
  }

  /** Whether the tables hold nothing. */
  boolean isEmpty() {
    return tables.values().stream().allMatch(table -> table.used() == 0);
  }

  /** Ends everything, in the order of who uses whom. Engine thread. */
  void clear() {
    queuePairs.clear();
    srqs.clear();
    cqs.clear();
    keys.clear();
    counters.clear();
    addresses.clear();
    events.clear();
    uars.clear();
    vport.clear();
    for (String each : List.of("pd", "xrcd", "td")) {
      tables.get(each).clear();
    }
  }
}
