package org.rdma4j.mlx5.core;

import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.ifc.Opcode;

/**
 * A command that is over, as the trace shows it. The memory is only to be looked at during the call.
 *
 * @param device address of the PCI function
 * @param opcode the command
 * @param modifier its modifier
 * @param input the input
 * @param output the output, all zero when there was no answer
 * @param status status of the answer, {@link CommandException#DRIVER_STATUS} when the driver answered itself, or -1
 *     when there was no answer
 * @param syndrome syndrome of the answer
 * @param nanos from the call to the end, in ns
 */
public record CommandRecord(
    String device,
    Opcode opcode,
    int modifier,
    MemorySegment input,
    MemorySegment output,
    int status,
    int syndrome,
    long nanos) {}
