package org.rdma4j.ulp.ucmatose;

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
    service = UcmatoseCommand.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=ucmatose"})
public final class UcmatoseCommand {
  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  private volatile List<RdmaDevice> devices = List.of();

  private final RdmaCm manager;

  /** Made by Declarative Services. */
  @Activate
  public UcmatoseCommand(@Reference RdmaCm manager) {
    this.manager = manager;
  }

  /** Connections and messages over them. */
  public void ucmatose(String[] arguments) {
    Command.execute(new Ucmatose(manager, !devices.isEmpty()), arguments);
  }
}
