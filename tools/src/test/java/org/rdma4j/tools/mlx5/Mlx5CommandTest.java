package org.rdma4j.tools.mlx5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.mlx5.device.CardFaults;
import org.rdma4j.mlx5.device.EntryTableUsage;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.mlx5.device.PageUsage;
import org.rdma4j.roce.address.Guid;
import org.rdma4j.roce.capture.LinkCapture;
import org.rdma4j.tools.Output;
import org.rdma4j.ulp.command.CommandException;

class Mlx5CommandTest {
  private static final String PLACE = "0000:03:00.0";

  private final List<String> said = new ArrayList<>();
  private final CardFaults faults =
      (CardFaults)
          Proxy.newProxyInstance(
              getClass().getClassLoader(),
              new Class<?>[] {CardFaults.class},
              (proxy, method, arguments) -> {
                said.add(method.getName() + (arguments == null ? "[]" : Arrays.toString(arguments)));
                return null;
              });

  private final ModelledCard card =
      new ModelledCard() {
        @Override
        public String name() {
          return PLACE;
        }

        @Override
        public String port() {
          return "lo ::ffff:127.0.0.3";
        }

        @Override
        public List<EntryTableUsage> tables() {
          return List.of(new EntryTableUsage("eq", 64, 5, 63, 1), new EntryTableUsage("qp", 256, 20, 65472, 2));
        }

        @Override
        public List<String> entries(String table, int most) {
          if (!table.equals("eq")) {
            throw new IllegalArgumentException("no table " + table);
          }
          return List.of("eq 0x000001 @0x10001000 log_eq_size=0x8");
        }

        @Override
        public String syndrome(int number) {
          return "";
        }

        @Override
        public Guid nodeGuid() {
          return new Guid(7);
        }

        @Override
        public LinkCapture.Running capture(WritableByteChannel destination) throws IOException {
          throw new IOException("not of this test");
        }

        @Override
        public PageUsage pages() {
          return new PageUsage(272, 269, 0);
        }

        @Override
        public CardFaults faults() {
          return faults;
        }
      };

  private final Mlx5Command command =
      new Mlx5Command(
          new Cards() {
            @Override
            public List<ModelledCard> all() {
              return List.of(card);
            }

            @Override
            public String plug(String slot, String netdev, String address) throws CommandException {
              said.add("plug " + slot + " " + netdev + " " + address);
              return slot == null ? PLACE : slot;
            }

            @Override
            public void unplug(String slot, boolean surprise) {
              said.add((surprise ? "pull " : "unplug ") + slot);
            }
          }, new TraceCommand(recording -> () -> {}));

  @Test
  void cardsComeAndGo() {
    assertEquals(new Output(0, PLACE + "\n", ""), Output.of(command, "plug", "addr", "127.0.0.3"));
    assertEquals(
        new Output(0, "0000:05:00.0\n", ""), Output.of(command, "plug", "slot", "0000:05:00.0", "netdev", "eth0"));
    assertEquals(new Output(0, "", ""), Output.of(command, "unplug", PLACE));
    assertEquals(new Output(0, "", ""), Output.of(command, "pull", PLACE));
    assertEquals(
        List.of("plug null null 127.0.0.3", "plug 0000:05:00.0 eth0 null", "unplug " + PLACE, "pull " + PLACE), said);
  }

  @Test
  void tablesAndEntries() {
    String tables =
        """
        0000:03:00.0 on lo ::ffff:127.0.0.3: 272 pages of the host, 269 free, 0 asked for
          table    bytes      used        of  pages
          eq          64         5        63      1
          qp         256        20     65472      2
        """;
    assertEquals(new Output(0, tables, ""), Output.of(command, "hem"));
    assertEquals(new Output(0, tables, ""), Output.of(command, "hem", PLACE));
    assertEquals(
        new Output(0, "eq 0x000001 @0x10001000 log_eq_size=0x8\n", ""), Output.of(command, "hem", PLACE, "eq"));
  }

  @Test
  void faultsGoToTheCard() {
    assertEquals(0, Output.of(command, "fault", PLACE, "assert").status());
    assertEquals(0, Output.of(command, "fault", PLACE, "fail-commands", "0x800", "0x0f", "2").status());
    assertEquals(0, Output.of(command, "fault", PLACE, "cable-out").status());
    assertEquals(0, Output.of(command, "fault", PLACE, "clear").status());
    assertEquals(List.of("assertFatal[1]", "failCommands[2048, 15, 2]", "cable[false]", "clear[]"), said);
  }

  @Test
  void mistakes() {
    assertTrue(Output.of(command, "--help").out().startsWith("Usage: mlx5 plug"));
    isRefused("mlx5: \"plugg\" is unknown", "plugg");
    isRefused("mlx5: netdev or addr is missing", "plug");
    isRefused("mlx5: the value of addr is missing", "plug", "addr");
    isRefused("mlx5: a slot is missing", "unplug");
    isRefused("mlx5: there is no modelled card 0000:09:00.0; there are [0000:03:00.0]", "hem", "0000:09:00.0");
    isRefused("mlx5: no table cqs", "hem", PLACE, "cqs");
    isRefused("mlx5: fault \"fire\" is unknown", "fault", PLACE, "fire");
    isRefused("mlx5: fail-commands takes other numbers", "fault", PLACE, "fail-commands", "1");
    isRefused("mlx5: assert takes numbers", "fault", PLACE, "assert", "x");
  }

  private void isRefused(String message, String... arguments) {
    Output output = Output.of(command, arguments);
    assertEquals(1, output.status());
    assertTrue(output.err().startsWith(message), output::err);
  }
}
