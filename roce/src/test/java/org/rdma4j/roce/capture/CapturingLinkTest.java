package org.rdma4j.roce.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Route;
import org.rdma4j.roce.packet.Bth;
import org.rdma4j.roce.packet.Opcode;
import org.rdma4j.roce.packet.PacketFormatter;

class CapturingLinkTest {

  private static final Gid A = Gid.parse("192.0.2.2");
  private static final Gid B = Gid.parse("192.0.2.3");
  private static final int LENGTH = 76;

  private long now = 1_000_000_000;
  private final LoopLink loop = new LoopLink();
  private final CapturingLink link = new CapturingLink(loop, "rxe0", () -> now++);
  private final Route route = link.route(A, B, 8, 0, 64);
  private final List<String> handled = new ArrayList<>();

  @Test
  void bothDirectionsAreCaptured() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    send(1);
    receive();
    try (PcapngWriter writer = new PcapngWriter(Channels.newChannel(bytes))) {
      link.start(writer);
      assertTrue(link.isCapturing());
      send(2);
      assertTrue(link.claim(route, LENGTH) >= 0);
      link.abort();
      send(3);
      receive();
      link.stop();
      assertFalse(link.isCapturing());
      send(4);
      receive();
    }
    assertEquals(List.of(
        "OUTBOUND 1000000000 RC SEND Only psn 2 qp 0x11 ackreq len 64 192.0.2.2 > 192.0.2.3",
        "OUTBOUND 1000000001 RC SEND Only psn 3 qp 0x11 ackreq len 64 192.0.2.2 > 192.0.2.3",
        "INBOUND 1000000002 RC SEND Only psn 2 qp 0x11 ackreq len 64 192.0.2.2 > 192.0.2.3",
        "INBOUND 1000000003 RC SEND Only psn 3 qp 0x11 ackreq len 64 192.0.2.2 > 192.0.2.3"), lines(bytes));
    assertEquals(4, handled.size());
  }

  @Test
  void anErrorOfTheFileEndsTheCaptureOnly() throws IOException {
    WritableByteChannel full = new WritableByteChannel() {
      @Override
      public int write(ByteBuffer source) throws IOException {
        throw new IOException("no space left");
      }

      @Override
      public boolean isOpen() {
        return true;
      }

      @Override
      public void close() {
        // nothing is held
      }
    };
    link.start(new PcapngWriter(full));
    int sent = 0;
    while (link.isCapturing() && sent < 10_000) {
      send(sent++);
      receive();
    }
    assertTrue(sent > 1 && sent < 10_000, "ended after " + sent);
    assertEquals(sent, handled.size());
  }

  @Test
  void closeClosesTheLinkBehind() {
    link.close();
    assertTrue(loop.isClosed());
  }

  private void send(int psn) {
    long at = link.claim(route, LENGTH);
    assertTrue(at >= 0);
    Bth.write(link.transmitMemory(), at, Opcode.RC_SEND_ONLY, false, 0, 0xffff, 0x11, true, psn);
    link.commit();
    link.flush();
  }

  private void receive() {
    link.receive(p -> handled.add(PacketFormatter.format(p.buffer(), p.offset(), p.length())), 16);
  }

  private static List<String> lines(ByteArrayOutputStream bytes) throws IOException {
    PcapReader reader = new PcapReader(MemorySegment.ofArray(bytes.toByteArray()));
    RoceFrame frame = new RoceFrame();
    List<String> lines = new ArrayList<>();
    while (reader.next()) {
      assertTrue(frame.read(reader.memory(), reader.offset(), reader.length()));
      assertEquals(8, frame.trafficClass());
      String text = PacketFormatter.format(reader.memory(), frame.packetOffset(), frame.packetLength());
      lines.add(reader.direction() + " " + reader.epochNanos() + " " + text + " "
          + frame.source().toInetAddress().getHostAddress() + " > "
          + frame.destination().toInetAddress().getHostAddress());
    }
    return lines;
  }
}
