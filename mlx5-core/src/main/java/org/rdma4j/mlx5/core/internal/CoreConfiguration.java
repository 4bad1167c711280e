package org.rdma4j.mlx5.core.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** Settings of the driver for cards that it takes over from now on. */
@ObjectClassDefinition(
    pid = "org.rdma4j.mlx5.core",
    name = "ConnectX PCI driver",
    description = "Settings for all cards of mlx5-core")
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

  /** Whether mailboxes of commands are signed. */
  @AttributeDefinition(
      name = "cmdif_checksum",
      description = "Whether mailboxes of commands are signed, and the answers' signatures checked")
  boolean cmdif_checksum() default false;

  /** How long after a recovery the next one may start by itself, in ms. */
  @AttributeDefinition(
      name = "grace_period",
      description = "How long after a recovery from a fatal error the next one may start by itself, in ms",
      min = "0")
  long grace_period() default 60_000;

  /** How often the health of a card is looked at, in ms. */
  @AttributeDefinition(
      name = "health_poll_interval",
      description = "How often the health of a card is looked at, in ms; 0 for what the card says, 2000 as a rule",
      min = "0")
  int health_poll_interval() default 0;

  /** How long an answer to a command is waited for, in ms. */
  @AttributeDefinition(
      name = "command_timeout",
      description = "How long an answer to a command is waited for, in ms; 0 for what the card says, 60000 as a rule",
      min = "0")
  int command_timeout() default 0;
}
