package org.rdma4j.ib.core.verbs;

/** With whom the device's atomics are atomic ({@code enum ib_atomic_cap}). */
public enum AtomicCapability {
  /** No atomics. */
  NONE("ATOMIC_NONE"),
  /** Among queue pairs of this device. */
  HCA("ATOMIC_HCA"),
  /** Also with the processor and other devices. */
  GLOB("ATOMIC_GLOB");

  private final String text;

  AtomicCapability(String text) {
    this.text = text;
  }

  /** {@return the kernel's number} */
  public int number() {
    return ordinal();
  }

  /** {@return the name {@code ibv_devinfo} prints} */
  public String text() {
    return text;
  }
}
