package org.rdma4j.tools.mlx5;

import java.util.List;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.ulp.command.CommandException;

/** The modelled cards there are, and how they come and go. */
interface Cards {
  /** {@return all of them} */
  List<ModelledCard> all();

  /**
   * Plugs a card in; returns when it is there.
   *
   * @param slot where, or null for the lowest free slot from 0000:03:00.0 on
   * @param netdev network interface, or null
   * @param address address, or null
   * @return the slot
   * @throws CommandException when there is no card, with what is known of the reason
   */
  String plug(String slot, String netdev, String address) throws CommandException;

  /**
   * Takes a card out.
   *
   * @param slot where it is
   * @param surprise whether it is pulled, without a word to its driver before
   * @throws CommandException when there is none
   */
  void unplug(String slot, boolean surprise) throws CommandException;
}
