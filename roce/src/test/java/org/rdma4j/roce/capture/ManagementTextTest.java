package org.rdma4j.roce.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.packet.PacketFormatter;

/** What is shown of the management datagrams of captured connections. */
class ManagementTextTest {
  private static List<String> texts(String capture) throws IOException, URISyntaxException {
    List<String> texts = new ArrayList<>();
    RoceFrame frame = new RoceFrame();
    PcapReader reader =
        PcapReader.open(Path.of(ManagementTextTest.class.getResource("/golden/" + capture + ".pcap").toURI()));
    while (reader.next()) {
      if (frame.read(reader.memory(), reader.offset(), reader.length())) {
        String text = PacketFormatter.format(reader.memory(), frame.packetOffset(), frame.packetLength());
        int management = text.indexOf(" CM ");
        if (management >= 0) {
          texts.add(text.substring(management + 1));
        }
      }
    }
    return texts;
  }

  @Test
  void aRequestThatIsRefused() throws IOException, URISyntaxException {
    assertEquals(
        List.of(
            "CM REQ id 0x51a20e09 service 0x1061f3f tid 0x2090ea251 len 256",
            "CM REJ id 0x0 peer 0x51a20e09 reason 8 tid 0x2090ea251 len 256"),
        texts("cm-reject-no-listener"));
  }

  @Test
  void aConnection() throws IOException, URISyntaxException {
    assertEquals(
        List.of(
            "CM REQ id 0x61a20e09 service 0x1061d2f tid 0x2090ea261 len 256",
            "CM REP id 0x8b9f9e7 peer 0x61a20e09 tid 0x2090ea261 len 256",
            "CM RTU id 0x61a20e09 peer 0x8b9f9e7 tid 0x2090ea261 len 256",
            "CM DREQ id 0x61a20e09 peer 0x8b9f9e7 tid 0x2090ea261 len 256",
            "CM DREQ id 0x8b9f9e7 peer 0x61a20e09 tid 0x2e7f9b908 len 256",
            "CM DREP id 0x8b9f9e7 peer 0x61a20e09 tid 0x2090ea261 len 256",
            "CM DREP id 0x61a20e09 peer 0x8b9f9e7 tid 0x2e7f9b908 len 256"),
        texts("cm-rdma-client"));
  }

  @Test
  void aQuestionForAService() throws IOException, URISyntaxException {
    List<String> texts = texts("cm-udaddy");
    assertEquals("CM SIDR_REQ id 0x55a20e09 service 0x1111c06 tid 0x2090ea255 len 256", texts.getFirst());
    assertEquals("CM SIDR_REP id 0x54a20e09 status 0 tid 0x2090ea254 len 256", texts.getLast());
  }
}
