package org.rdma4j.ulp.rdmaclient;

import java.util.List;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.ulp.command.Command;

/** The shell's entries to both programs. */
@Component(
    service = RdmaClientCommands.class,
    property = {
      "osgi.command.scope=rdma",
      "osgi.command.function=rdma_client",
      "osgi.command.function=rdma_server"
    })
public final class RdmaClientCommands {
  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  private volatile List<RdmaDevice> devices = List.of();

  private final RdmaCm manager;

  /** Made by Declarative Services. */
  @Activate
  public RdmaClientCommands(@Reference RdmaCm manager) {
    this.manager = manager;
  }

  /** Sends a message and gets one. */
  public void rdma_client(String[] arguments) {
    Command.execute(new Program(false, manager, !devices.isEmpty()), arguments);
  }

  /** Gets a message and sends one. */
  public void rdma_server(String[] arguments) {
    Command.execute(new Program(true, manager, !devices.isEmpty()), arguments);
  }
}
