package org.rdma4j.tools.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.tools.Output;

class IbdumpTest {
  @TempDir private Path directory;

  @Test
  void capturesUntilThereAreEnough() throws IOException {
    Path file = directory.resolve("dump");
    Output output = Output.of(new Ibdump(name -> new Source(5)), "-d", "rxe7", "-w", file.toString(), "-c", "5");
    assertEquals(0, output.status(), output.err());
    assertTrue(output.out().contains(" IB device                      : \"rxe7\"\n"), output.out());
    assertTrue(output.out().endsWith("Captured:        5 packets,      320 bytes\n"), output.out());
    assertEquals("start end", Files.readString(file));
  }

  @Test
  void endsWithTheDevice() {
    Path file = directory.resolve("dump");
    Output output = Output.of(new Ibdump(name -> new Source(-1)), "-w", file.toString());
    assertEquals(0, output.status(), output.err());
  }

  @Test
  void fails() {
    Output output = Output.of(new Ibdump(name -> null), "-d", "none");
    assertEquals(
        new Output(1, "", "ibdump: IB device none not found, or its packets cannot be captured\n"), output);
    Output unwritable = Output.of(new Ibdump(name -> new Source(1)), "-w", directory.resolve("no/dump").toString());
    assertEquals(1, unwritable.status());
    assertTrue(unwritable.err().startsWith("ibdump: cannot capture to "), unwritable.err());
  }

  /** Has captured some packets at once, or with a negative number is gone at once. */
  private record Source(int count) implements PacketSource {
    @Override
    public Packets start(WritableByteChannel destination) throws IOException {
      destination.write(ByteBuffer.wrap("start".getBytes(StandardCharsets.UTF_8)));
      return new Packets() {
        @Override
        public long packets() {
          return count;
        }

        @Override
        public long bytes() {
          return count * 64L;
        }

        @Override
        public boolean isActive() {
          return count >= 0;
        }

        @Override
        public void close() throws IOException {
          if (destination.isOpen()) {
            destination.write(ByteBuffer.wrap(" end".getBytes(StandardCharsets.UTF_8)));
            destination.close();
          }
        }
      };
    }
  }
}
