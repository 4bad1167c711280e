package org.rdma4j.rxe;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.rdma4j.ib.core.client.CaptureSource;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.capture.CapturingLink;
import org.rdma4j.roce.capture.PcapngWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Captures of one device's packets, one at a time. Safe for any thread. */
final class RxeCapture implements CaptureSource {
  private static final Logger LOG = LoggerFactory.getLogger(RxeCapture.class);
  private static final long FLUSH_MILLIS = 50;

  private final String name;
  private final CapturingLink link;
  private Running running; // this and the following: guarded by this
  private boolean closed;

  RxeCapture(String name, CapturingLink link) {
    this.name = name;
    this.link = link;
  }

  @Override
  public synchronized Capture start(WritableByteChannel destination) throws IOException {
    if (closed) {
      throw new VerbsException(Errno.ENODEV, "no capture of " + name + ": the device is gone");
    }
    if (running != null && running.isActive()) {
      throw new VerbsException(Errno.EBUSY, "a capture of " + name + " is running already");
    }
    PcapngWriter writer = new PcapngWriter(destination);
    link.start(writer);
    running = new Running(writer);
    Thread.ofVirtual().name("rxe-capture " + name).start(running::flushNowAndThen);
    return running;
  }

  /** The device goes. */
  void close() {
    Running last;
    synchronized (this) {
      closed = true;
      last = running;
      running = null;
    }
    if (last != null) {
      last.endWithDevice();
    }
  }

  /** Stops the packets of a capture, unless the next one runs already. */
  private synchronized void stop(Running which) {
    if (running == which) {
      link.stop();
      running = null;
    }
  }

  private final class Running implements Capture {
    private final PcapngWriter writer;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile IOException failure;

    Running(PcapngWriter writer) {
      this.writer = writer;
    }

    @Override
    public long packets() {
      return writer.packets();
    }

    @Override
    public long bytes() {
      return writer.bytes();
    }

    @Override
    public boolean isActive() {
      return ended.getCount() > 0 && failure == null && link.isCapturing();
    }

    @Override
    public void close() throws IOException {
      if (ended.getCount() == 0) {
        return;
      }
      boolean brokeOff = !isActive();
      ended.countDown();
      stop(this);
      writer.close();
      if (failure != null) {
        throw failure;
      }
      if (brokeOff) {
        throw new IOException("the capture of " + name + " ended before: its destination failed");
      }
    }

    void endWithDevice() {
      try {
        close();
      } catch (IOException e) {
        LOG.warn("the capture of {} is incomplete: {}", name, e.toString());
      }
    }

    private void flushNowAndThen() {
      try {
        while (!ended.await(FLUSH_MILLIS, TimeUnit.MILLISECONDS) && isActive()) {
          writer.flush();
        }
      } catch (IOException e) {
        if (ended.getCount() > 0) {
          failure = e;
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
