package org.rdma4j.roce.packet;

import static org.rdma4j.roce.packet.OpcodeFlag.ATOMIC;
import static org.rdma4j.roce.packet.OpcodeFlag.ATOMIC_WRITE;
import static org.rdma4j.roce.packet.OpcodeFlag.COMPLETES;
import static org.rdma4j.roce.packet.OpcodeFlag.CONSUMES_RECEIVE;
import static org.rdma4j.roce.packet.OpcodeFlag.END;
import static org.rdma4j.roce.packet.OpcodeFlag.FLUSH;
import static org.rdma4j.roce.packet.OpcodeFlag.IMMEDIATE;
import static org.rdma4j.roce.packet.OpcodeFlag.INVALIDATE;
import static org.rdma4j.roce.packet.OpcodeFlag.MIDDLE;
import static org.rdma4j.roce.packet.OpcodeFlag.PAYLOAD;
import static org.rdma4j.roce.packet.OpcodeFlag.READ;
import static org.rdma4j.roce.packet.OpcodeFlag.REQUEST;
import static org.rdma4j.roce.packet.OpcodeFlag.RESPONSE;
import static org.rdma4j.roce.packet.OpcodeFlag.SEND;
import static org.rdma4j.roce.packet.OpcodeFlag.START;
import static org.rdma4j.roce.packet.OpcodeFlag.WRITE;

import java.util.Arrays;

/**
 * The BTH opcodes and, as one table, what each means: header sequence, offsets and flags (IBA volume 1, 9.2.1; kernel
 * sw/rxe/rxe_opcode.c). Bits 7:5 are the transport, bits 4:0 the operation. An opcode that is not in the table is
 * unknown, and a packet with it is dropped. All methods take any value from 0 to 255.
 */
public final class Opcode {

  /** Transport bits of the reliable connection. */
  public static final int TRANSPORT_RC = 0x00;

  /** Transport bits of the unreliable connection. */
  public static final int TRANSPORT_UC = 0x20;

  /** Transport bits of the reliable datagram, which no queue pair type here uses. */
  public static final int TRANSPORT_RD = 0x40;

  /** Transport bits of the unreliable datagram. */
  public static final int TRANSPORT_UD = 0x60;

  /** Transport bits of congestion notification packets (RoCEv2 annex A17.9.2). */
  public static final int TRANSPORT_CNP = 0x80;

  /** Transport bits of the extended reliable connection. */
  public static final int TRANSPORT_XRC = 0xa0;

  /** RC SEND First: BTH. */
  public static final int RC_SEND_FIRST = 0x00;

  /** RC SEND Middle: BTH. */
  public static final int RC_SEND_MIDDLE = 0x01;

  /** RC SEND Last: BTH. */
  public static final int RC_SEND_LAST = 0x02;

  /** RC SEND Last Imm: BTH, ImmDt. */
  public static final int RC_SEND_LAST_WITH_IMMEDIATE = 0x03;

  /** RC SEND Only: BTH. */
  public static final int RC_SEND_ONLY = 0x04;

  /** RC SEND Only Imm: BTH, ImmDt. */
  public static final int RC_SEND_ONLY_WITH_IMMEDIATE = 0x05;

  /** RC WRITE First: BTH, RETH. */
  public static final int RC_RDMA_WRITE_FIRST = 0x06;

  /** RC WRITE Middle: BTH. */
  public static final int RC_RDMA_WRITE_MIDDLE = 0x07;

  /** RC WRITE Last: BTH. */
  public static final int RC_RDMA_WRITE_LAST = 0x08;

  /** RC WRITE Last Imm: BTH, ImmDt. */
  public static final int RC_RDMA_WRITE_LAST_WITH_IMMEDIATE = 0x09;

  /** RC WRITE Only: BTH, RETH. */
  public static final int RC_RDMA_WRITE_ONLY = 0x0a;

  /** RC WRITE Only Imm: BTH, RETH, ImmDt. */
  public static final int RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE = 0x0b;

  /** RC READ Request: BTH, RETH. */
  public static final int RC_RDMA_READ_REQUEST = 0x0c;

