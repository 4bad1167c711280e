package org.rdma4j.tools.pci;

import static org.rdma4j.tools.pci.Bits.sign;
import static org.rdma4j.tools.pci.Bits.signs;

import java.io.PrintStream;
import java.util.Map;
import org.rdma4j.pci.PciFunction;

/** The second device and link registers of an endpoint's PCI Express capability, as {@code lspci -vv} shows them. */
final class SecondExpressReport {
  private static final int CONTROL = 4;
  private static final int STATUS = 6;
  private static final Map<Integer, String> TIMEOUT_RANGES =
      Map.of(
          0, "Not Supported",
          1, "Range A",
          2, "Range B",
          3, "Range AB",
          6, "Range BC",
          7, "Range ABC",
          14, "Range BCD",
          15, "Range ABCD");
  private static final Map<Integer, String> TIMEOUTS =
      Map.of(
          0, "50us to 50ms",
          1, "50us to 100us",
          2, "1ms to 10ms",
          5, "16ms to 55ms",
          6, "65ms to 210ms",
          9, "260ms to 900ms",
          10, "1s to 3.5s",
          13, "4s to 13s",
          14, "17s to 64s");
  private static final String[] FLUSHES = {"Not Supported", "Via message", "Via WAKE#", "Via message/WAKE#"};
  private static final String[] FLUSH_CONTROLS = {"Disabled", "Via message A", "Via message B", "Via WAKE#"};
  private static final String[] POWER_REDUCTIONS = {
    "Not Supported", "Dev Specific", "Form Factor Dev Specific", "Reserved"
  };
  private static final String[] PRESETS = {
    "-6dB de-emphasis, 0dB preshoot",
    "-3.5dB de-emphasis, 0dB preshoot",
    "-4.4dB de-emphasis, 0dB preshoot",
    "-2.5dB de-emphasis, 0dB preshoot",
    "0dB de-emphasis, 0dB preshoot",
    "0dB de-emphasis, 1.9dB preshoot",
    "0dB de-emphasis, 2.5dB preshoot",
    "-6.0dB de-emphasis, 3.5dB preshoot",
    "-3.5dB de-emphasis, 3.5dB preshoot",
    "0dB de-emphasis, 3.5dB preshoot"
  };
  private static final String[] CROSSLINKS = {"unsupported", "Upstream Port", "Downstream Port", "incomplete"};
  private static final String UNKNOWN = "Unknown";
  private static final int FASTEST_IN_VECTOR = 5;

  private final PciFunction function;
  private final boolean legacy;
  private final int device;
  private final int link;
  private final PrintStream out;

  /**
   * Says where the registers are.
   *
   * @param legacy whether it is a legacy endpoint, which has no processing hints
   * @param device offset of the second device registers
   * @param link offset of the second link registers
   */
  SecondExpressReport(PciFunction function, boolean legacy, int device, int link, PrintStream out) {
    this.legacy = legacy;
    this.function = function;
    this.device = device;
    this.link = link;
    this.out = out;
  }

  void print() {
    deviceCapabilities();
    int control = function.readConfig(device + CONTROL, 2);
    out.printf(
        "\t\tDevCtl2: Completion Timeout: %s, %s OBFF %s,%n",
        TIMEOUTS.getOrDefault(control & 0xf, UNKNOWN), signs(control, "TimeoutDis:10 LTR:400 10BitTagReq:1000"),
        FLUSH_CONTROLS[control >> 13 & 3]);
    out.printf("\t\t\t AtomicOpsCtl: ReqEn%c%n", sign(control, 0x40));
    link();
  }

