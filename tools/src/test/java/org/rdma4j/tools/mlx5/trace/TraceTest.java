package org.rdma4j.tools.mlx5.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.VerbsTracer;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.PciAddress;

/** What was seen, in words. */
class TraceTest {
  private static final long DOORBELL_PAGE = 16 * 4096;
  private static final String SLOT = "0000:03:00.0";

  private static String printed(Consumer<PrintStream> listing) {
    var bytes = new ByteArrayOutputStream();
    listing.accept(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void registersHaveTheNamesOfTheirFields() {
    assertEquals("cmd_dbell = 0x00000001", RegisterNames.dword(0x18, 1));
    assertEquals("health_counter = 0x00000007", RegisterNames.dword(0x1010, 7));
    assertEquals("health_buffer.fw_ver = 0x10230001", RegisterNames.dword(0x230, 0x10230001));
  }

  @Test
  void doorbellsSayWhatIsRung() {
    assertEquals(
        "doorbell page 16: EQ 1 consumer index 37, arm",
        RegisterNames.write(DOORBELL_PAGE + 0x40, 1 << 24 | 37));
    assertEquals(
        "doorbell page 16: CQ 0x5 arm 2, consumer index 9",
        RegisterNames.write(DOORBELL_PAGE + 0x20, (2L << 28 | 9) << 32 | 5));
    assertEquals(
        "doorbell page 16: send, QP 0x41, entry 3 RDMA_WRITE",
        RegisterNames.write(DOORBELL_PAGE + 0x800, (3L << 8 | 8) << 32 | 0x41 << 8));
  }

  @Test
  void whatIsDoneForAVerbIsIndentedAndOtherSlotsAreNotShown() {
    var recording = new Recording(SLOT, EnumSet.allOf(Layer.class), 10);
    var device = new VerbsTracer.Source("mlx5_0", SLOT);
    recording.begins(device, "alloc_pd", "PD of mlx5_0");
    recording.begins(SLOT, Opcode.ALLOC_PD, 0);
    recording.registerWrite(PciAddress.parse(SLOT), 0, 0x18, 4, 0x0100_0000);
    recording.registerWrite(PciAddress.parse("0000:04:00.0"), 0, 0x18, 4, 0x0100_0000);
    recording.begins(new VerbsTracer.Source("rxe0", null), "alloc_pd", "PD of rxe0");
    List<String> lines = printed(new Listing(recording.events())::text).lines().toList();
    assertEquals(
        List.of("verb       alloc_pd PD of mlx5_0", "command      ALLOC_PD(0x800) op_mod 0x0",
            "register       write cmd_dbell = 0x00000001"),
        lines.stream().map(line -> line.substring(34)).toList());
    assertEquals(0, recording.dropped());
  }

  @Test
  void onlySoManyAreKept() {
    var recording = new Recording(SLOT, EnumSet.of(Layer.INTERRUPT), 2);
    for (int vector = 0; vector < 5; vector++) {
      recording.interrupt(PciAddress.parse(SLOT), vector);
    }
    recording.configWrite(PciAddress.parse(SLOT), 4, 2, 6);
    assertEquals(List.of("vector 0", "vector 1"), recording.events().stream().map(TraceEvent::text).toList());
    assertEquals(3, recording.dropped());
  }

  @Test
  void jsonIsOneObjectALine() {
    var early = new TraceEvent(1_000, 1, "a \"b\"", 0, Layer.PACKET, "text", Map.of("sent", true));
    var late = new TraceEvent(3_500, 0, "c", 1, Layer.DMA, "text", Map.of("length", 64));
    assertEquals(
        """
        [
        {"time_us":0.000,"thread":"a \\"b\\"","depth":0,"layer":"packet","sent":true},
        {"time_us":2.500,"thread":"c","depth":1,"layer":"dma","length":64}
        ]
        """,
        printed(new Listing(List.of(late, early))::json));
  }
}
