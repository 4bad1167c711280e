package org.rdma4j.ulp.udaddy;

import java.util.List;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.ulp.command.Command;

/** The shell's entry. */
@Component(
    service = UdaddyCommand.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=udaddy"})
public final class UdaddyCommand {
  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  private volatile List<RdmaDevice> devices = List.of();

  private final RdmaCm manager;

  /** Made by Declarative Services. */
  @Activate
  public UdaddyCommand(@Reference RdmaCm manager) {
    this.manager = manager;
  }

  /** Datagrams to addresses that services are resolved to. */
  public void udaddy(String[] arguments) {
    Command.execute(new Udaddy(manager, !devices.isEmpty()), arguments);
  }
}
