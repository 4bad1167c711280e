package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

class NumberPoolTest {
  @Test
  void numbersRiseAndBeginAnewAtTheEnd() {
    NumberPool pool = new NumberPool("max_qp", 17, 20);
    assertEquals(17, pool.take());
    assertEquals(18, pool.take());
    pool.give(17);
    assertEquals(19, pool.take(), "a freed number waits until the others were used");
    assertEquals(20, pool.take());
    assertEquals(17, pool.take());
    assertEquals(4, pool.count());
  }

  @Test
  void theLimitIsNamed() {
    NumberPool pool = new NumberPool("max_qp", 1, 2);
    pool.take();
    pool.take();
    VerbsException e = assertThrows(VerbsException.class, pool::take);
    assertEquals(Errno.ENOMEM, e.errno());
    assertTrue(e.getMessage().contains("max_qp"), e.getMessage());
    pool.give(2);
    pool.give(2);
    assertEquals(1, pool.count(), "giving twice counts once");
    assertEquals(2, pool.take());
  }
}
