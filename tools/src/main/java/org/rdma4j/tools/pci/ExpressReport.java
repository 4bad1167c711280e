package org.rdma4j.tools.pci;

import static org.rdma4j.tools.pci.Bits.sign;
import static org.rdma4j.tools.pci.Bits.signs;

import java.io.PrintStream;
import java.math.BigDecimal;
import org.rdma4j.pci.PciFunction;

/**
 * The registers of the PCI Express capability of an endpoint, as {@code lspci -vv} shows them (PCI Express base
 * specification, chapter "PCI Express capability structure"). Registers of slots and root ports are not read: nothing
 * on this bus has them.
 */
final class ExpressReport {
  private static final int DEVICE = 0x04;
  private static final int LINK = 0x0c;
  private static final int DEVICE_2 = 0x24;
  private static final int LINK_2 = 0x2c;
  private static final int CONTROL = 4;
  private static final int STATUS = 6;
  private static final int CAN_RESET = 1 << 28;
  private static final int VERSION = 0xf;
  private static final int TYPE = 0xf0;
  private static final int LEGACY_ENDPOINT = 0x10;
  private static final int SMALLEST_PAYLOAD = 128;
  private static final int FIRST_LARGE_POWER = 0xf0;
  private static final String[] L0S = {"<64ns", "<128ns", "<256ns", "<512ns", "<1us", "<2us", "<4us", "unlimited"};
  private static final String[] L1 = {"<1us", "<2us", "<4us", "<8us", "<16us", "<32us", "<64us", "unlimited"};
  private static final String[] SPEEDS = {"", "2.5GT/s", "5GT/s", "8GT/s", "16GT/s", "32GT/s", "64GT/s"};
  private static final String[] ASPM = {"", "L0s", "L1", "L0s L1"};

  private final PciFunction function;
  private final int version;
  private final boolean legacy;
  private final int at;
  private final PrintStream out;

  /**
   * Says where the registers are.
   *
   * @param at offset of the capability
   * @param flags the capability's own register
   */
  ExpressReport(PciFunction function, int at, int flags, PrintStream out) {
    this.version = flags & VERSION;
    this.legacy = (flags & TYPE) == LEGACY_ENDPOINT;
    this.function = function;
    this.at = at;
    this.out = out;
  }

  void print() {
    device();
    link();
    if (version >= 2) {
      new SecondExpressReport(function, legacy, at + DEVICE_2, at + LINK_2, out).print();
    }
  }

  private void device() {
    int can = function.readConfig(at + DEVICE, 4);
    out.printf(
        "\t\tDevCap:\tMaxPayload %d bytes, PhantFunc %d, Latency L0s %s, L1 %s%n",
        SMALLEST_PAYLOAD << (can & 7), (1 << (can >> 3 & 3)) - 1, L0S[can >> 6 & 7], L1[can >> 9 & 7]);
    out.printf(
        "\t\t\t%s%s%n",
        signs(can, "ExtTag:20 AttnBtn:1000 AttnInd:2000 PwrInd:4000 RBE:8000 FLReset:10000000"),
        legacy ? "" : " SlotPowerLimit " + power(can >> 18 & 0xff, can >> 26 & 3) + "W");
    int control = function.readConfig(at + DEVICE + CONTROL, 2);
    out.printf("\t\tDevCtl:\t%s%n", signs(control, "CorrErr:1 NonFatalErr:2 FatalErr:4 UnsupReq:8"));
    out.printf(
        "\t\t\t%s%s%n",
        signs(control, "RlxdOrd:10 ExtTag:100 PhantFunc:200 AuxPwr:400 NoSnoop:800"),
        (can & CAN_RESET) == 0 ? "" : " FLReset" + sign(control, 0x8000));
    out.printf(
        "\t\t\tMaxPayload %d bytes, MaxReadReq %d bytes%n",
        SMALLEST_PAYLOAD << (control >> 5 & 7), SMALLEST_PAYLOAD << (control >> 12 & 7));
    out.printf(
        "\t\tDevSta:\t%s%n",
        signs(
            function.readConfig(at + DEVICE + STATUS, 2),
            "CorrErr:1 NonFatalErr:2 FatalErr:4 UnsupReq:8 AuxPwr:10 TransPend:20"));
  }

  /** Watts: in units of 1, 0.1, 0.01 or 0.001; from 240 W on the code stands for steps of 25 W, beginning at 250 W. */
  private static String power(int value, int scale) {
    if (scale == 0 && value >= FIRST_LARGE_POWER) {
      return value == 0xff ? ">600" : Integer.toString(250 + 25 * (value - FIRST_LARGE_POWER));
    }
    String text = BigDecimal.valueOf(value, scale).stripTrailingZeros().toPlainString();
    return value == 0 ? "0" : text;
  }

  private void link() {
    int can = function.readConfig(at + LINK, 4);
    int aspm = can >> 10 & 3;
    out.printf(
        "\t\tLnkCap:\tPort #%d, Speed %s, Width x%d, ASPM %s",
        can >>> 24, speed(can & 0xf, "unknown"), can >> 4 & 0x3f, aspm == 0 ? "not supported" : ASPM[aspm]);
    if (aspm != 0) {
      out.printf(
          ", Exit Latency %s%s%s",
          (aspm & 1) == 0 ? "" : "L0s " + L0S[can >> 12 & 7],
          aspm == 3 ? ", " : "",
          (aspm & 2) == 0 ? "" : "L1 " + L1[can >> 15 & 7]);
    }
    out.println();
    out.printf(
        "\t\t\t%s%n", signs(can, "ClockPM:40000 Surprise:80000 LLActRep:100000 BwNot:200000 ASPMOptComp:400000"));
    int control = function.readConfig(at + LINK + CONTROL, 2);
    out.printf(
        "\t\tLnkCtl:\tASPM %s; RCB %d bytes, %s%n",
        (control & 3) == 0 ? "Disabled" : ASPM[control & 3] + " Enabled",
        (control & 8) == 0 ? 64 : 128,
        signs(control, "Disabled:10 CommClk:40"));
    out.printf(
        "\t\t\t%s%n", signs(control, "ExtSynch:80 ClockPM:100 AutWidDis:200 BWInt:400 AutBWInt:800"));
    int status = function.readConfig(at + LINK + STATUS, 2);
    out.printf(
        "\t\tLnkSta:\tSpeed %s%s, Width x%d%s%n",
        speed(status & 0xf, "unknown"), against(status & 0xf, can & 0xf),
        status >> 4 & 0x3f, against(status >> 4 & 0x3f, can >> 4 & 0x3f));
    out.printf(
        "\t\t\t%s%n",
        signs(status, "TrErr:400 Train:800 SlotClk:1000 DLActive:2000 BWMgmt:4000 ABWMgmt:8000"));
  }

  private static String against(int is, int can) {
    return is < can ? " (downgraded)" : is > can ? " (overdriven)" : "";
  }

  static String speed(int code, String otherwise) {
    return code > 0 && code < SPEEDS.length ? SPEEDS[code] : otherwise;
  }
}
