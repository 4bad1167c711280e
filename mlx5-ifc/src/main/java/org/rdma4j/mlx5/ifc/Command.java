package org.rdma4j.mlx5.ifc;

/**
 * A command whose input and output are described: those of the bring-up and of RDMA over Ethernet.
 *
 * @param opcode the opcode
 * @param input what the driver sends; a list may follow
 * @param output what the card answers; a list may follow
 */
public record Command(Opcode opcode, Layout input, Layout output) {
  /** Opcode, in every input. */
  public static final Field OPCODE = Field.ofBits("opcode", 0, 31, 16);

  /** User context that the command is for, in every input; 0 for the kernel. */
  public static final Field UID = Field.ofBits("uid", 0, 15, 0);

  /** Modifier of the opcode, in every input. */
  public static final Field OP_MOD = Field.ofBits("op_mod", 4, 15, 0);

  /** {@link CommandStatus}, in every output. */
  public static final Field STATUS = Field.ofBits("status", 0, 31, 24);

  /** What exactly was wrong, in every output. */
  public static final Field SYNDROME = Field.ofBits("syndrome", 4, 31, 0);

  /**
   * Finds the description of a command.
   *
   * @param opcode the opcode
   * @return the description
   * @throws IllegalArgumentException when it is not described
   */
  public static Command of(Opcode opcode) {
    Command found = InterfaceFile.instance().commands().get(opcode);
    if (found == null) {
      throw new IllegalArgumentException(opcode.text() + " is not described");
    }
    return found;
  }

  /**
   * Tells whether a command is described.
   *
   * @param opcode the opcode
   * @return whether {@link #of} finds it
   */
  public static boolean isKnown(Opcode opcode) {
    return InterfaceFile.instance().commands().containsKey(opcode);
  }

  /**
   * Finds a field of the input; meant to be called once, for a constant.
   *
   * @param opcode the opcode
   * @param field name of the field
   * @return the field
   */
  public static Field in(Opcode opcode, String field) {
    return of(opcode).input().field(field);
  }

  /**
   * Finds a field of the output; meant to be called once, for a constant.
   *
   * @param opcode the opcode
   * @param field name of the field
   * @return the field
   */
  public static Field out(Opcode opcode, String field) {
    return of(opcode).output().field(field);
  }
}
