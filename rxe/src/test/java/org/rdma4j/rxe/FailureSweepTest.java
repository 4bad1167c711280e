package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.SegmentAllocator;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.AhAttributes;
import org.rdma4j.ib.core.verbs.CompletionQueue;
import org.rdma4j.ib.core.verbs.Context;
import org.rdma4j.ib.core.verbs.DeviceControl;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.GidType;
import org.rdma4j.ib.core.verbs.MwType;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.QueuePair;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ib.core.verbs.ResourceType;
import org.rdma4j.ib.core.verbs.SharedReceiveQueue;
import org.rdma4j.ib.core.verbs.SrqInitAttributes;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.address.PathMtu;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.LinkException;
import org.rdma4j.roce.link.UdpLinks;
import org.rdma4j.rxe.ring.Ring;

/**
 * Each call of the link and each ring that there is no memory for fails once, from the making of the device over that
 * of every object to the end: the errno is told, all is as it was before, and the next attempt works.
 */
@Timeout(120)
class FailureSweepTest {
  /** The calls that may fail, and whether they have done their work when they do. */
  private static final Map<String, Boolean> CALLS =
      Map.of("addAddress", false, "route", false, "removeAddress", true, "close", true);

  private static final int EMFILE = 24;

  private final Gid gid = TestLink.anyLoopback();
  private int countdown;
  private String failed;
  private int opened;
  private int closed;

  /** The first device and the first socket of the JDK load classes and open what stays open. */
  @BeforeEach
  void warmUp() {
    TestLink.open("rxe0").close();
  }

  private boolean fails(String step) {
    if (countdown > 0 && --countdown == 0) {
      failed = step;
      return true;
    }
    return false;
  }

  private Link failing(Link real) {
    opened++;
    return (Link)
        Proxy.newProxyInstance(
            Link.class.getClassLoader(),
            new Class<?>[] {Link.class},
            (proxy, method, arguments) -> {
              Boolean afterwards = CALLS.get(method.getName());
              boolean fails = afterwards != null && fails(method.getName());
              Object result = null;
              try {
                if (!fails || afterwards) {
                  result = method.invoke(real, arguments);
                }
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
              closed += method.getName().equals("close") ? 1 : 0;
              if (fails) {
                throw LinkException.ofErrno(EMFILE, "planted in " + method.getName());
              }
              return result;
            });
  }

  private SegmentAllocator memory() {
    return (bytes, alignment) -> {
      if (fails("memory")) {
        throw new OutOfMemoryError("planted");
      }
      return Arena.ofAuto().allocate(bytes, alignment);
    };
  }

  private DeviceControl bringUp() {
    RxeDevice device =
        RxeRegistration.make(
            new RxeSettings("rxe0", "lo", gid),
            config -> failing(UdpLinks.open(config)),
            which -> {},
            () -> {});
    DeviceControl control = device.bind();
    boolean up = false;
    try {
      control.load("rxe0", 0);
      control.addGid(1, gid, GidType.ROCE_V2, "lo", false);
      control.enable();
      control.accept();
      up = true;
      return control;
    } finally {
      if (!up) {
        tearDown(control);
      }
    }
  }

  private static void tearDown(DeviceControl control) {
    control.refuse();
    control.disassociate(5_000);
    control.destroyLeft(5_000);
    control.release();
  }

  private void makeEverything(Context context, Arena arena) {
    int index = context.device().gidTable(1).find(gid).index();
    ProtectionDomain domain = context.allocatePd();
    CompletionQueue queue = context.createCq(16, context.createCompletionChannel(), 0);
    SharedReceiveQueue shared = domain.createSrq(new SrqInitAttributes(8, 1));
    QpCapabilities sizes = new QpCapabilities(8, 8, 1, 1, 0);
    QueuePair pair =
        domain.createQp(new QpInitAttributes(QpType.RC).sendCq(queue).recvCq(queue).capabilities(sizes));
    domain.createQp(new QpInitAttributes(QpType.RC).sendCq(queue).recvCq(queue).srq(shared).capabilities(sizes));
    domain.createQp(new QpInitAttributes(QpType.UD).sendCq(queue).recvCq(queue).capabilities(sizes));
    domain.createAh(new AhAttributes(1, gid, index));
    domain.registerMemory(arena.allocate(64), Access.LOCAL_WRITE);
    domain.allocateMr(4);
    domain.allocateMw(MwType.TYPE_2);
    queue.resize(32);
    shared.resize(16);
    End.connect(pair, gid, index, pair.number(), PathMtu.MTU_1024);
  }

  @Test
  void eachStepFailsOnce() {
    Footprint before = Footprint.now();
    Set<String> tried = new LinkedHashSet<>();
    for (int n = 1;; n++) {
      countdown = n;
      failed = null;
      int step = n;
      boolean through = ScopedValue.where(Ring.MEMORY, memory()).call(() -> attempt(step));
      countdown = 0;
      assertEquals(opened, closed, "links open, after " + failed + " failed");
      before.assertUnchanged();
      if (failed == null) {
        assertTrue(through);
        break;
      }
      tried.add(failed);
    }
    assertEquals(Set.of("addAddress", "memory", "route", "removeAddress", "close"), tried);
  }

  /** True where nothing failed on the way up. */
  private boolean attempt(int step) {
    DeviceControl control;
    try {
      control = bringUp();
    } catch (VerbsException e) {
      assertTold(e, step);
      return false;
    }
    boolean through = false;
    RdmaDevice device = control.view("org.example");
    try (Arena arena = Arena.ofShared()) {
      Context context = device.open();
      try {
        makeEverything(context, arena);
        through = true;
      } catch (VerbsException e) {
        assertTold(e, step);
        context.close();
        for (ResourceType each : List.of(ResourceType.QP, ResourceType.CQ, ResourceType.MR, ResourceType.PD,
            ResourceType.SRQ, ResourceType.CTX)) {
          assertEquals(0, device.resources().count(each), each + " after " + failed);
        }
        makeEverything(device.open(), arena);
      }
      tearDown(control);
    }
    return through;
  }

  private void assertTold(VerbsException e, int step) {
    String where = failed + ", step " + step + ": " + e;
    assertEquals(failed.equals("memory") ? Errno.ENOMEM : Errno.EMFILE, e.errno(), where);
    assertTrue(failed.equals("memory") || e.getMessage().contains("planted in " + failed), where);
  }
}
