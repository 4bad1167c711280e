package org.rdma4j.mlx5.core;

import java.util.function.Consumer;
import org.rdma4j.mlx5.ifc.Opcode;

/** Queue pairs ({@code ib/qpc.c}). */
public final class QueuePairCommands {
  private QueuePairCommands() {}

  /** Changes of state that carry a context. */
  public enum Transition {
    /** Reset to initialized. */
    RST2INIT(Opcode.RST2INIT_QP),
    /** Initialized, with other values. */
    INIT2INIT(Opcode.INIT2INIT_QP),
    /** Initialized to ready to receive. */
    INIT2RTR(Opcode.INIT2RTR_QP),
    /** Ready to receive to ready to send. */
    RTR2RTS(Opcode.RTR2RTS_QP),
    /** Ready to send, with other values. */
    RTS2RTS(Opcode.RTS2RTS_QP),
    /** Send queue error to ready to send. */
    SQERR2RTS(Opcode.SQERR2RTS_QP),
    /** Send queue drained to ready to send. */
    SQD_RTS(Opcode.SQD_RTS_QP);

    private final Opcode opcode;

    Transition(Opcode opcode) {
      this.opcode = opcode;
    }

    /** {@return the command} */
    public Opcode opcode() {
      return opcode;
    }
  }

  /**
   * Creates a queue pair.
   *
   * @param channel the card
   * @param request CREATE_QP with context and page list
   * @return its number, 24 bits
   * @throws CommandException when the card refuses
   */
  public static int create(CommandChannel channel, CommandRequest request) {
    return channel.execute(request).get("qpn");
  }

  /**
   * Changes its state or values.
   *
   * @param channel the card
   * @param transition how
   * @param qpn its number
   * @param optional mask of the optional values that are given
   * @param fill fills in the context
   * @throws CommandException when the card refuses
   */
  public static void modify(
      CommandChannel channel, Transition transition, int qpn, int optional, Consumer<Structure> fill) {
    CommandRequest request =
        CommandRequest.of(transition.opcode()).set("qpn", qpn).set("opt_param_mask", optional);
    fill.accept(request.structure("qpc"));
    channel.execute(request);
  }

  /**
   * Resets it: everything of it is forgotten.
   *
   * @param channel the card
   * @param qpn its number
   * @throws CommandException when the card refuses
   */
  public static void toReset(CommandChannel channel, int qpn) {
    channel.execute(CommandRequest.of(Opcode.TO_RST_QP).set("qpn", qpn));
  }

  /**
   * Puts it into error: everything of it is flushed.
   *
   * @param channel the card
   * @param qpn its number
   * @throws CommandException when the card refuses
   */
  public static void toError(CommandChannel channel, int qpn) {
    channel.execute(CommandRequest.of(Opcode.TO_ERR_QP).set("qpn", qpn));
  }

  /**
   * Reads its context.
   *
   * @param channel the card
   * @param qpn its number
   * @return the context
   * @throws CommandException when the card refuses
   */
  public static Structure query(CommandChannel channel, int qpn) {
    return channel.execute(CommandRequest.of(Opcode.QUERY_QP).set("qpn", qpn)).structure("qpc");
  }

  /**
   * Destroys it.
   *
   * @param channel the card
   * @param qpn its number
   * @throws CommandException when the card refuses
   */
  public static void destroy(CommandChannel channel, int qpn) {
    channel.execute(CommandRequest.of(Opcode.DESTROY_QP).set("qpn", qpn));
  }
}
