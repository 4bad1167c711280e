package org.rdma4j.ib.core.verbs;

import java.util.Objects;
import org.rdma4j.roce.address.PathMtu;

/** State and attributes of a port ({@code struct ib_port_attr}); an immutable snapshot. */
public final class PortAttributes {
  private final PortState state;
  private final PortPhysState physicalState;
  private final LinkLayer linkLayer;
  private final PathMtu maxMtu;
  private final PathMtu activeMtu;
  private final PortWidth activeWidth;
  private final PortSpeed activeSpeed;
  private final long maxMessageSize;
  private final int capabilityFlags;
  private final int capabilityFlags2;
  private final int gidTableLength;
  private final int pkeyTableLength;
  private final int badPkeyCounter;
  private final int qkeyViolationCounter;
  private final int lid;
  private final int smLid;
  private final int lmc;
  private final int smSl;
  private final int maxVlNumber;
  private final int subnetTimeout;
  private final int initTypeReply;
  private final long subnetPrefix;

  private PortAttributes(Builder builder) {
    this.state = builder.state;
    this.physicalState = builder.physicalState;
    this.linkLayer = builder.linkLayer;
    this.maxMtu = builder.maxMtu;
    this.activeMtu = builder.activeMtu;
    this.activeWidth = builder.activeWidth;
    this.activeSpeed = builder.activeSpeed;
    this.maxMessageSize = builder.maxMessageSize;
    this.capabilityFlags = builder.capabilityFlags;
    this.capabilityFlags2 = builder.capabilityFlags2;
    this.gidTableLength = builder.gidTableLength;
    this.pkeyTableLength = builder.pkeyTableLength;
    this.badPkeyCounter = builder.badPkeyCounter;
    this.qkeyViolationCounter = builder.qkeyViolationCounter;
    this.lid = builder.lid;
    this.smLid = builder.smLid;
    this.lmc = builder.lmc;
    this.smSl = builder.smSl;
    this.maxVlNumber = builder.maxVlNumber;
    this.subnetTimeout = builder.subnetTimeout;
    this.initTypeReply = builder.initTypeReply;
    this.subnetPrefix = builder.subnetPrefix;
  }

  /** {@return a builder with every attribute zero, empty or its first value} */
  public static Builder builder() {
    return new Builder();
  }

  /** {@return the logical state} */
  public PortState state() {
    return state;
  }

  /** {@return the physical state} */
  public PortPhysState physicalState() {
    return physicalState;
  }

  /** {@return the link layer} */
  public LinkLayer linkLayer() {
    return linkLayer;
  }

  /** {@return the largest MTU the port can have} */
  public PathMtu maxMtu() {
    return maxMtu;
  }

  /** {@return the largest MTU it has now} */
  public PathMtu activeMtu() {
    return activeMtu;
  }

  /** {@return the lanes of the link} */
  public PortWidth activeWidth() {
    return activeWidth;
  }

  /** {@return the speed of a lane} */
  public PortSpeed activeSpeed() {
    return activeSpeed;
  }

  /** {@return the longest message in bytes} */
  public long maxMessageSize() {
    return maxMessageSize;
  }

  /** {@return the IBA port capability mask} */
  public int capabilityFlags() {
    return capabilityFlags;
  }

  /** {@return its extension} */
  public int capabilityFlags2() {
    return capabilityFlags2;
  }

  /** {@return slots of the GID table} */
  public int gidTableLength() {
    return gidTableLength;
  }

  /** {@return slots of the P_Key table} */
  public int pkeyTableLength() {
    return pkeyTableLength;
  }

  /** {@return packets with a bad P_Key} */
  public int badPkeyCounter() {
    return badPkeyCounter;
  }

  /** {@return packets with a bad Q_Key} */
  public int qkeyViolationCounter() {
    return qkeyViolationCounter;
  }

  /** {@return the local identifier} */
  public int lid() {
    return lid;
  }

  /** {@return the local identifier of the subnet manager} */
  public int smLid() {
    return smLid;
  }

  /** {@return the LID mask count} */
  public int lmc() {
    return lmc;
  }

  /** {@return the service level of the subnet manager} */
  public int smSl() {
    return smSl;
  }

  /** {@return the code of the number of virtual lanes} */
  public int maxVlNumber() {
    return maxVlNumber;
  }

  /** {@return the subnet's propagation delay as exponent} */
  public int subnetTimeout() {
    return subnetTimeout;
  }

  /** {@return how the subnet manager initialised the port} */
  public int initTypeReply() {
    return initTypeReply;
  }

  /** {@return the subnet prefix} */
  public long subnetPrefix() {
    return subnetPrefix;
  }

  /** Collects the attributes of a port. */
  public static final class Builder {
    private PortState state = PortState.DOWN;
    private PortPhysState physicalState = PortPhysState.DISABLED;
    private LinkLayer linkLayer = LinkLayer.ETHERNET;
    private PathMtu maxMtu = PathMtu.MTU_4096;
    private PathMtu activeMtu = PathMtu.MTU_256;
    private PortWidth activeWidth = PortWidth.WIDTH_1X;
    private PortSpeed activeSpeed = PortSpeed.SDR;
    private long maxMessageSize;
    private int capabilityFlags;
    private int capabilityFlags2;
    private int gidTableLength;
    private int pkeyTableLength;
    private int badPkeyCounter;
    private int qkeyViolationCounter;
    private int lid;
    private int smLid;
    private int lmc;
    private int smSl;
    private int maxVlNumber;
    private int subnetTimeout;
    private int initTypeReply;
    private long subnetPrefix = 0xfe80000000000000L;

