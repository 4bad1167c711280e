package org.rdma4j.mlx5.ib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.CompletionCursor;
import org.rdma4j.ib.core.verbs.CqNotify;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.mlx5.core.Mlx5Device;

/** Who polls without end tells the card that he waits for it; who does not, does not. */
class PollingTest {
  private static final int POLLS = 10_000;
  private final AtomicInteger relaxes = new AtomicInteger();

  private Mlx5Device counting(Mlx5Device core) {
    return (Mlx5Device)
        Proxy.newProxyInstance(
            Mlx5Device.class.getClassLoader(),
            new Class<?>[] {Mlx5Device.class},
            (self, method, arguments) -> {
              if (method.getName().equals("relax")) {
                relaxes.incrementAndGet();
              }
              try {
                return method.invoke(core, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void whoPollsWithoutEndTellsTheCard() {
    try (TestHost host = new TestHost(this::counting);
        End end = new End(host, QpType.RC, 64)) {
      WorkCompletion[] batch = WorkCompletion.batch(1);
      relaxes.set(0); // Whoever registers memory waits, too.
      for (int i = 0; i < POLLS; i++) {
        assertEquals(0, end.cq.poll(batch));
      }
      assertTrue(relaxes.get() > 0);
      end.cq.requestNotify(CqNotify.NEXT_COMP, false);
      int before = relaxes.get();
      CompletionCursor cursor = end.cq.cursor();
      for (int i = 0; i < POLLS; i++) {
        cursor.start();
      }
      assertTrue(relaxes.get() > before, "and so does who polls one by one");
    }
  }

  @Test
  void whoArmsBetweenPollsDoesNot() {
    try (TestHost host = new TestHost(this::counting);
        End end = new End(host, QpType.RC, 64)) {
      WorkCompletion[] batch = WorkCompletion.batch(1);
      relaxes.set(0); // Whoever registers memory waits, too.
      for (int i = 0; i < POLLS; i++) {
        end.cq.requestNotify(CqNotify.NEXT_COMP, false);
        assertEquals(0, end.cq.poll(batch));
      }
      assertEquals(0, relaxes.get());
    }
  }
}
