package org.rdma4j.roce.packet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The opcode table against the facts of rxe's, written down here independently. */
class OpcodeTest {

  /** Opcode, name, header bytes, flags of rxe_opcode.c, and extended headers with their offsets. */
  private static final String RXE_TABLE =
      """
      0x00 RC_SEND_FIRST                    12 REQ,RWR,SEND,START
      0x01 RC_SEND_MIDDLE                   12 MIDDLE,REQ,SEND
      0x02 RC_SEND_LAST                     12 COMP,END,REQ,SEND
      0x03 RC_SEND_LAST_WITH_IMMEDIATE      16 COMP,END,REQ,SEND                ImmDt@12
      0x04 RC_SEND_ONLY                     12 COMP,END,REQ,RWR,SEND,START
      0x05 RC_SEND_ONLY_WITH_IMMEDIATE      16 COMP,END,REQ,RWR,SEND,START      ImmDt@12
      0x06 RC_RDMA_WRITE_FIRST              28 REQ,START,WRITE                  RETH@12
      0x07 RC_RDMA_WRITE_MIDDLE             12 MIDDLE,REQ,WRITE
      0x08 RC_RDMA_WRITE_LAST               12 END,REQ,WRITE
      0x09 RC_RDMA_WRITE_LAST_WITH_IMMEDIATE 16 COMP,END,REQ,RWR,WRITE           ImmDt@12
      0x0a RC_RDMA_WRITE_ONLY               28 END,REQ,START,WRITE              RETH@12
      0x0b RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE 32 COMP,END,REQ,RWR,START,WRITE     RETH@12 ImmDt@28
      0x0c RC_RDMA_READ_REQUEST             28 END,READ,REQ,START               RETH@12
      0x0d RC_RDMA_READ_RESPONSE_FIRST      16 ACK,START                        AETH@12
      0x0e RC_RDMA_READ_RESPONSE_MIDDLE     12 ACK,MIDDLE
      0x0f RC_RDMA_READ_RESPONSE_LAST       16 ACK,END                          AETH@12
      0x10 RC_RDMA_READ_RESPONSE_ONLY       16 ACK,END,START                    AETH@12
      0x11 RC_ACKNOWLEDGE                   16 ACK,END,START                    AETH@12
      0x12 RC_ATOMIC_ACKNOWLEDGE            24 ACK,END,START                    AETH@12 AtomicAckETH@16
      0x13 RC_COMPARE_SWAP                  40 ATOMIC,END,REQ,START             AtomicETH@12
      0x14 RC_FETCH_ADD                     40 ATOMIC,END,REQ,START             AtomicETH@12
      0x16 RC_SEND_LAST_WITH_INVALIDATE     16 COMP,END,REQ,SEND                IETH@12
      0x17 RC_SEND_ONLY_WITH_INVALIDATE     16 COMP,END,REQ,RWR,SEND,START      IETH@12
      0x1c RC_FLUSH                         32 END,FLUSH,REQ,START              FETH@12 RETH@16
      0x1d RC_ATOMIC_WRITE                  28 ATOMIC_WRITE,END,REQ,START       RETH@12
      0x20 UC_SEND_FIRST                    12 REQ,RWR,SEND,START
      0x21 UC_SEND_MIDDLE                   12 MIDDLE,REQ,SEND
      0x22 UC_SEND_LAST                     12 COMP,END,REQ,SEND
      0x23 UC_SEND_LAST_WITH_IMMEDIATE      16 COMP,END,REQ,SEND                ImmDt@12
      0x24 UC_SEND_ONLY                     12 COMP,END,REQ,RWR,SEND,START
      0x25 UC_SEND_ONLY_WITH_IMMEDIATE      16 COMP,END,REQ,RWR,SEND,START      ImmDt@12
      0x26 UC_RDMA_WRITE_FIRST              28 REQ,START,WRITE                  RETH@12
      0x27 UC_RDMA_WRITE_MIDDLE             12 MIDDLE,REQ,WRITE
      0x28 UC_RDMA_WRITE_LAST               12 END,REQ,WRITE
      0x29 UC_RDMA_WRITE_LAST_WITH_IMMEDIATE 16 COMP,END,REQ,RWR,WRITE           ImmDt@12
      0x2a UC_RDMA_WRITE_ONLY               28 END,REQ,START,WRITE              RETH@12
      0x2b UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE 32 COMP,END,REQ,RWR,START,WRITE     RETH@12 ImmDt@28
      0x64 UD_SEND_ONLY                     20 COMP,END,REQ,RWR,SEND,START      DETH@12
      0x65 UD_SEND_ONLY_WITH_IMMEDIATE      24 COMP,END,REQ,RWR,SEND,START      DETH@12 ImmDt@20
      0xa0 XRC_SEND_FIRST 16 REQ,RWR,SEND,START XRCETH@12
      0xa1 XRC_SEND_MIDDLE 16 MIDDLE,REQ,SEND XRCETH@12
      0xa2 XRC_SEND_LAST 16 COMP,END,REQ,SEND XRCETH@12
      0xa3 XRC_SEND_LAST_WITH_IMMEDIATE 20 COMP,END,REQ,SEND XRCETH@12 ImmDt@16
      0xa4 XRC_SEND_ONLY 16 COMP,END,REQ,RWR,SEND,START XRCETH@12
      0xa5 XRC_SEND_ONLY_WITH_IMMEDIATE 20 COMP,END,REQ,RWR,SEND,START XRCETH@12 ImmDt@16
      0xa6 XRC_RDMA_WRITE_FIRST 32 REQ,START,WRITE XRCETH@12 RETH@16
      0xa7 XRC_RDMA_WRITE_MIDDLE 16 MIDDLE,REQ,WRITE XRCETH@12
      0xa8 XRC_RDMA_WRITE_LAST 16 END,REQ,WRITE XRCETH@12
      0xa9 XRC_RDMA_WRITE_LAST_WITH_IMMEDIATE 20 COMP,END,REQ,RWR,WRITE XRCETH@12 ImmDt@16
      0xaa XRC_RDMA_WRITE_ONLY 32 END,REQ,START,WRITE XRCETH@12 RETH@16
      0xab XRC_RDMA_WRITE_ONLY_WITH_IMMEDIATE 36 COMP,END,REQ,RWR,START,WRITE XRCETH@12 RETH@16 ImmDt@32
      0xac XRC_RDMA_READ_REQUEST 32 END,READ,REQ,START XRCETH@12 RETH@16
      0xad XRC_RDMA_READ_RESPONSE_FIRST 16 ACK,START AETH@12
      0xae XRC_RDMA_READ_RESPONSE_MIDDLE 12 ACK,MIDDLE
      0xaf XRC_RDMA_READ_RESPONSE_LAST 16 ACK,END AETH@12
      0xb0 XRC_RDMA_READ_RESPONSE_ONLY 16 ACK,END,START AETH@12
      0xb1 XRC_ACKNOWLEDGE 16 ACK,END,START AETH@12
      0xb2 XRC_ATOMIC_ACKNOWLEDGE 24 ACK,END,START AETH@12 AtomicAckETH@16
      0xb3 XRC_COMPARE_SWAP 44 ATOMIC,END,REQ,START XRCETH@12 AtomicETH@16
      0xb4 XRC_FETCH_ADD 44 ATOMIC,END,REQ,START XRCETH@12 AtomicETH@16
      0xb6 XRC_SEND_LAST_WITH_INVALIDATE 20 COMP,END,REQ,SEND XRCETH@12 IETH@16
      0xb7 XRC_SEND_ONLY_WITH_INVALIDATE 20 COMP,END,REQ,RWR,SEND,START XRCETH@12 IETH@16
      0xbc XRC_FLUSH 36 END,FLUSH,REQ,START XRCETH@12 FETH@16 RETH@20
      0xbd XRC_ATOMIC_WRITE 32 ATOMIC_WRITE,END,REQ,START XRCETH@12 RETH@16
      """;

