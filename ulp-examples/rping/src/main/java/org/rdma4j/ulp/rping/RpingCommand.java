package org.rdma4j.ulp.rping;

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
    service = RpingCommand.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=rping"})
public final class RpingCommand {
  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  private volatile List<RdmaDevice> devices = List.of();

  private final RdmaCm manager;

  /** Made by Declarative Services. */
  @Activate
  public RpingCommand(@Reference RdmaCm manager) {
    this.manager = manager;
  }

  /** A connection and pings over it. */
  public void rping(String[] arguments) {
    Command.execute(new Rping(manager, !devices.isEmpty()), arguments);
  }
}
