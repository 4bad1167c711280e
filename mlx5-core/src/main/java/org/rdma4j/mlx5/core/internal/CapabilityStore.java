package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.rdma4j.mlx5.core.Capabilities;
import org.rdma4j.mlx5.core.CapabilityType;
import org.rdma4j.mlx5.core.CommandChannel;
import org.rdma4j.mlx5.core.CommandReply;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Opcode;

/** The pages of capabilities as they were last read (kernel: {@code main.c}, {@code mlx5_core_get_caps}). */
final class CapabilityStore implements Capabilities {
  private record Key(int type, boolean current) {}

  private final Map<Key, MemorySegment> pages = new ConcurrentHashMap<>();

  /** Reads a page, current values first, then the largest ones. */
  void read(CommandChannel commands, int type) {
    for (int mode = 1; mode >= 0; mode--) {
      CommandReply reply = commands.execute(CommandRequest.of(Opcode.QUERY_HCA_CAP).modifier(type * 2 + mode));
      pages.put(new Key(type, mode == 1), reply.bytes("capability"));
    }
  }

  /** Begins SET_HCA_CAP with the current values. */
  CommandRequest change(CapabilityType type) {
    CommandRequest request = CommandRequest.of(Opcode.SET_HCA_CAP).modifier(type.number() * 2);
    MemorySegment current = pages.get(new Key(type.number(), true));
    MemorySegment.copy(current, 0, request.input(), 0x10, current.byteSize());
    return request;
  }

  /** The page in such a request. */
  static Structure page(CommandRequest change, CapabilityType type) {
    return new Structure(type.layout(), change.input(), 0x10);
  }

  void clear() {
    pages.clear();
  }

  @Override
  public int get(CapabilityType type, String field) {
    return value(type, field, true);
  }

  @Override
  public int maximum(CapabilityType type, String field) {
    return value(type, field, false);
  }

  private int value(CapabilityType type, String field, boolean current) {
    MemorySegment page = pages.getOrDefault(new Key(type.number(), current), Empty.PAGE);
    return type.layout().field(field).get(page, 0);
  }

  /** A page of nothing. */
  private static final class Empty {
    private static final MemorySegment PAGE = Arena.ofAuto().allocate(4096, Long.BYTES).asReadOnly();
  }
}
