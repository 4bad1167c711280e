package org.rdma4j.roce.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who talks to whom, by P_Key. */
class PkeyTest extends EngineTest {
  private static final int QKEY = 0x1234;

  private final TestMemory source = a.memory(256);
  private final TestMemory target = b.memory(256);

  @ParameterizedTest
  @CsvSource({
    "0xffff, 0xffff, true",
    "0xffff, 0x7fff, true",
    "0x7fff, 0xffff, true",
    "0x7fff, 0x7fff, false",
    "0x8001, 0x8001, true",
    "0x8001, 0x0001, true",
    "0x8001, 0x8002, false",
    "0x8001, 0xffff, false",
    "0x8000, 0x0000, false",
    "0x8000, 0x8000, false",
    "0x0000, 0x0000, false",
  })
  void membership(String one, String other, boolean talk) {
    assertEquals(talk, PkeyTable.matches(Integer.decode(one), Integer.decode(other)));
  }

  @Test
  void aChangedTableChangesEveryQueuePair() {
    TestQp[] qp = world.pair(QpKind.RC, settings -> settings.pkeyIndex = 1);
    a.engine.setPkeys(new int[] {0xffff, 0x8001});
    b.engine.setPkeys(new int[] {0xffff, 0x0001});
    receives(qp[1], 2, target, 64);
    qp[0].post(Post.send(1).local(source, 0, 64));
    world.run();
    assertDone(qp[0].sends, 1);
    b.engine.setPkeys(new int[] {0xffff});
    qp[0].post(Post.send(2).local(source, 0, 64));
    world.run();
    assertFailed(qp[0].sends.get(1), 2, CompletionStatus.RETRY_EXCEEDED, FailedCheck.RETRIES_USED);
    assertTrue(b.count(EngineCounter.BAD_PKEY) > 0);
  }

  @Test
  void theGeneralServicesQueuePairIsInEveryPartition() {
    TestQp[] gsi = world.pair(QpKind.GSI);
    a.engine.setPkeys(new int[] {0xffff, 0x8005, 0x8006});
    b.engine.setPkeys(new int[] {0x7fff, 0, 0x0005});
    receives(gsi[1], 3, target, 80);
    var route = a.routeTo(b);
    for (int index = 0; index < 3; index++) {
      gsi[0].post(Post.send(index).local(source, 0, 8).to(route, 1, QKEY).pkeyIndex(index));
    }
    world.run();
    assertDone(gsi[0].sends, 0, 1, 2);
    assertDone(gsi[1].received, 100, 101);
    assertEquals(0, gsi[1].received.get(0).pkeyIndex());
    assertEquals(2, gsi[1].received.get(1).pkeyIndex());
    assertEquals(1, b.count(EngineCounter.BAD_PKEY));
  }
}
