package org.rdma4j.ulp.mckey;

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
    service = MckeyCommand.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=mckey"})
public final class MckeyCommand {
  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  private volatile List<RdmaDevice> devices = List.of();

  private final RdmaCm manager;

  /** Made by Declarative Services. */
  @Activate
  public MckeyCommand(@Reference RdmaCm manager) {
    this.manager = manager;
  }

  /** Members of a multicast group. */
  public void mckey(String[] arguments) {
    Command.execute(new Mckey(manager, !devices.isEmpty()), arguments);
  }
}
