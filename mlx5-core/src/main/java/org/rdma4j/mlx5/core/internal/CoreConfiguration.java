package org.rdma4j.mlx5.core.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** Settings of the driver for cards that it takes over from now on. */
@ObjectClassDefinition(name = "ConnectX PCI driver", description = "Settings for all cards of mlx5-core")
@interface CoreConfiguration {
  /** Entries of event queues for completions. */
  @AttributeDefinition(
      name = "io_eq_size",
      description = "Entries of each event queue for completions, 64 to 4096",
      min = "64",
      max = "4096")
  int io_eq_size() default 1024;

  /** Entries of the event queue for everything else. */
  @AttributeDefinition(
      name = "event_eq_size",
      description = "Entries of the event queue for everything but completions, 64 to 4096",
      min = "64",
      max = "4096")
  int event_eq_size() default 4096;

  /** Whether cards do RDMA over Ethernet. */
  @AttributeDefinition(name = "enable_roce", description = "Whether cards do RDMA over Ethernet")
  boolean enable_roce() default true;

  /** Whether cards offer a device for RDMA. */
  @AttributeDefinition(name = "enable_rdma", description = "Whether cards offer a device for RDMA")
  boolean enable_rdma() default true;

  /** How long after a recovery the next one may start by itself, in ms. */
  @AttributeDefinition(
      name = "grace_period",
      description = "How long after a recovery from a fatal error the next one may start by itself, in ms",
      min = "0")
  long grace_period() default 60_000;
}
