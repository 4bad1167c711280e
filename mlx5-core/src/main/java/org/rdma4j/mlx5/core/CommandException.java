package org.rdma4j.mlx5.core;

import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.DeliveryStatus;
import org.rdma4j.mlx5.ifc.Opcode;

/** A command that the card did not carry out, with what it answered (kernel: {@code cmd.c}, {@code cmd_status_err}). */
public final class CommandException extends Mlx5Exception {
  private static final long serialVersionUID = 1;

  /** Status that the driver itself gives while the device is in error state. */
  public static final int DRIVER_STATUS = 0xfe;

  /** Syndrome that the driver itself gives while the device is in error state. */
  public static final int DRIVER_SYNDROME = 0xbadd00de;

  private final Opcode opcode;
  private final int status;
  private final int syndrome;

  private CommandException(Mlx5Errno errno, Opcode opcode, int status, int syndrome, String message) {
    super(errno, message);
    this.opcode = opcode;
    this.status = status;
    this.syndrome = syndrome;
  }

  /**
   * Describes a command that was answered with a status.
   *
   * @param opcode the command
   * @param modifier its modifier
   * @param status the status, not 0
   * @param syndrome the syndrome, which is the firmware's own number
   * @return the exception
   */
  public static CommandException ofStatus(Opcode opcode, int modifier, int status, int syndrome) {
    CommandStatus known = CommandStatus.of(status);
    String text = status == DRIVER_STATUS ? "device is in error state" : known == null ? "unknown" : known.text();
    Mlx5Errno errno = errnoOf(known);
    return new CommandException(
        errno,
        opcode,
        status,
        syndrome,
        "%s(0x%x) op_mod(0x%x) failed, status %s(0x%x), syndrome (0x%x), err(%s)"
            .formatted(opcode.text(), opcode.number(), modifier, text, status, syndrome, errno));
  }

  /**
   * Describes a command that could not be delivered.
   *
   * @param opcode the command
   * @param delivery the delivery status, not 0
   * @return the exception
   */
  public static CommandException ofDelivery(Opcode opcode, int delivery) {
    DeliveryStatus known = DeliveryStatus.of(delivery);
    return new CommandException(
        errnoOf(known),
        opcode,
        0,
        0,
        "%s(0x%x) was not delivered: %s(0x%x), err(%s)"
            .formatted(opcode.text(), opcode.number(), known, delivery, errnoOf(known)));
  }

  /**
   * Describes a command without an answer.
   *
   * @param errno the error number
   * @param opcode the command
   * @param reason why there is none
   * @return the exception
   */
  public static CommandException unanswered(Mlx5Errno errno, Opcode opcode, String reason) {
    return new CommandException(
        errno, opcode, 0, 0, "%s(0x%x): %s, err(%s)".formatted(opcode.text(), opcode.number(), reason, errno));
  }

  private static Mlx5Errno errnoOf(CommandStatus status) {
    if (status == null) {
      return Mlx5Errno.EIO;
    }
    return switch (status) {
      case BAD_OPERATION, BAD_PARAMETER, BAD_RESOURCE, BAD_RESOURCE_STATE, BAD_INDEX, BAD_QP_STATE, BAD_PACKET,
          BAD_SIZE ->
          Mlx5Errno.EINVAL;
      case RESOURCE_BUSY -> Mlx5Errno.EBUSY;
      case LIMITS_EXCEEDED -> Mlx5Errno.ENOMEM;
      case NO_RESOURCES -> Mlx5Errno.EAGAIN;
      default -> Mlx5Errno.EIO;
    };
  }

  private static Mlx5Errno errnoOf(DeliveryStatus status) {
    if (status == null) {
      return Mlx5Errno.EINVAL;
    }
    return switch (status) {
      case SIGNATURE, TOKEN -> Mlx5Errno.EBADR;
      case BLOCK_NUMBER, OUTPUT_POINTER, INPUT_POINTER -> Mlx5Errno.EFAULT;
      case FIRMWARE -> Mlx5Errno.EIO;
      case INPUT_LENGTH, OUTPUT_LENGTH, RESERVED_NOT_CLEAR, DESCRIPTOR_TYPE -> Mlx5Errno.ENOMSG;
      default -> Mlx5Errno.EINVAL;
    };
  }

  /** {@return the command} */
  public Opcode opcode() {
    return opcode;
  }

  /** {@return the status of the answer, {@link #DRIVER_STATUS}, or 0 when there was none} */
  public int status() {
    return status;
  }

  /** {@return the syndrome of the answer, 0 when there was none} */
  public int syndrome() {
    return syndrome;
  }
}