  /** RC READ Resp First: BTH, AETH. */
  public static final int RC_RDMA_READ_RESPONSE_FIRST = 0x0d;

  /** RC READ Resp Middle: BTH. */
  public static final int RC_RDMA_READ_RESPONSE_MIDDLE = 0x0e;

  /** RC READ Resp Last: BTH, AETH. */
  public static final int RC_RDMA_READ_RESPONSE_LAST = 0x0f;

  /** RC READ Resp Only: BTH, AETH. */
  public static final int RC_RDMA_READ_RESPONSE_ONLY = 0x10;

  /** RC ACK: BTH, AETH. */
  public static final int RC_ACKNOWLEDGE = 0x11;

  /** RC ATOMIC ACK: BTH, AETH, AtomicAckETH. */
  public static final int RC_ATOMIC_ACKNOWLEDGE = 0x12;

  /** RC CmpSwap: BTH, AtomicETH. */
  public static final int RC_COMPARE_SWAP = 0x13;

  /** RC FetchAdd: BTH, AtomicETH. */
  public static final int RC_FETCH_ADD = 0x14;

  /** RC SEND Last Inv: BTH, IETH. */
  public static final int RC_SEND_LAST_WITH_INVALIDATE = 0x16;

  /** RC SEND Only Inv: BTH, IETH. */
  public static final int RC_SEND_ONLY_WITH_INVALIDATE = 0x17;

  /** RC FLUSH: BTH, FETH, RETH (IBA annex A19). */
  public static final int RC_FLUSH = 0x1c;

  /** RC ATOMIC WRITE: BTH, RETH (IBA annex A19). */
  public static final int RC_ATOMIC_WRITE = 0x1d;

  /** UC SEND First: BTH. */
  public static final int UC_SEND_FIRST = 0x20;

  /** UC SEND Middle: BTH. */
  public static final int UC_SEND_MIDDLE = 0x21;

  /** UC SEND Last: BTH. */
  public static final int UC_SEND_LAST = 0x22;

  /** UC SEND Last Imm: BTH, ImmDt. */
  public static final int UC_SEND_LAST_WITH_IMMEDIATE = 0x23;

  /** UC SEND Only: BTH. */
  public static final int UC_SEND_ONLY = 0x24;

  /** UC SEND Only Imm: BTH, ImmDt. */
  public static final int UC_SEND_ONLY_WITH_IMMEDIATE = 0x25;

  /** UC WRITE First: BTH, RETH. */
  public static final int UC_RDMA_WRITE_FIRST = 0x26;

  /** UC WRITE Middle: BTH. */
  public static final int UC_RDMA_WRITE_MIDDLE = 0x27;

  /** UC WRITE Last: BTH. */
  public static final int UC_RDMA_WRITE_LAST = 0x28;

  /** UC WRITE Last Imm: BTH, ImmDt. */
  public static final int UC_RDMA_WRITE_LAST_WITH_IMMEDIATE = 0x29;

  /** UC WRITE Only: BTH, RETH. */
  public static final int UC_RDMA_WRITE_ONLY = 0x2a;

  /** UC WRITE Only Imm: BTH, RETH, ImmDt. */
  public static final int UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE = 0x2b;

  /** UD SEND Only: BTH, DETH. */
  public static final int UD_SEND_ONLY = 0x64;

  /** UD SEND Only Imm: BTH, DETH, ImmDt. */
  public static final int UD_SEND_ONLY_WITH_IMMEDIATE = 0x65;

  /** XRC SEND First: BTH, XRCETH. */
  public static final int XRC_SEND_FIRST = 0xa0;

  /** XRC SEND Middle: BTH, XRCETH. */
  public static final int XRC_SEND_MIDDLE = 0xa1;

  /** XRC SEND Last: BTH, XRCETH. */
  public static final int XRC_SEND_LAST = 0xa2;

  /** XRC SEND Last Imm: BTH, XRCETH, ImmDt. */
  public static final int XRC_SEND_LAST_WITH_IMMEDIATE = 0xa3;

  /** XRC SEND Only: BTH, XRCETH. */
  public static final int XRC_SEND_ONLY = 0xa4;