  private void deviceCapabilities() {
    int can = function.readConfig(device, 4);
    out.printf(
        "\t\tDevCap2: Completion Timeout: %s, %s%n",
        TIMEOUT_RANGES.getOrDefault(can & 0xf, UNKNOWN), signs(can, "TimeoutDis:10 NROPrPrP:400 LTR:800"));
    out.printf(
        "\t\t\t %s OBFF %s, %s",
        signs(can, "10BitTagComp:10000 10BitTagReq:20000"),
        FLUSHES[can >> 18 & 3], signs(can, "ExtFmt:100000 EETLPPrefix:200000"));
    if ((can & 0x200000) != 0) {
      int most = can >> 22 & 3;
      out.printf(", MaxEETLPPrefixes %d", most == 0 ? 4 : most);
    }
    out.println();
    out.printf(
        "\t\t\t EmergencyPowerReduction %s, EmergencyPowerReductionInit%c%n",
        POWER_REDUCTIONS[can >> 24 & 3], sign(can, 0x4000000));
    out.printf("\t\t\t FRS%c%s%n", sign(can, 0x80000000), legacy ? "" : hints(can >> 12 & 3));
    out.printf("\t\t\t AtomicOpsCap: %s%n", signs(can, "32bit:80 64bit:100 128bitCAS:200"));
  }

  private static String hints(int code) {
    return switch (code) {
      case 1 -> " TPHComp+ ExtTPHComp-";
      case 3 -> " TPHComp+ ExtTPHComp+";
      case 2 -> " ";
      default -> " TPHComp- ExtTPHComp-";
    };
  }

  private void link() {
    if (function.address().device() == 0 && function.address().function() == 0) {
      linkOfFirstFunction();
    }
    int status = function.readConfig(link + STATUS, 2);
    out.printf(
        "\t\tLnkSta2: Current De-emphasis Level: %s, %s%n",
        (status & 1) == 0 ? "-6dB" : "-3.5dB", signs(status, "EqualizationComplete:2 EqualizationPhase1:4"));
    out.printf(
        "\t\t\t %s%n", signs(status, "EqualizationPhase2:8 EqualizationPhase3:10 LinkEqualizationRequest:20"));
    out.printf(
        "\t\t\t %s CrosslinkRes: %s%n", signs(status, "Retimer:40 2Retimers:80"), CROSSLINKS[status >> 8 & 3]);
  }

  /** What the endpoint has only once, at its first function. */
  private void linkOfFirstFunction() {
    int can = function.readConfig(link, 4);
    if (can != 0) {
      capabilities(can);
    }
    int control = function.readConfig(link + CONTROL, 2);
    out.printf(
        "\t\tLnkCtl2: Target Link Speed: %s, %s%n",
        ExpressReport.speed(Math.max(1, control & 0xf), UNKNOWN), signs(control, "EnterCompliance:10 SpeedDis:20"));
    out.printf(
        "\t\t\t Transmit Margin: %s, %s%n",
        margin(control >> 7 & 7), signs(control, "EnterModifiedCompliance:400 ComplianceSOS:800"));
    int preset = control >> 12;
    out.printf(
        "\t\t\t Compliance Preset/De-emphasis: %s%n", preset < PRESETS.length ? PRESETS[preset] : UNKNOWN);
  }

  private void capabilities(int can) {
    out.printf(
        "\t\tLnkCap2: Supported Link Speeds: %s, %s%n",
        speeds(can >> 1 & 0x7f), signs(can, "Crosslink:100 Retimer:800000 2Retimers:1000000 DRS:80000000"));
  }

  /** What stands for a set of speeds: the range up to the highest. */
  private static String speeds(int vector) {
    int highest = Integer.SIZE - Integer.numberOfLeadingZeros(vector);
    if (highest == 0) {
      return UNKNOWN;
    }
    if (highest > FASTEST_IN_VECTOR) {
      return "RsvdP";
    }
    return highest == 1 ? "2.5GT/s" : "2.5-" + ExpressReport.speed(highest, UNKNOWN);
  }

  private static String margin(int code) {
    return switch (code) {
      case 0 -> "Normal Operating Range";
      case 1 -> "800-1200mV(full-swing)/400-700mV(half-swing)";
      case 2, 3, 4, 5 -> "200-400mV(full-swing)/100-200mV(half-swing)";
      default -> UNKNOWN;
    };
  }
}
