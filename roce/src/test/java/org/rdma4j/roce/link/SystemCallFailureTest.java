package org.rdma4j.roce.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.address.Gid;

/** Each system call and each allocation of a UDP link fails once: its errno is told, and nothing stays open. */
class SystemCallFailureTest {
  private static final int EMFILE = 24;
  private static final Set<String> WISHES = Set.of("buffer", "offload");

  private final Gid first = anyLoopback();
  private final Gid second = anyLoopback();
  private final UdpLinkConfig config = UdpLinkConfig.DEFAULT.withNetworkInterface("lo").withPort(20_000 + port());
  private final List<FailingArena> arenas = new ArrayList<>();
  private int countdown;
  private String failed;

  @BeforeEach
  void needsLinux() {
    assumeTrue(UdpLink.isSupported(), "system calls of 64-bit Linux only");
  }

  private static Gid anyLoopback() {
    var random = ThreadLocalRandom.current();
    return Gid.ofIpv4(127 << 24 | random.nextInt(1, 255) << 16 | random.nextInt(1, 255) << 8 | random.nextInt(1, 255));
  }

  private static int port() {
    return ThreadLocalRandom.current().nextInt(10_000);
  }

  /** True when this step is the one to fail. */
  private boolean fails(String step) {
    if (countdown > 0 && --countdown == 0) {
      failed = step;
      return true;
    }
    return false;
  }

  /** System calls that fail in the n-th, and a list of what is open. */
  private final class FailingLinux extends Linux {
    private final Set<Integer> open = new HashSet<>();

    @Override
    int socket(int family, int type, int protocol) {
      return fails("socket") ? -EMFILE : opened(super.socket(family, type, protocol));
    }

    @Override
    int eventFd() {
      return fails("eventfd") ? -EMFILE : opened(super.eventFd());
    }

    @Override
    int bind(int fd, MemorySegment address) {
      return fails("bind") ? -EMFILE : super.bind(fd, address);
    }

    @Override
    int setOption(int fd, int level, int option, int value) {
      return fails(nameOf(level, option)) ? -EMFILE : super.setOption(fd, level, option, value);
    }

    @Override
    int close(int fd) {
      assertTrue(open.remove(fd), "closed twice");
      return super.close(fd);
    }

    private int opened(int fd) {
      if (fd >= 0) {
        open.add(fd);
      }
      return fd;
    }

    private static String nameOf(int level, int option) {
      if (level == SOL_SOCKET) {
        return "buffer";
      }
      return level == SOL_UDP && (option == UDP_SEGMENT || option == UDP_GRO) ? "offload" : "option";
    }
  }

  /** An arena that is out of memory at the n-th allocation. */
  private final class FailingArena implements Arena {
    private final Arena real = Arena.ofShared();

    @Override
    public MemorySegment allocate(long bytes, long alignment) {
      if (fails("memory")) {
        throw new OutOfMemoryError("planted");
      }
      return real.allocate(bytes, alignment);
    }

    @Override
    public MemorySegment.Scope scope() {
      return real.scope();
    }

    @Override
    public void close() {
      real.close();
    }
  }

  private UdpLink open(Linux linux) {
    var arena = new FailingArena();
    arenas.add(arena);
    return new UdpLink(config, linux, arena);
  }

  private void use(UdpLink link) {
    link.addAddress(first);
    link.addAddress(second);
    link.route(first, second, 0, 0, 64);
    link.removeAddress(first);
  }

  @Test
  void eachStepFailsOnce() {
    Set<String> tried = new LinkedHashSet<>();
    var linux = new FailingLinux();
    for (int n = 1;; n++) {
      countdown = n;
      failed = null;
      boolean refused = false;
      UdpLink link = null;
      try {
        link = open(linux);
        use(link);
      } catch (LinkException e) {
        refused = true;
        assertEquals(EMFILE, e.errno(), e.toString());
        assertTrue(e.getMessage().length() > 20, e.getMessage());
      } catch (OutOfMemoryError e) {
        refused = true;
        assertEquals("memory", failed);
      }
      if (failed == null) {
        assertFalse(refused);
        link.close();
        break;
      }
      tried.add(failed);
      assertEquals(!WISHES.contains(failed), refused, failed);
      if (link != null && refused) {
        // The addresses that it had before the failure are the ones it has; the next attempt works.
        for (Gid each : List.of(first, second)) {
          try {
            link.removeAddress(each);
          } catch (LinkException e) {
            assertEquals(LinkErrno.EADDRNOTAVAIL.number(), e.errno());
          }
        }
        assertEquals(1, linux.open.size(), "the event descriptor alone");
        use(link);
      }
      if (link != null) {
        link.close();
      }
      assertEquals(Set.of(), linux.open, failed + ", step " + n);
      assertTrue(arenas.stream().noneMatch(each -> each.scope().isAlive()), failed);
    }
    assertEquals(Set.of(), linux.open);
    assertEquals(Set.of("memory", "eventfd", "socket", "option", "buffer", "offload", "bind"), tried);
  }
}
