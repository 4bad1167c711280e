package org.rdma4j.provider.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.WcStatus;

/** What names and promises look like, and that nothing is forgotten in silence. */
class CasesTest {
  private static final List<ContractCase> CASES = ProviderContract.cases();

  @Test
  void namesAreStableWordsAndPromisesSentences() {
    for (ContractCase each : CASES) {
      assertTrue(each.name().matches("[a-z0-9-]+(\\.[a-z0-9-]+)+"), each.name());
      assertTrue(each.promise().matches("[A-Z].*[.]"), each.name() + ": " + each.promise());
    }
    assertEquals(CASES.size(), names().size());
  }

  @Test
  void everyStatusIsTriedOrNamedAsNotTested() {
    List<String> missing =
        Arrays.stream(WcStatus.values())
            .filter(status -> status != WcStatus.SUCCESS)
            .map(status -> "status." + status.name().toLowerCase(Locale.ROOT).replace('_', '-'))
            .filter(name -> !names().contains(name))
            .toList();
    assertEquals(List.of(), missing);
  }

  private static Set<String> names() {
    return CASES.stream().map(ContractCase::name).collect(Collectors.toSet());
  }
}
