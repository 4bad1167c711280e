package org.rdma4j.ulp.cmtime;

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
    service = CmtimeCommand.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=cmtime"})
public final class CmtimeCommand {
  @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
  private volatile List<RdmaDevice> devices = List.of();

  private final RdmaCm manager;

  /** Made by Declarative Services. */
  @Activate
  public CmtimeCommand(@Reference RdmaCm manager) {
    this.manager = manager;
  }

  /** Times of the steps of connections. */
  public void cmtime(String[] arguments) {
    Command.execute(new Cmtime(manager, !devices.isEmpty()), arguments);
  }
}
