package org.rdma4j.roce.packet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Each header by its bytes on the wire, and with random fields at random places. */
class HeadersTest {

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final MemorySegment memory = Arena.ofAuto().allocate(128);
  private final String hint = "seed " + seed;

  @Test
  void bthBytes() {
    Bth.write(memory, 0, Opcode.RC_SEND_ONLY, true, 3, 0xffff, 0x123456, true, 0xabcdef);
    assertEquals("04b0ffff00123456" + "80abcdef", hex(0, Bth.LENGTH));
    Bth.setMigReq(memory, 0, true);
    Bth.setFecn(memory, 0, true);
    Bth.setBecn(memory, 0, true);
    Bth.setAckReq(memory, 0, false);
    assertEquals("04f0ffffc012345600abcdef", hex(0, Bth.LENGTH));
    Bth.setFecn(memory, 0, false);
    assertEquals("04f0ffff4012345600abcdef", hex(0, Bth.LENGTH));
  }

  @Test
  void extendedHeaderBytes() {
    Reth.write(memory, 1, 0x0102030405060708L, 0x11223344, 0xfffffffeL);
    assertEquals("010203040506070811223344fffffffe", hex(1, Reth.LENGTH));
    AtomicEth.write(memory, 1, 0x0102030405060708L, 0x11223344, 0x2122232425262728L, 0x3132333435363738L);
    assertEquals("01020304050607081122334421222324252627283132333435363738", hex(1, AtomicEth.LENGTH));
    Aeth.write(memory, 1, 0x6c, 0xffabcdef);
    assertEquals("6cabcdef", hex(1, Aeth.LENGTH));
    AtomicAckEth.write(memory, 1, 0x0102030405060708L);
    assertEquals("0102030405060708", hex(1, AtomicAckEth.LENGTH));
    ImmDt.write(memory, 1, 0x01020304);
    assertEquals("01020304", hex(1, ImmDt.LENGTH));
    Ieth.write(memory, 1, 0x05060708);
    assertEquals("05060708", hex(1, Ieth.LENGTH));
    Xrceth.write(memory, 1, 0xffabcdef);
    assertEquals("00abcdef", hex(1, Xrceth.LENGTH), "the reserved byte is 0");
    Feth.write(memory, 1, Feth.GLOBAL | Feth.PERSISTENT, Feth.REGION);
    assertEquals("00000013", hex(1, Feth.LENGTH));
    Feth.write(memory, 1, -1, -2);
    assertEquals("0000002f", hex(1, Feth.LENGTH), "no reserved bit is set");
    Deth.write(memory, 1, 0x11111111, 0xffabcdef);
    assertEquals("1111111100abcdef", hex(1, Deth.LENGTH));
  }

  @RepeatedTest(200)
  void bthFieldsAreReadAsWritten() {
    long at = random.nextInt(64);
    int opcode = random.nextInt(256);
    int pad = random.nextInt(4);
    int pkey = random.nextInt(0x10000);
    int qp = random.nextInt(1 << 24);
    int psn = random.nextInt();
    boolean solicited = random.nextBoolean();
    boolean ackReq = random.nextBoolean();
    Bth.write(memory, at, opcode, solicited, pad, pkey, qp, ackReq, psn);
    assertEquals(opcode, Bth.opcode(memory, at), hint);
    assertEquals(solicited, Bth.solicited(memory, at), hint);
    assertEquals(false, Bth.migReq(memory, at), hint);
    assertEquals(pad, Bth.padCount(memory, at), hint);
    assertEquals(0, Bth.version(memory, at), hint);
    assertEquals(pkey, Bth.pkey(memory, at), hint);
    assertEquals(false, Bth.fecn(memory, at), hint);
    assertEquals(false, Bth.becn(memory, at), hint);
    assertEquals(qp, Bth.destQp(memory, at), hint);
    assertEquals(ackReq, Bth.ackReq(memory, at), hint);
    assertEquals(psn & Psn.MASK, Bth.psn(memory, at), hint);
  }

  @RepeatedTest(200)
  void extendedFieldsAreReadAsWritten() {
    long at = random.nextInt(64);
    long address = random.nextLong();
    long a = random.nextLong();
    long b = random.nextLong();
    int key = random.nextInt();
    int low24 = random.nextInt(1 << 24);
    long length = random.nextLong(1L << 32);
    Reth.write(memory, at, address, key, length);
    assertEquals(address, Reth.address(memory, at), hint);
    assertEquals(key, Reth.rkey(memory, at), hint);
    assertEquals(length, Reth.length(memory, at), hint);
    AtomicEth.write(memory, at, address, key, a, b);
    assertEquals(address, AtomicEth.address(memory, at), hint);
    assertEquals(key, AtomicEth.rkey(memory, at), hint);
    assertEquals(a, AtomicEth.swapOrAdd(memory, at), hint);
    assertEquals(b, AtomicEth.compare(memory, at), hint);
    Aeth.write(memory, at, key & 0xff, low24);
    assertEquals(key & 0xff, Aeth.syndrome(memory, at), hint);
    assertEquals(low24, Aeth.msn(memory, at), hint);
    AtomicAckEth.write(memory, at, a);
    assertEquals(a, AtomicAckEth.original(memory, at), hint);
    ImmDt.write(memory, at, key);
    assertEquals(key, ImmDt.value(memory, at), hint);
    Ieth.write(memory, at, key);
    assertEquals(key, Ieth.rkey(memory, at), hint);
    Xrceth.write(memory, at, low24);
    assertEquals(low24, Xrceth.srq(memory, at), hint);
    Feth.write(memory, at, key & 0xf, low24 & 3);
    assertEquals(key & 0xf, Feth.placement(memory, at), hint);
    assertEquals(low24 & 3, Feth.selectivity(memory, at), hint);
    Deth.write(memory, at, key, low24);
    assertEquals(key, Deth.qkey(memory, at), hint);
    assertEquals(low24, Deth.sourceQp(memory, at), hint);
  }

  private String hex(long offset, int length) {
    return HexFormat.of().formatHex(memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
  }
}
