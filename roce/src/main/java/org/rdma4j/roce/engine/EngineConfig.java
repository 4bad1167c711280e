package org.rdma4j.roce.engine;

/**
 * Limits of an engine, each in one place (kernel: {@code rxe_param.h}).
 *
 * @param portMtu active path MTU of the port in bytes; no datagram is longer
 * @param maxMessageSize longest message in bytes, {@code max_msg_sz} of the port
 * @param windowPackets requests of one queue pair in flight, in packets, from 8 to 2^22 (kernel: 128)
 * @param readChunkPackets responses asked for by one READ request; longer READs go out as several requests, so that
 *     the responder cannot flood the requester's socket
 * @param receiveBatch packets taken from the link in one duty cycle
 * @param transmitBurst packets one queue pair may send in one duty cycle before others get their turn
 */
public record EngineConfig(
    int portMtu, long maxMessageSize, int windowPackets, int readChunkPackets, int receiveBatch, int transmitBurst) {
  /** After this many packets without one, an acknowledge is asked for in the middle of a message. */
  static final int PACKETS_PER_ACK_REQUEST = 64;
  /** The window never shrinks below this: a loss at the end of a window costs a timeout, so windows are not small. */
  static final int MIN_WINDOW = 32;
  /** Longest message of any request (IBA specification C9-3: 2^31 bytes). */
  static final long MAX_DMA_LENGTH = 1L << 31;

  /**
   * {@return the usual limits for a port}
   *
   * @param portMtu active path MTU in bytes
   */
  public static EngineConfig ofPortMtu(int portMtu) {
    return new EngineConfig(portMtu, 0x80_0000, 128, 64, 256, 64);
  }
}