  /** XRC SEND Only Imm: BTH, XRCETH, ImmDt. */
  public static final int XRC_SEND_ONLY_WITH_IMMEDIATE = 0xa5;

  /** XRC WRITE First: BTH, XRCETH, RETH. */
  public static final int XRC_RDMA_WRITE_FIRST = 0xa6;

  /** XRC WRITE Middle: BTH, XRCETH. */
  public static final int XRC_RDMA_WRITE_MIDDLE = 0xa7;

  /** XRC WRITE Last: BTH, XRCETH. */
  public static final int XRC_RDMA_WRITE_LAST = 0xa8;

  /** XRC WRITE Last Imm: BTH, XRCETH, ImmDt. */
  public static final int XRC_RDMA_WRITE_LAST_WITH_IMMEDIATE = 0xa9;

  /** XRC WRITE Only: BTH, XRCETH, RETH. */
  public static final int XRC_RDMA_WRITE_ONLY = 0xaa;

  /** XRC WRITE Only Imm: BTH, XRCETH, RETH, ImmDt. */
  public static final int XRC_RDMA_WRITE_ONLY_WITH_IMMEDIATE = 0xab;

  /** XRC READ Request: BTH, XRCETH, RETH. */
  public static final int XRC_RDMA_READ_REQUEST = 0xac;

  /** XRC READ Resp First: BTH, AETH. */
  public static final int XRC_RDMA_READ_RESPONSE_FIRST = 0xad;

  /** XRC READ Resp Middle: BTH. */
  public static final int XRC_RDMA_READ_RESPONSE_MIDDLE = 0xae;

  /** XRC READ Resp Last: BTH, AETH. */
  public static final int XRC_RDMA_READ_RESPONSE_LAST = 0xaf;

  /** XRC READ Resp Only: BTH, AETH. */
  public static final int XRC_RDMA_READ_RESPONSE_ONLY = 0xb0;

  /** XRC ACK: BTH, AETH. */
  public static final int XRC_ACKNOWLEDGE = 0xb1;

  /** XRC ATOMIC ACK: BTH, AETH, AtomicAckETH. */
  public static final int XRC_ATOMIC_ACKNOWLEDGE = 0xb2;

  /** XRC CmpSwap: BTH, XRCETH, AtomicETH. */
  public static final int XRC_COMPARE_SWAP = 0xb3;

  /** XRC FetchAdd: BTH, XRCETH, AtomicETH. */
  public static final int XRC_FETCH_ADD = 0xb4;

  /** XRC SEND Last Inv: BTH, XRCETH, IETH. */
  public static final int XRC_SEND_LAST_WITH_INVALIDATE = 0xb6;

  /** XRC SEND Only Inv: BTH, XRCETH, IETH. */
  public static final int XRC_SEND_ONLY_WITH_INVALIDATE = 0xb7;

  /** XRC FLUSH: BTH, XRCETH, FETH, RETH. */
  public static final int XRC_FLUSH = 0xbc;

  /** XRC ATOMIC WRITE: BTH, XRCETH, RETH. */
  public static final int XRC_ATOMIC_WRITE = 0xbd;

  private static final int TRANSPORT_MASK = 0xe0;
  private static final int OPCODES = 256;

  // Extended headers: numbers of rows in OFFSETS.
  private static final int RETH = 0;
  private static final int AETH = 1;
  private static final int IMM = 2;
  private static final int IETH = 3;
  private static final int ATOMIC_ETH = 4;
  private static final int ATOMIC_ACK = 5;
  private static final int DETH = 6;
  private static final int FETH = 7;
  private static final int XRCETH = 8;
  private static final int[] HEADER_LENGTHS = {
    Reth.LENGTH, Aeth.LENGTH, ImmDt.LENGTH, Ieth.LENGTH, AtomicEth.LENGTH, AtomicAckEth.LENGTH, Deth.LENGTH,
    Feth.LENGTH, Xrceth.LENGTH
  };

  // Flags that go together.
  private static final int ONLY = START | END;
  private static final int RECEIVE = COMPLETES | CONSUMES_RECEIVE;

