package org.rdma4j.rdma.cm.message;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.rdma4j.ib.core.mad.MadHeader;

/** The MADs in a capture of two Linux peers, in the order in which they were on the wire. */
public final class CapturedMads {
  /** The captures that hold messages of communication management. */
  static final List<String> CAPTURES =
      List.of(
          "cm-cmtime", "cm-rcopy", "cm-rdma-client", "cm-reject-no-listener", "cm-reject-no-listener-ipv6",
          "cm-riostream", "cm-rping", "cm-rping-ipv6", "cm-rstream", "cm-ucmatose", "cm-udaddy",
          "perftest-send-bw-cm", "userspace-icrc-probe-ipv4", "userspace-icrc-probe-ipv6");

  private static final int FILE_HEADER = 24;
  private static final int FRAME_HEADER = 16;
  private static final int FRAME_LENGTH = 8;
  private static final int ETHERNET = 14;
  private static final int ETHER_TYPE_IPV6 = 0x86dd;
  private static final int UDP = 8;
  private static final int BTH_AND_DETH = 20;
  private static final int OPCODE_UD_SEND_ONLY = 0x64;
  private static final int DESTINATION_QP = 4;

  private CapturedMads() {}

  /** All of a capture. */
  public static List<MemorySegment> of(String capture) throws IOException {
    byte[] file;
    try (InputStream in = CapturedMads.class.getResourceAsStream("/golden/" + capture + ".pcap")) {
      file = in.readAllBytes();
    }
    ByteBuffer headers = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    List<MemorySegment> mads = new ArrayList<>();
    int at = FILE_HEADER;
    while (at < file.length) {
      int length = headers.getInt(at + FRAME_LENGTH);
      byte[] frame = Arrays.copyOfRange(file, at + FRAME_HEADER, at + FRAME_HEADER + length);
      int bth = ETHERNET + ipHeader(frame) + UDP;
      ByteBuffer packet = ByteBuffer.wrap(frame);
      if (frame[bth] == OPCODE_UD_SEND_ONLY && (packet.getInt(bth + DESTINATION_QP) & 0xff_ffff) == 1) {
        byte[] mad = Arrays.copyOfRange(frame, bth + BTH_AND_DETH, bth + BTH_AND_DETH + MadHeader.MAD_BYTES);
        mads.add(MemorySegment.ofArray(mad));
      }
      at += FRAME_HEADER + length;
    }
    return mads;
  }

  private static int ipHeader(byte[] frame) {
    return ByteBuffer.wrap(frame).getChar(ETHERNET - 2) == ETHER_TYPE_IPV6 ? 40 : (frame[ETHERNET] & 0xf) * 4;
  }
}
