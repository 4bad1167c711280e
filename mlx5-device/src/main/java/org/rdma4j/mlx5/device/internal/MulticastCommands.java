package org.rdma4j.mlx5.device.internal;

import org.rdma4j.mlx5.device.internal.Firmware.State;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.engine.Engine;
import org.rdma4j.roce.engine.MulticastGroups;
import org.rdma4j.roce.engine.QpKind;
import org.rdma4j.roce.link.LinkException;

/** Multicast groups and who is in them. Engine thread. */
final class MulticastCommands {
  private static final Field ATTACHED = Command.in(Opcode.ATTACH_TO_MCG, "qpn");
  private static final Field JOINED = Command.in(Opcode.ATTACH_TO_MCG, "multicast_gid");
  private static final Field DETACHED = Command.in(Opcode.DETACH_FROM_MCG, "qpn");
  private static final Field LEFT = Command.in(Opcode.DETACH_FROM_MCG, "multicast_gid");

  private final QpCommands queuePairs;
  private final Engine engine;

  MulticastCommands(Firmware firmware, QpCommands queuePairs, Engine engine) {
    this.queuePairs = queuePairs;
    this.engine = engine;
    firmware.add(Opcode.ATTACH_TO_MCG, State.INITIALIZED, this::attach);
    firmware.add(Opcode.DETACH_FROM_MCG, State.INITIALIZED, this::detach);
  }

  private void attach(CommandCall call) throws CommandFailure {
    QueuePair qp = queuePairs.existing(call.get(ATTACHED));
    Gid group = Gid.readFrom(call.input(), JOINED.offset());
    if (qp.parts().kind() != QpKind.UD || !group.isMulticast()) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_ADDRESS);
    }
    MulticastGroups groups = engine.groups();
    boolean full =
        groups.members(group) >= Limits.MAX_GROUP_MEMBERS
            || (groups.members(group) == 0 && groups.size() >= 1 << Limits.LOG_MAX_GROUPS);
    if (full) {
      throw new CommandFailure(CommandStatus.LIMITS_EXCEEDED, Syndrome.NO_FREE_INDEX);
    }
    try {
      groups.attach(group, qp.transport());
    } catch (LinkException e) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_ADDRESS);
    }
  }

  private void detach(CommandCall call) throws CommandFailure {
    QueuePair qp = queuePairs.existing(call.get(DETACHED));
    if (!engine.groups().detach(Gid.readFrom(call.input(), LEFT.offset()), qp.transport())) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.NO_SUCH_OBJECT);
    }
  }
}
