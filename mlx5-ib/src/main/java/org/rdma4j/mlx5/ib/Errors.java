package org.rdma4j.mlx5.ib;

import java.util.function.Supplier;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.mlx5.core.Mlx5Exception;

/** What the driver of the card throws, in words of verbs. */
final class Errors {
  private Errors() {}

  static <T> T translated(Supplier<T> call) {
    try {
      return call.get();
    } catch (Mlx5Exception e) {
      throw of(e);
    }
  }

  static void translatedRun(Runnable call) {
    try {
      call.run();
    } catch (Mlx5Exception e) {
      throw of(e);
    }
  }

  static VerbsException of(Mlx5Exception e) {
    Errno errno =
        switch (e.errno()) {
          case EAGAIN -> Errno.EAGAIN;
          case ENOMEM -> Errno.ENOMEM;
          case EFAULT -> Errno.EFAULT;
          case EBUSY -> Errno.EBUSY;
          case ENODEV, ENXIO -> Errno.ENODEV;
          case EINVAL -> Errno.EINVAL;
          case EOPNOTSUPP -> Errno.EOPNOTSUPP;
          case ETIMEDOUT -> Errno.ETIMEDOUT;
          case EIO, ENOMSG, EBADR -> Errno.EIO;
        };
    return new VerbsException(errno, e.getMessage(), e);
  }
}
