package org.rdma4j.roce.capture;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.rdma4j.roce.link.LinkException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Captures of a link's packets to files, one at a time, each written at least ten times a second. For any thread. */
public final class LinkCapture {
  private static final Logger LOG = LoggerFactory.getLogger(LinkCapture.class);
  private static final long FLUSH_MILLIS = 50;
  private static final int EBUSY = 16;
  private static final int ENODEV = 19;

  private final String name;
  private final CapturingLink link;
  private Running running; // this and the following: guarded by this
  private boolean closed;

  /**
   * Makes captures of a link possible.
   *
   * @param name of who has the link, for messages and threads
   * @param link the link; stays its owner's
   */
  public LinkCapture(String name, CapturingLink link) {
    this.name = name;
    this.link = link;
  }

  /**
   * Starts to write all packets that are sent and received, in pcapng format. A destination that fails ends the
   * capture; the link goes on.
   *
   * @param destination where to; closed with the capture
   * @return the running capture
   * @throws IOException when the head of the file cannot be written
   * @throws LinkException EBUSY while another capture runs, ENODEV after {@link #close}
   */
  public synchronized Running start(WritableByteChannel destination) throws IOException {
    if (closed) {
      throw LinkException.ofErrno(ENODEV, "no capture of " + name + ": the device is gone");
    }
    if (running != null && running.isActive()) {
      throw LinkException.ofErrno(EBUSY, "a capture of " + name + " is running already");
    }
    PcapngWriter writer = new PcapngWriter(destination);
    link.start(writer);
    running = new Running(writer);
    Thread.ofVirtual().name("capture " + name).start(running::flushNowAndThen);
    return running;
  }

  /** The owner of the link goes: a capture that runs is completed, and none can be started any more. */
  public void close() {
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

  /** A capture; ends when it is closed, when its destination fails or the owner of the link goes. For any thread. */
  public final class Running implements AutoCloseable {
    private final PcapngWriter writer;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile IOException failure;

    private Running(PcapngWriter writer) {
      this.writer = writer;
    }

    /** {@return how many packets were captured so far} */
    public long packets() {
      return writer.packets();
    }

    /** {@return how many bytes the captured packets had from the BTH to the end of the ICRC} */
    public long bytes() {
      return writer.bytes();
    }

    /** {@return false once the capture has ended, for whatever reason} */
    public boolean isActive() {
      return ended.getCount() > 0 && failure == null && link.isCapturing();
    }

    /**
     * Ends the capture; everything captured is written when this returns. Does nothing when done before.
     *
     * @throws IOException where what was captured could not be written, now or before
     */
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

    private void endWithDevice() {
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
