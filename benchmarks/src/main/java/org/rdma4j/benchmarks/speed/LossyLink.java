package org.rdma4j.benchmarks.speed;

import java.util.SplittableRandom;
import org.rdma4j.roce.link.ForwardingLink;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.PacketHandler;
import org.rdma4j.roce.link.ReceivedPacket;

/** Passes packets on but for some that arrive and get lost, each with the same probability. */
final class LossyLink extends ForwardingLink {
  private static final int SEED = 4791;

  private final Link link;
  private final double loss;
  private final SplittableRandom random = new SplittableRandom(SEED);
  private final PacketHandler losing = this::onPacket;
  private PacketHandler handler;

  /** Loses so many of all packets, from 0 to 1. */
  LossyLink(Link link, double loss) {
    super(link);
    this.link = link;
    this.loss = loss;
  }

  private void onPacket(ReceivedPacket packet) {
    if (random.nextDouble() >= loss) {
      handler.onPacket(packet);
    }
  }

  @Override
  public int receive(PacketHandler receiver, int limit) {
    handler = receiver;
    return link.receive(losing, limit);
  }
}
