package org.rdma4j.provider.contract.suite;

import java.util.ArrayList;
import java.util.List;

/** Where a group puts its cases; their order is that in which they run. */
public final class CaseList {
  private final List<Case> cases = new ArrayList<>();

  CaseList() {}

  /** The whole contract. */
  public static List<Case> all() {
    CaseList list = new CaseList();
    DeviceCases.add(list);
    ObjectCases.add(list);
    LimitCases.add(list);
    StateCases.add(list);
    MemoryCases.add(list);
    StatusCases.add(list);
    ReliableCases.add(list);
    RemoteMemoryCases.add(list);
    UnreliableCases.add(list);
    AtomicCases.add(list);
    EventCases.add(list);
    SharedReceiveCases.add(list);
    ManagementCases.add(list);
    WindowCases.add(list);
    ConcurrencyCases.add(list);
    UnplugCases.add(list);
    return List.copyOf(list.cases);
  }

  void add(String name, String promise, Case.Body body, Need... needs) {
    if (cases.stream().anyMatch(each -> each.name().equals(name))) {
      throw new IllegalStateException("two cases are named " + name);
    }
    cases.add(new Case(name, promise, List.of(needs), body));
  }
}