  private static final String[] NAMES = new String[OPCODES];
  private static final int[] FLAGS = new int[OPCODES];
  private static final byte[] LENGTHS = new byte[OPCODES];
  private static final byte[] OFFSETS = new byte[HEADER_LENGTHS.length * OPCODES];

  static {
    Arrays.fill(OFFSETS, (byte) -1);
    define(RC_SEND_FIRST, "RC SEND First", REQUEST | SEND | START | CONSUMES_RECEIVE | PAYLOAD);
    define(RC_SEND_MIDDLE, "RC SEND Middle", REQUEST | SEND | MIDDLE | PAYLOAD);
    define(RC_SEND_LAST, "RC SEND Last", REQUEST | SEND | END | COMPLETES | PAYLOAD);
    define(RC_SEND_LAST_WITH_IMMEDIATE, "RC SEND Last Imm", REQUEST | SEND | END | COMPLETES | PAYLOAD, IMM);
    define(RC_SEND_ONLY, "RC SEND Only", REQUEST | SEND | ONLY | RECEIVE | PAYLOAD);
    define(RC_SEND_ONLY_WITH_IMMEDIATE, "RC SEND Only Imm", REQUEST | SEND | ONLY | RECEIVE | PAYLOAD, IMM);
    define(RC_RDMA_WRITE_FIRST, "RC WRITE First", REQUEST | WRITE | START | PAYLOAD, RETH);
    define(RC_RDMA_WRITE_MIDDLE, "RC WRITE Middle", REQUEST | WRITE | MIDDLE | PAYLOAD);
    define(RC_RDMA_WRITE_LAST, "RC WRITE Last", REQUEST | WRITE | END | PAYLOAD);
    define(RC_RDMA_WRITE_LAST_WITH_IMMEDIATE, "RC WRITE Last Imm", REQUEST | WRITE | END | RECEIVE | PAYLOAD, IMM);
    define(RC_RDMA_WRITE_ONLY, "RC WRITE Only", REQUEST | WRITE | ONLY | PAYLOAD, RETH);
    define(
        RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE, "RC WRITE Only Imm", REQUEST | WRITE | ONLY | RECEIVE | PAYLOAD, RETH, IMM);
    define(RC_RDMA_READ_REQUEST, "RC READ Request", REQUEST | READ | ONLY, RETH);
    define(RC_RDMA_READ_RESPONSE_FIRST, "RC READ Resp First", RESPONSE | READ | START | PAYLOAD, AETH);
    define(RC_RDMA_READ_RESPONSE_MIDDLE, "RC READ Resp Middle", RESPONSE | READ | MIDDLE | PAYLOAD);
    define(RC_RDMA_READ_RESPONSE_LAST, "RC READ Resp Last", RESPONSE | READ | END | PAYLOAD, AETH);
    define(RC_RDMA_READ_RESPONSE_ONLY, "RC READ Resp Only", RESPONSE | READ | ONLY | PAYLOAD, AETH);
    define(RC_ACKNOWLEDGE, "RC ACK", RESPONSE | ONLY, AETH);
    define(RC_ATOMIC_ACKNOWLEDGE, "RC ATOMIC ACK", RESPONSE | ATOMIC | ONLY, AETH, ATOMIC_ACK);
    define(RC_COMPARE_SWAP, "RC CmpSwap", REQUEST | ATOMIC | ONLY, ATOMIC_ETH);
    define(RC_FETCH_ADD, "RC FetchAdd", REQUEST | ATOMIC | ONLY, ATOMIC_ETH);
    define(RC_SEND_LAST_WITH_INVALIDATE, "RC SEND Last Inv", REQUEST | SEND | END | COMPLETES | PAYLOAD, IETH);
    define(RC_SEND_ONLY_WITH_INVALIDATE, "RC SEND Only Inv", REQUEST | SEND | ONLY | RECEIVE | PAYLOAD, IETH);
    define(RC_FLUSH, "RC FLUSH", REQUEST | FLUSH | ONLY, FETH, RETH);
    define(RC_ATOMIC_WRITE, "RC ATOMIC WRITE", REQUEST | ATOMIC_WRITE | ONLY | PAYLOAD, RETH);
    define(UC_SEND_FIRST, "UC SEND First", REQUEST | SEND | START | CONSUMES_RECEIVE | PAYLOAD);
    define(UC_SEND_MIDDLE, "UC SEND Middle", REQUEST | SEND | MIDDLE | PAYLOAD);
    define(UC_SEND_LAST, "UC SEND Last", REQUEST | SEND | END | COMPLETES | PAYLOAD);
    define(UC_SEND_LAST_WITH_IMMEDIATE, "UC SEND Last Imm", REQUEST | SEND | END | COMPLETES | PAYLOAD, IMM);
    define(UC_SEND_ONLY, "UC SEND Only", REQUEST | SEND | ONLY | RECEIVE | PAYLOAD);
    define(UC_SEND_ONLY_WITH_IMMEDIATE, "UC SEND Only Imm", REQUEST | SEND | ONLY | RECEIVE | PAYLOAD, IMM);
    define(UC_RDMA_WRITE_FIRST, "UC WRITE First", REQUEST | WRITE | START | PAYLOAD, RETH);
    define(UC_RDMA_WRITE_MIDDLE, "UC WRITE Middle", REQUEST | WRITE | MIDDLE | PAYLOAD);
    define(UC_RDMA_WRITE_LAST, "UC WRITE Last", REQUEST | WRITE | END | PAYLOAD);
    define(UC_RDMA_WRITE_LAST_WITH_IMMEDIATE, "UC WRITE Last Imm", REQUEST | WRITE | END | RECEIVE | PAYLOAD, IMM);
    define(UC_RDMA_WRITE_ONLY, "UC WRITE Only", REQUEST | WRITE | ONLY | PAYLOAD, RETH);
    define(
        UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE, "UC WRITE Only Imm", REQUEST | WRITE | ONLY | RECEIVE | PAYLOAD, RETH, IMM);
    define(UD_SEND_ONLY, "UD SEND Only", REQUEST | SEND | ONLY | RECEIVE | PAYLOAD, DETH);
    define(UD_SEND_ONLY_WITH_IMMEDIATE, "UD SEND Only Imm", REQUEST | SEND | ONLY | RECEIVE | PAYLOAD, DETH, IMM);
  }

