package org.rdma4j.rxe;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import org.rdma4j.ib.core.client.CaptureSource;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.capture.CapturingLink;
import org.rdma4j.roce.capture.LinkCapture;
import org.rdma4j.roce.link.LinkException;

/** Captures of one device's packets, one at a time. Safe for any thread. */
final class RxeCapture implements CaptureSource {
  private record Running(LinkCapture.Running running) implements Capture {
    @Override
    public long packets() {
      return running.packets();
    }

    @Override
    public long bytes() {
      return running.bytes();
    }

    @Override
    public boolean isActive() {
      return running.isActive();
    }

    @Override
    public void close() throws IOException {
      running.close();
    }
  }

  private final LinkCapture captures;

  RxeCapture(String name, CapturingLink link) {
    this.captures = new LinkCapture(name, link);
  }

  @Override
  public Capture start(WritableByteChannel destination) throws IOException {
    try {
      return new Running(captures.start(destination));
    } catch (LinkException e) {
      throw new VerbsException(Errno.valueOf(e.errnoName()), e.getMessage(), e);
    }
  }

  /** The device goes. */
  void close() {
    captures.close();
  }
}