  @Test
  void tableSaysWhatRxeSays() throws ReflectiveOperationException {
    int known = 0;
    for (String line : RXE_TABLE.lines().toList()) {
      String[] words = line.split(" +");
      int opcode = Integer.decode(words[0]);
      assertEquals(opcode, Opcode.class.getField(words[1]).getInt(null), line);
      assertTrue(Opcode.isKnown(opcode), line);
      assertEquals(Integer.parseInt(words[2]), Opcode.headerLength(opcode), line);
      assertEquals(words[3], rxeFlags(opcode), line);
      Map<String, Integer> headers = new HashMap<>();
      for (int i = 4; i < words.length; i++) {
        String[] header = words[i].split("@");
        headers.put(header[0], Integer.parseInt(header[1]));
      }
      assertEquals(headers.getOrDefault("RETH", -1), Opcode.rethOffset(opcode), line);
      assertEquals(headers.getOrDefault("AETH", -1), Opcode.aethOffset(opcode), line);
      assertEquals(headers.getOrDefault("ImmDt", -1), Opcode.immOffset(opcode), line);
      assertEquals(headers.getOrDefault("IETH", -1), Opcode.iethOffset(opcode), line);
      assertEquals(headers.getOrDefault("AtomicETH", -1), Opcode.atomicOffset(opcode), line);
      assertEquals(headers.getOrDefault("AtomicAckETH", -1), Opcode.atomicAckOffset(opcode), line);
      assertEquals(headers.getOrDefault("DETH", -1), Opcode.dethOffset(opcode), line);
      assertEquals(headers.getOrDefault("FETH", -1), Opcode.fethOffset(opcode), line);
      assertEquals(headers.getOrDefault("XRCETH", -1), Opcode.xrcethOffset(opcode), line);
      assertEquals(has(opcode, OpcodeFlag.IMMEDIATE), headers.containsKey("ImmDt"), line);
      assertEquals(has(opcode, OpcodeFlag.INVALIDATE), headers.containsKey("IETH"), line);
      String transport = words[1].substring(0, words[1].indexOf('_'));
      assertEquals(Map.of("RC", 0, "UC", 0x20, "UD", 0x60, "XRC", 0xa0).get(transport), Opcode.transport(opcode), line);
      assertEquals(opcode & 0x1f, Opcode.operation(opcode), line);
      assertTrue(Opcode.name(opcode).startsWith(transport + " "), line);
      known++;
    }
    for (int opcode = 0; opcode < 256; opcode++) {
      known -= Opcode.isKnown(opcode) ? 1 : 0;
    }
    assertEquals(0, known, "opcodes known but not in the list");
  }