    private Builder() {}

    /**
     * Sets the logical state.
     *
     * @param value the value
     * @return this
     */
    public Builder state(PortState value) {
      this.state = Objects.requireNonNull(value, "state");
      return this;
    }

    /**
     * Sets the physical state.
     *
     * @param value the value
     * @return this
     */
    public Builder physicalState(PortPhysState value) {
      this.physicalState = Objects.requireNonNull(value, "physicalState");
      return this;
    }

    /**
     * Sets the link layer.
     *
     * @param value the value
     * @return this
     */
    public Builder linkLayer(LinkLayer value) {
      this.linkLayer = Objects.requireNonNull(value, "linkLayer");
      return this;
    }

    /**
     * Sets the largest MTU the port can have.
     *
     * @param value the value
     * @return this
     */
    public Builder maxMtu(PathMtu value) {
      this.maxMtu = Objects.requireNonNull(value, "maxMtu");
      return this;
    }

    /**
     * Sets the largest MTU it has now.
     *
     * @param value the value
     * @return this
     */
    public Builder activeMtu(PathMtu value) {
      this.activeMtu = Objects.requireNonNull(value, "activeMtu");
      return this;
    }

    /**
     * Sets the lanes of the link.
     *
     * @param value the value
     * @return this
     */
    public Builder activeWidth(PortWidth value) {
      this.activeWidth = Objects.requireNonNull(value, "activeWidth");
      return this;
    }

    /**
     * Sets the speed of a lane.
     *
     * @param value the value
     * @return this
     */
    public Builder activeSpeed(PortSpeed value) {
      this.activeSpeed = Objects.requireNonNull(value, "activeSpeed");
      return this;
    }

    /**
     * Sets the longest message in bytes.
     *
     * @param value the value
     * @return this
     */
    public Builder maxMessageSize(long value) {
      this.maxMessageSize = value;
      return this;
    }

    /**
     * Sets the IBA port capability mask.
     *
     * @param value the value
     * @return this
     */
    public Builder capabilityFlags(int value) {
      this.capabilityFlags = value;
      return this;
    }

    /**
     * Sets its extension.
     *
     * @param value the value
     * @return this
     */
    public Builder capabilityFlags2(int value) {
      this.capabilityFlags2 = value;
      return this;
    }

    /**
     * Sets slots of the GID table.
     *
     * @param value the value
     * @return this
     */
    public Builder gidTableLength(int value) {
      this.gidTableLength = value;
      return this;
    }

    /**
     * Sets slots of the P_Key table.
     *
     * @param value the value
     * @return this
     */
    public Builder pkeyTableLength(int value) {
      this.pkeyTableLength = value;
      return this;
    }

    /**
     * Sets packets with a bad P_Key.
     *
     * @param value the value
     * @return this
     */
    public Builder badPkeyCounter(int value) {
      this.badPkeyCounter = value;
      return this;
    }

    /**
     * Sets packets with a bad Q_Key.
     *
     * @param value the value
     * @return this
     */
    public Builder qkeyViolationCounter(int value) {
      this.qkeyViolationCounter = value;
      return this;
    }

    /**
     * Sets the local identifier.
     *
     * @param value the value
     * @return this
     */
    public Builder lid(int value) {
      this.lid = value;
      return this;
    }

    /**
     * Sets the local identifier of the subnet manager.
     *
     * @param value the value
     * @return this
     */
    public Builder smLid(int value) {
      this.smLid = value;
      return this;
    }

    /**
     * Sets the LID mask count.
     *
     * @param value the value
     * @return this
     */
    public Builder lmc(int value) {
      this.lmc = value;
      return this;
    }

    /**
     * Sets the service level of the subnet manager.
     *
     * @param value the value
     * @return this
     */
    public Builder smSl(int value) {
      this.smSl = value;
      return this;
    }

    /**
     * Sets the code of the number of virtual lanes.
     *
     * @param value the value
     * @return this
     */
    public Builder maxVlNumber(int value) {
      this.maxVlNumber = value;
      return this;
    }

    /**
     * Sets the subnet's propagation delay as exponent.
     *
     * @param value the value
     * @return this
     */
    public Builder subnetTimeout(int value) {
      this.subnetTimeout = value;
      return this;
    }

    /**
     * Sets how the subnet manager initialised the port.
     *
     * @param value the value
     * @return this
     */
    public Builder initTypeReply(int value) {
      this.initTypeReply = value;
      return this;
    }

    /**
     * Sets the subnet prefix.
     *
     * @param value the value
     * @return this
     */
    public Builder subnetPrefix(long value) {
      this.subnetPrefix = value;
      return this;
    }

    /** {@return the attributes} */
    public PortAttributes build() {
      return new PortAttributes(this);
    }
  }
}
