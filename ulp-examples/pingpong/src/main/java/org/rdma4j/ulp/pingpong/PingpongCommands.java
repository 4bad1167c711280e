package org.rdma4j.ulp.pingpong;

import java.util.List;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.ulp.command.Command;

/** The shell's entries to the four programs. */
@Component(
    service = PingpongCommands.class,
    property = {
      "osgi.command.scope=rdma",
      "osgi.command.function=ibv_rc_pingpong",
      "osgi.command.function=ibv_uc_pingpong",
      "osgi.command.function=ibv_ud_pingpong",
      "osgi.command.function=ibv_srq_pingpong"
    })
public final class PingpongCommands {
  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  private volatile List<RdmaDevice> devices = List.of();

  /** Made by Declarative Services. */
  @Activate
  public PingpongCommands() {}

  /** Reliable connection. */
  public void ibv_rc_pingpong(String[] arguments) {
    Command.execute(new Pingpong(Program.RC, devices), arguments);
  }

  /** Unreliable connection. */
  public void ibv_uc_pingpong(String[] arguments) {
    Command.execute(new Pingpong(Program.UC, devices), arguments);
  }

  /** Unreliable datagram. */
  public void ibv_ud_pingpong(String[] arguments) {
    Command.execute(new Pingpong(Program.UD, devices), arguments);
  }

  /** Reliable connections with a shared receive queue. */
  public void ibv_srq_pingpong(String[] arguments) {
    Command.execute(new Pingpong(Program.SRQ, devices), arguments);
  }
}
