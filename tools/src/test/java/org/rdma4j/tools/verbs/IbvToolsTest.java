package org.rdma4j.tools.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.RdmaDevice;
import org.rdma4j.tools.GoldenDevice;
import org.rdma4j.tools.Output;

/** Byte for byte what rdma-core prints of a device with the same values. */
class IbvToolsTest {
  private final List<RdmaDevice> one = List.of(new GoldenDevice());
  private final List<RdmaDevice> two = List.of(new GoldenDevice("rxe1", 1), new GoldenDevice());

  @Test
  void devinfoVerbose() throws IOException {
    Output output = Output.of(new IbvDevinfo(one), "-v");
    assertEquals(new Output(0, Output.golden("ibv_devinfo-v.rxe.txt"), ""), output);
  }

  @Test
  void devinfoLeavesDetailsOut() throws IOException {
    List<String> brief =
        List.of(
            "hca_id:", "transport:", "fw_ver:", "node_guid:", "sys_image_guid:", "vendor_id:", "vendor_part_id:",
            "hw_ver:", "phys_port_cnt:", "port:", "state:", "max_mtu:", "active_mtu:", "sm_lid:", "port_lid:",
            "port_lmc:", "link_layer:");
    StringBuilder expected = new StringBuilder();
    Output.golden("ibv_devinfo-v.rxe.txt")
        .lines()
        .filter(line -> line.isEmpty() || brief.stream().anyMatch(line.strip()::startsWith))
        .forEach(line -> expected.append(line).append('\n'));
    assertEquals(new Output(0, expected.toString(), ""), Output.of(new IbvDevinfo(one), "-d", "rxe0", "-i1"));
  }

  @Test
  void devinfoList() throws IOException {
    assertEquals(
        new Output(0, Output.golden("ibv_devinfo-v-l.rxe.txt"), ""), Output.of(new IbvDevinfo(one), "-v", "-l"));
    assertEquals(
        new Output(0, "2 HCAs found:\n\trxe0\n\trxe1\n\n", ""), Output.of(new IbvDevinfo(two), "--list"));
  }

  @Test
  void devinfoShowsAllDevicesByIndex() {
    String out = Output.of(new IbvDevinfo(two)).out();
    assertTrue(out.indexOf("hca_id:\trxe0\n") < out.indexOf("hca_id:\trxe1\n"), out);
  }

  @Test
  void devinfoFails() {
    assertEquals(new Output(255, "", "No IB devices found\n"), Output.of(new IbvDevinfo(List.of())));
    assertEquals(new Output(255, "", "IB device 'x' wasn't found\n"), Output.of(new IbvDevinfo(one), "-d", "x"));
    assertEquals(
        new Output(4, "", "Invalid port requested for device\n"), Output.of(new IbvDevinfo(one), "-i", "2"));
    Output usage = Output.of(new IbvDevinfo(one), "-x");
    assertEquals(255, usage.status());
    assertTrue(usage.err().startsWith("ibv_devinfo: invalid option -- 'x'\nUsage: ibv_devinfo   "), usage.err());
    assertTrue(Output.of(new IbvDevinfo(one), "--help").out().startsWith("Usage: ibv_devinfo   "));
  }

  @Test
  void devices() throws IOException {
    String golden = Output.golden("ibv_devices.rxe.txt");
    assertEquals(
        new Output(0, golden.substring(golden.indexOf("    device")), ""), Output.of(new IbvDevices(one)));
    assertEquals(1, Output.of(new IbvDevices(one), "-x").status());
  }

  @Test
  void explainsStatus() {
    String expected =
        "RNR_RETRY_EXC_ERR (RNR retry counter exceeded): the other side had no receive posted, as often as it was"
            + " asked\n";
    assertEquals(new Output(0, expected, ""), Output.of(new IbvWcExplain(one), "13"));
    assertEquals(new Output(0, expected, ""), Output.of(new IbvWcExplain(one), "ibv_wc_rnr_retry_exc_err"));
    String list = Output.of(new IbvWcExplain(one)).out();
    assertTrue(list.startsWith("status\n   0 SUCCESS (success): the work is done\n"), list);
    assertTrue(list.contains("\n  21 GENERAL_ERR"), list);
  }

  @Test
  void explainFails() {
    assertEquals(1, Output.of(new IbvWcExplain(one), "22").status());
    assertTrue(Output.of(new IbvWcExplain(one), "10", "0x41").err().contains("no device knows a vendor error 0x41"));
    assertTrue(Output.of(new IbvWcExplain(one), "nosuch0", "17", "18").err().contains("there is no device"));
    assertTrue(Output.of(new IbvWcExplain(one), "rxe0", "17").err().contains("rxe0 has no queue pair 17"));
    assertTrue(Output.of(new IbvWcExplain(one), "--help").out().startsWith("Usage: ibv_wc_explain  "));
  }
}
