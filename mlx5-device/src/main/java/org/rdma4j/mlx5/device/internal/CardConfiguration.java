package org.rdma4j.mlx5.device.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;
import org.osgi.service.metatype.annotations.Option;

/** Factory configuration {@code org.rdma4j.mlx5.device}: each makes one card. */
@ObjectClassDefinition(
    factoryPid = "org.rdma4j.mlx5.device",
    name = "Modelled ConnectX card",
    description = "A PCI card whose port is a network interface, speaking RoCEv2 over UDP (mlx5 plug ...)")
@interface CardConfiguration {
  @AttributeDefinition(
      name = "Slot",
      description = "Where it is plugged in, such as 0000:03:00.0; empty for the lowest free slot",
      required = false)
  String slot() default "";

  @AttributeDefinition(
      name = "Network interface",
      description = "Such as eth0; may be left out where an address is given",
      required = false)
  String netdev() default "";

  @AttributeDefinition(
      name = "Address",
      description = "The only address of the interface to use; empty for all",
      required = false)
  String addr() default "";

  @AttributeDefinition(
      name = "Idle strategy",
      description =
          "What the card does without work: spin polls without end and takes a processor, backoff polls for a while"
              + " and then sleeps, block sleeps at once",
      options = {
        @Option(label = "Spin", value = "spin"),
        @Option(label = "Back off", value = "backoff"),
        @Option(label = "Block", value = "block")
      },
      required = false)
  String idle() default "backoff";
}
