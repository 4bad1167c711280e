package org.rdma4j.ib.core.verbs;

/** Speed of one lane with the kernel's numbers ({@code enum ib_port_speed}). */
public enum PortSpeed {
  /** 2.5 Gb/s. */
  SDR(1, "2.5"),
  /** 5 Gb/s. */
  DDR(2, "5.0"),
  /** 10 Gb/s. */
  QDR(4, "10.0"),
  /** 10 Gb/s, other encoding. */
  FDR10(8, "10.0"),
  /** 14 Gb/s. */
  FDR(16, "14.0"),
  /** 25 Gb/s. */
  EDR(32, "25.0"),
  /** 50 Gb/s. */
  HDR(64, "50.0"),
  /** 100 Gb/s. */
  NDR(128, "100.0");

  private final int number;
  private final String gigabits;

  PortSpeed(int number, String gigabits) {
    this.number = number;
    this.gigabits = gigabits;
  }

  /** {@return the kernel's number} */
  public int number() {
    return number;
  }

  /** {@return gigabits per second and lane, as {@code ibv_devinfo} prints them} */
  public String gigabits() {
    return gigabits;
  }
}
