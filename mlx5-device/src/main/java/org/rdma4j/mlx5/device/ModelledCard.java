package org.rdma4j.mlx5.device;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.util.List;
import org.osgi.annotation.versioning.ProviderType;
import org.rdma4j.roce.address.Guid;
import org.rdma4j.roce.capture.LinkCapture;

/**
 * A modelled ConnectX, as the person sees it who has built it: its tables of entries, and faults to inject. Each card
 * is a service of this type with the property {@link #SLOT} and the {@code service.pid} of its configuration. Drivers
 * know the card by PCI alone. Safe for any thread.
 */
@ProviderType
public interface ModelledCard {
  /** Service property: where the card is plugged in, as {@code 0000:03:00.0}; empty when the bus has chosen. */
  String SLOT = "pci.slot";

  /** {@return what the card is called in logs and threads} */
  String name();

  /** {@return the network interface of its port and, when it uses only one, the address} */
  String port();

  /** {@return the tables of entries, in the order in which the firmware made them; empty without power} */
  List<EntryTableUsage> tables();

  /**
   * Reads entries of a table from the host's pages.
   *
   * @param table name of the table
   * @param most most entries wanted, from the lowest number on
   * @return for each entry its number, the DMA address and the fields that are not 0
   * @throws IllegalArgumentException when there is no such table
   */
  List<String> entries(String table, int most);

  /**
   * {@return what a syndrome in the output of a command means, or an empty text for a number that is none}
   *
   * @param number the second word of the output
   */
  String syndrome(int number);

  /** {@return the host's pages; none without power} */
  PageUsage pages();

  /** {@return the GUID of the card as it left the factory, which RDMA devices have as their node GUID} */
  Guid nodeGuid();

  /**
   * Starts to write all packets of the port, in pcapng format: what a tap in the cable shows. With the card it ends.
   *
   * @param destination where to; closed with the capture
   * @return the running capture
   * @throws IOException when the head of the file cannot be written
   * @throws org.rdma4j.roce.link.LinkException EBUSY while another capture runs, ENODEV when the card was taken out
   */
  LinkCapture.Running capture(WritableByteChannel destination) throws IOException;

  /** {@return what can be broken} */
  CardFaults faults();
}