  @Test
  void unknownOpcodesHaveNothing() {
    for (int opcode : new int[] {0x15, 0x1f, 0x2c, 0x40, 0x63, 0x81, 0xff}) {
      assertFalse(Opcode.isKnown(opcode));
      assertEquals(0, Opcode.headerLength(opcode));
      assertEquals(0, Opcode.flags(opcode));
      assertEquals(-1, Opcode.rethOffset(opcode));
      assertEquals(-1, Opcode.dethOffset(opcode));
      assertEquals("opcode 0x" + Integer.toHexString(opcode), Opcode.name(opcode));
    }
  }

  @Test
  void whatCarriesNoPayloadIsMarked() {
    for (int opcode : new int[] {
        Opcode.RC_RDMA_READ_REQUEST, Opcode.RC_ACKNOWLEDGE, Opcode.RC_ATOMIC_ACKNOWLEDGE, Opcode.RC_COMPARE_SWAP,
        Opcode.RC_FETCH_ADD, Opcode.RC_FLUSH}) {
      assertFalse(has(opcode, OpcodeFlag.PAYLOAD));
    }
    assertTrue(has(Opcode.RC_RDMA_READ_RESPONSE_MIDDLE, OpcodeFlag.PAYLOAD));
    assertTrue(has(Opcode.UD_SEND_ONLY, OpcodeFlag.PAYLOAD));
    assertTrue(has(Opcode.RC_ATOMIC_WRITE, OpcodeFlag.PAYLOAD));
  }

  /** Our flags in rxe's words. rxe has no kind of message for what goes back, and no immediate and invalidate flags. */
  private static String rxeFlags(int opcode) {
    TreeSet<String> flags = new TreeSet<>();
    boolean request = has(opcode, OpcodeFlag.REQUEST);
    assertEquals(!request, has(opcode, OpcodeFlag.RESPONSE));
    flags.add(request ? "REQ" : "ACK");
    Map<String, Integer> words = new HashMap<>(Map.of(
        "RWR", OpcodeFlag.CONSUMES_RECEIVE, "COMP", OpcodeFlag.COMPLETES, "START", OpcodeFlag.START,
        "MIDDLE", OpcodeFlag.MIDDLE, "END", OpcodeFlag.END));
    if (request) {
      words.putAll(Map.of(
          "SEND", OpcodeFlag.SEND, "WRITE", OpcodeFlag.WRITE, "READ", OpcodeFlag.READ, "ATOMIC", OpcodeFlag.ATOMIC,
          "FLUSH", OpcodeFlag.FLUSH, "ATOMIC_WRITE", OpcodeFlag.ATOMIC_WRITE));
    }
    words.forEach((word, flag) -> {
      if (has(opcode, flag)) {
        flags.add(word);
      }
    });
    return String.join(",", flags);
  }

  private static boolean has(int opcode, int flag) {
    return (Opcode.flags(opcode) & flag) != 0;
  }
}
