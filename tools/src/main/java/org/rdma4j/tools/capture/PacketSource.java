package org.rdma4j.tools.capture;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;

/** Whoever shows the packets of a device: its provider, or the model of its card. */
interface PacketSource {
  /**
   * Starts a capture.
   *
   * @param destination where to; closed with the capture
   * @return the running capture
   * @throws IOException when the head of the file cannot be written
   */
  Packets start(WritableByteChannel destination) throws IOException;

  /** A running capture. */
  interface Packets extends AutoCloseable {
    /** {@return how many packets there were so far} */
    long packets();

    /** {@return how many bytes they had from the BTH to the end of the ICRC} */
    long bytes();

    /** {@return whether it has not ended} */
    boolean isActive();

    /**
     * Ends it.
     *
     * @throws IOException where not all was written
     */
    @Override
    void close() throws IOException;
  }
}
