package org.rdma4j.mlx5.core;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.ifc.Layout;
import org.rdma4j.mlx5.ifc.Opcode;

/** Registers of the firmware, reached by a command ({@code mlx5_core_access_reg}). */
public final class RegisterCommands {
  private static final int WRITE = 0;
  private static final int READ = 1;

  private RegisterCommands() {}

  /**
   * Reads a register.
   *
   * @param channel the card
   * @param id number of the register
   * @param image what is asked: the register with its index fields set
   * @return the register
   * @throws CommandException when the card refuses
   */
  public static MemorySegment read(CommandChannel channel, int id, MemorySegment image) {
    return access(channel, id, READ, image);
  }

  /**
   * Writes a register.
   *
   * @param channel the card
   * @param id number of the register
   * @param image what is written
   * @return what the card answers
   * @throws CommandException when the card refuses
   */
  public static MemorySegment write(CommandChannel channel, int id, MemorySegment image) {
    return access(channel, id, WRITE, image);
  }

  /**
   * Makes room for a register.
   *
   * @param layout what it looks like
   * @return the register, all zero
   */
  public static Structure image(Layout layout) {
    return new Structure(layout, Arena.ofAuto().allocate(layout.size(), Long.BYTES), 0);
  }

  private static MemorySegment access(CommandChannel channel, int id, int direction, MemorySegment image) {
    CommandRequest request =
        CommandRequest.of(Opcode.ACCESS_REG, image.byteSize())
            .modifier(direction)
            .set("register_id", id)
            .answerList(image.byteSize());
    request.list().copyFrom(image);
    return channel.execute(request).list();
  }
}
