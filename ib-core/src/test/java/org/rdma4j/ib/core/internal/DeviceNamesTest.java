package org.rdma4j.ib.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;

class DeviceNamesTest {
  private final DeviceNames names = new DeviceNames();

  private void fails(Errno errno, String name) {
    assertEquals(errno, assertThrows(VerbsException.class, () -> names.assign(name)).errno(), name);
  }

  @Test
  void patternsGetTheLowestFreeNumber() {
    assertEquals("mlx5_0", names.assign("mlx5_%d").name());
    DeviceNames.Assigned second = names.assign("mlx5_%d");
    assertEquals("mlx5_1", second.name());
    assertEquals("mlx5_2", names.assign("mlx5_%d").name());
    names.free(second);
    names.free(second);
    assertEquals("mlx5_1", names.assign("mlx5_%d").name());
    assertEquals("rxe0", names.assign("rxe%d").name());
  }

  @Test
  void namesInUseAreRefused() {
    DeviceNames.Assigned first = names.assign("rxe0");
    fails(Errno.ENFILE, "rxe0");
    names.free(first);
    assertEquals("rxe0", names.assign("rxe0").name());
  }

  @Test
  void indicesAreCyclic() {
    DeviceNames.Assigned first = names.assign("a");
    assertEquals(0, first.index());
    names.free(first);
    assertEquals(1, names.assign("a").index());
  }

  @Test
  void badNamesAreRefused() {
    fails(Errno.EINVAL, "");
    fails(Errno.EINVAL, null);
    fails(Errno.EINVAL, "a b");
    fails(Errno.EINVAL, "a/b");
    fails(Errno.EINVAL, "a%s");
    fails(Errno.EINVAL, "a%d%d");
    fails(Errno.EINVAL, "%a%d");
    fails(Errno.ENAMETOOLONG, "x".repeat(64));
    assertEquals(63, names.assign("x".repeat(63)).name().length());
  }
}
