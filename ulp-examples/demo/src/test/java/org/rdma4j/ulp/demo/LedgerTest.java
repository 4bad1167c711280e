package org.rdma4j.ulp.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.WcStatus;

/** The books find what is lost, told twice or never asked for. */
class LedgerTest {
  private final Ledger ledger = new Ledger();

  @Test
  void everyOutcomeHasItsColumn() {
    post(5);
    ledger.complete(0, WcStatus.SUCCESS);
    ledger.complete(1, WcStatus.WR_FLUSH_ERR);
    ledger.complete(2, WcStatus.RETRY_EXC_ERR);
    ledger.complete(3, WcStatus.REM_ACCESS_ERR);
    assertEquals("5 posted 1 ok 1 flushed 1 gone 1 failed 1 missing 0 doubled", text(ledger));
  }

  @Test
  void aSecondCompletionIsNoticed() {
    post(2);
    ledger.complete(1, WcStatus.SUCCESS);
    ledger.complete(1, WcStatus.WR_FLUSH_ERR);
    assertEquals("2 posted 1 ok 0 flushed 0 gone 0 failed 1 missing 1 doubled", text(ledger));
  }

  @Test
  void aCompletionOfWhatWasNotPostedIsNoticed() {
    ledger.complete(0, WcStatus.SUCCESS);
    ledger.complete(-1, WcStatus.SUCCESS);
    assertEquals("0 posted 0 ok 0 flushed 0 gone 0 failed 0 missing 2 doubled", text(ledger));
  }

  @Test
  void totalsAddUp() {
    post(3);
    ledger.complete(0, WcStatus.SUCCESS);
    Ledger total = new Ledger();
    total.add(ledger);
    total.add(ledger);
    assertEquals("6 posted 2 ok 0 flushed 0 gone 0 failed 4 missing 0 doubled", text(total));
  }

  private void post(int count) {
    for (int i = 0; i < count; i++) {
      ledger.post();
    }
  }

  private static String text(Ledger ledger) {
    return ledger.posted() + " posted " + ledger.succeeded() + " ok " + ledger.flushed() + " flushed "
        + ledger.peerGone() + " gone " + ledger.failed() + " failed " + ledger.missing() + " missing "
        + ledger.doubled() + " doubled";
  }
}
