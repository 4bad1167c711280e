package org.rdma4j.ib.core.client;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import org.osgi.annotation.versioning.ProviderType;

/**
 * The packets of a device's links: an optional service of providers that can show them, registered once for each
 * device with the property {@value #PROPERTY_DEVICE} and withdrawn with the device. The kernel's counterpart is the
 * sniffer flow rule that {@code ibdump} sets. Safe for any thread.
 */
@ProviderType
public interface CaptureSource {
  /** Service property: the name of the device, such as {@code rxe0}. */
  String PROPERTY_DEVICE = "ib.device";

  /**
   * Starts to write all packets that the device sends and receives, in pcapng format. What the provider gathers in
   * memory it writes at least ten times a second. A destination that fails ends the capture; the device goes on.
   *
   * @param destination where to; closed with the capture
   * @return the running capture
   * @throws IOException when the head of the file cannot be written
   * @throws org.rdma4j.ib.core.verbs.VerbsException EBUSY while another capture of the device runs, ENODEV after its
   *     removal
   */
  Capture start(WritableByteChannel destination) throws IOException;

  /** A running capture; ends when it is closed, when its destination fails or the device goes. For any thread. */
  @ProviderType
  interface Capture extends AutoCloseable {
    /** {@return how many packets were captured so far} */
    long packets();

    /** {@return how many bytes the captured packets had from the BTH to the end of the ICRC} */
    long bytes();

    /** {@return false once the capture has ended, for whatever reason} */
    boolean isActive();

    /**
     * Ends the capture; everything captured is written when this returns. Does nothing when done before.
     *
     * @throws IOException where what was captured could not be written, now or before
     */
    @Override
    void close() throws IOException;
  }
}
