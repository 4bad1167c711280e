package org.rdma4j.rxe;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;
import org.osgi.service.metatype.annotations.Option;

/** Factory configuration {@code org.rdma4j.rxe}: each makes one device. */
@ObjectClassDefinition(
    factoryPid = "org.rdma4j.rxe",
    name = "Software RoCE link",
    description = "An RDMA device on a network interface, speaking RoCEv2 over UDP (rdma link add NAME type rxe ...)")
@interface RxeConfiguration {
  @AttributeDefinition(name = "Name", description = "Name of the device, such as rxe0; no % in it")
  String name();

  @AttributeDefinition(name = "Network interface", description = "Such as eth0 or lo; no VLAN")
  String netdev();

  @AttributeDefinition(
      name = "Address",
      description = "The only address of the interface to use; empty for all",
      required = false)
  String addr() default "";

  @AttributeDefinition(
      name = "ICRC check",
      description =
          "How the checksum of received packets is checked: strict accepts what is right as it stands, recover also"
              + " IPv4 packets whose identification cannot be seen, off everything",
      options = {
        @Option(label = "Strict", value = "strict"),
        @Option(label = "Recover", value = "recover"),
        @Option(label = "Off", value = "off")
      },
      required = false)
  String icrc() default "recover";

  @AttributeDefinition(
      name = "UDP port",
      description = "4791 for RoCEv2",
      min = "1",
      max = "65535",
      required = false)
  int udpPort() default 4791;

  @AttributeDefinition(
      name = "Idle strategy",
      description =
          "What the engine does without work: spin polls without end and takes a processor, backoff polls for a while"
              + " and then sleeps, block sleeps at once",
      options = {
        @Option(label = "Spin", value = "spin"),
        @Option(label = "Back off", value = "backoff"),
        @Option(label = "Block", value = "block")
      },
      required = false)
  String idle() default "backoff";

  @AttributeDefinition(
      name = "Polling (us)",
      description = "With backoff, how long the engine polls without work before it sleeps",
      min = "0",
      max = "1000000",
      required = false)
  int spinMicros() default 20;

  @AttributeDefinition(
      name = "P_Keys",
      description =
          "The partitions of the port: up to 64 numbers with a comma between them, the first 0xffff or 0x7fff; without"
              + " the top bit a limited member, 0 for an empty slot. May be changed while the device is there, as long"
              + " as there are as many",
      required = false)
  String pkeys() default "0xffff";
}