  static {
    for (int opcode = TRANSPORT_RC; opcode < TRANSPORT_UC; opcode++) {
      if (FLAGS[opcode] != 0) {
        defineExtended(opcode);
      }
    }
  }

  private Opcode() {}

  /** The extended connection has what the reliable one has, with one more header behind the BTH of every request. */
  private static void defineExtended(int reliable) {
    int opcode = TRANSPORT_XRC | reliable;
    boolean request = (FLAGS[reliable] & REQUEST) != 0;
    int more = request ? Xrceth.LENGTH : 0;
    for (int header = 0; header < HEADER_LENGTHS.length; header++) {
      byte offset = OFFSETS[header << 8 | reliable];
      OFFSETS[header << 8 | opcode] = (byte) (offset < 0 ? offset : offset + more);
    }
    if (request) {
      OFFSETS[XRCETH << 8 | opcode] = Bth.LENGTH;
    }
    NAMES[opcode] = "X" + NAMES[reliable];
    FLAGS[opcode] = FLAGS[reliable];
    LENGTHS[opcode] = (byte) (LENGTHS[reliable] + more);
  }

  private static void define(int opcode, String name, int flags, int... headers) {
    int length = Bth.LENGTH;
    int carried = flags;
    for (int header : headers) {
      OFFSETS[header << 8 | opcode] = (byte) length;
      length += HEADER_LENGTHS[header];
      carried |= header == IMM ? IMMEDIATE : header == IETH ? INVALIDATE : 0;
    }
    NAMES[opcode] = name;
    FLAGS[opcode] = carried;
    LENGTHS[opcode] = (byte) length;
  }

