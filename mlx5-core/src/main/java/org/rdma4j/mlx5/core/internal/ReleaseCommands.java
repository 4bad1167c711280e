package org.rdma4j.mlx5.core.internal;

import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.rdma4j.mlx5.ifc.Opcode;

/** Commands that only give something back: in error state they succeed without the card. */
final class ReleaseCommands {
  private static final Set<Opcode> ALL =
      Stream.of(Opcode.values())
          .filter(ReleaseCommands::isRelease)
          .collect(Collectors.toCollection(() -> EnumSet.noneOf(Opcode.class)));

  private ReleaseCommands() {}

  /** As {@code cmd.c}, {@code mlx5_internal_err_ret_value}. */
  private static boolean isRelease(Opcode opcode) {
    return switch (opcode) {
      case TEARDOWN_HCA, DISABLE_HCA, MANAGE_PAGES, TO_ERR_QP, TO_RST_QP, MODIFY_NIC_VPORT_CONTEXT,
          MODIFY_FLOW_TABLE, SET_FLOW_TABLE_ROOT, SET_FLOW_TABLE_ENTRY, DELETE_FLOW_TABLE_ENTRY,
          PAGE_FAULT_RESUME, MODIFY_RQT, QUERY_ESW_FUNCTIONS ->
          true;
      default ->
          opcode.name().startsWith("DESTROY_")
              || opcode.name().startsWith("DEALLOC_")
              || opcode.name().startsWith("DETACH_");
    };
  }

  static boolean contains(Opcode opcode) {
    return ALL.contains(opcode);
  }
}