  /**
   * Says whether the table knows an opcode.
   *
   * @param opcode 0 to 255
   * @return false for an opcode whose packets are dropped
   */
  public static boolean isKnown(int opcode) {
    return LENGTHS[opcode] != 0;
  }

  /**
   * Bytes from the start of the BTH to the payload.
   *
   * @param opcode 0 to 255
   * @return 12 to 44, or 0 for an unknown opcode
   */
  public static int headerLength(int opcode) {
    return LENGTHS[opcode];
  }

  /**
   * What the opcode means.
   *
   * @param opcode 0 to 255
   * @return bits of {@link OpcodeFlag}, 0 for an unknown opcode
   */
  public static int flags(int opcode) {
    return FLAGS[opcode];
  }

  /**
   * The transport bits.
   *
   * @param opcode 0 to 255
   * @return one of the TRANSPORT constants, or a reserved value
   */
  public static int transport(int opcode) {
    return opcode & TRANSPORT_MASK;
  }

  /**
   * The name as packet analysers show it.
   *
   * @param opcode 0 to 255
   * @return for example {@code RC SEND Only}, or {@code opcode 0x1f} for an unknown one
   */
  public static String name(int opcode) {
    String name = NAMES[opcode];
    return name != null ? name : "opcode 0x" + Integer.toHexString(opcode);
  }

  /**
   * Where the {@link Reth} lies.
   *
   * @param opcode 0 to 255
   * @return bytes from the start of the BTH, or -1 when the packet has no such header
   */
  public static int rethOffset(int opcode) {
    return OFFSETS[RETH << 8 | opcode];
  }

  /**
   * Where the {@link Aeth} lies.
   *
   * @param opcode 0 to 255
   * @return bytes from the start of the BTH, or -1 when the packet has no such header
   */
  public static int aethOffset(int opcode) {
    return OFFSETS[AETH << 8 | opcode];
  }

  /**
   * Where the {@link ImmDt} lies.
   *
   * @param opcode 0 to 255
   * @return bytes from the start of the BTH, or -1 when the packet has no such header
   */
  public static int immOffset(int opcode) {
    return OFFSETS[IMM << 8 | opcode];
  }

  /**
   * Where the {@link Ieth} lies.
   *
   * @param opcode 0 to 255
   * @return bytes from the start of the BTH, or -1 when the packet has no such header
   */
  public static int iethOffset(int opcode) {
    return OFFSETS[IETH << 8 | opcode];
  }

  /**
   * Where the {@link AtomicEth} lies.
   *
   * @param opcode 0 to 255
   * @return bytes from the start of the BTH, or -1 when the packet has no such header
   */
  public static int atomicOffset(int opcode) {
    return OFFSETS[ATOMIC_ETH << 8 | opcode];
  }

  /**
   * Where the {@link AtomicAckEth} lies.
   *
   * @param opcode 0 to 255
   * @return bytes from the start of the BTH, or -1 when the packet has no such header
   */
  public static int atomicAckOffset(int opcode) {
    return OFFSETS[ATOMIC_ACK << 8 | opcode];
  }

  /**
   * Where the {@link Deth} lies.
   *
   * @param opcode 0 to 255
   * @return bytes from the start of the BTH, or -1 when the packet has no such header
   */
  public static int dethOffset(int opcode) {
    return OFFSETS[DETH << 8 | opcode];
  }

  /**
   * Where the {@link Feth} lies.
   *
   * @param opcode 0 to 255
   * @return bytes from the start of the BTH, or -1 when the packet has no such header
   */
  public static int fethOffset(int opcode) {
    return OFFSETS[FETH << 8 | opcode];
  }

  /**
   * Where the {@link Xrceth} lies.
   *
   * @param opcode 0 to 255
   * @return bytes from the start of the BTH, or -1 when the packet has no such header
   */
  public static int xrcethOffset(int opcode) {
    return OFFSETS[XRCETH << 8 | opcode];
  }

  /**
   * What the opcode does, whatever its transport.
   *
   * @param opcode 0 to 255
   * @return the lower 5 bits: the opcode that a reliable connection has for the same
   */
  public static int operation(int opcode) {
    return opcode & ~TRANSPORT_MASK;
  }
}
