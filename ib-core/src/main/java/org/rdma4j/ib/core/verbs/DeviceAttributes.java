package org.rdma4j.ib.core.verbs;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.rdma4j.roce.address.Guid;

/**
 * What a device is and what it can do ({@code struct ib_device_attr}, with the identity that the kernel keeps in
 * {@code struct ib_device}); immutable.
 */
public final class DeviceAttributes {
  private final NodeType nodeType;
  private final Guid nodeGuid;
  private final Guid systemImageGuid;
  private final String nodeDescription;
  private final String firmwareVersion;
  private final String transport;
  private final int vendorId;
  private final int vendorPartId;
  private final int hardwareVersion;
  private final int portCount;
  private final int completionVectors;
  private final long maxMrSize;
  private final long pageSizeCapabilities;
  private final Set<DeviceCapability> capabilities;
  private final AtomicCapability atomicCapability;
  private final int localCaAckDelay;
  private final Map<DeviceLimit, Long> limits;

  private DeviceAttributes(Builder builder) {
    this.nodeType = builder.nodeType;
    this.nodeGuid = builder.nodeGuid;
    this.systemImageGuid = builder.systemImageGuid;
    this.nodeDescription = builder.nodeDescription;
    this.firmwareVersion = builder.firmwareVersion;
    this.transport = builder.transport;
    this.vendorId = builder.vendorId;
    this.vendorPartId = builder.vendorPartId;
    this.hardwareVersion = builder.hardwareVersion;
    this.portCount = builder.portCount;
    this.completionVectors = builder.completionVectors;
    this.maxMrSize = builder.maxMrSize;
    this.pageSizeCapabilities = builder.pageSizeCapabilities;
    this.capabilities = Set.copyOf(builder.capabilities);
    this.atomicCapability = builder.atomicCapability;
    this.localCaAckDelay = builder.localCaAckDelay;
    this.limits = Collections.unmodifiableMap(new EnumMap<>(builder.limits));
  }

  /** {@return a builder with every attribute zero, empty or its first value} */
  public static Builder builder() {
    return new Builder();
  }

  /** {@return what the device is on the fabric} */
  public NodeType nodeType() {
    return nodeType;
  }

  /** {@return the GUID of the node} */
  public Guid nodeGuid() {
    return nodeGuid;
  }

  /** {@return the GUID shared by the devices of one system} */
  public Guid systemImageGuid() {
    return systemImageGuid;
  }

  /** {@return the description of the node} */
  public String nodeDescription() {
    return nodeDescription;
  }

  /** {@return the firmware version; empty where there is none} */
  public String firmwareVersion() {
    return firmwareVersion;
  }

  /** {@return the transport's name as {@code ibv_devinfo} prints it} */
  public String transport() {
    return transport;
  }

  /** {@return the vendor's OUI} */
  public int vendorId() {
    return vendorId;
  }

  /** {@return the vendor's part number} */
  public int vendorPartId() {
    return vendorPartId;
  }

  /** {@return the hardware version} */
  public int hardwareVersion() {
    return hardwareVersion;
  }

  /** {@return how many ports there are; they count from 1} */
  public int portCount() {
    return portCount;
  }

  /** {@return how many completion vectors there are} */
  public int completionVectors() {
    return completionVectors;
  }

  /** {@return the longest memory region in bytes; unsigned} */
  public long maxMrSize() {
    return maxMrSize;
  }

  /** {@return the supported page sizes, one bit each} */
  public long pageSizeCapabilities() {
    return pageSizeCapabilities;
  }

  /** {@return the device capability flags} */
  public Set<DeviceCapability> capabilities() {
    return capabilities;
  }

  /** {@return with whom atomics are atomic} */
  public AtomicCapability atomicCapability() {
    return atomicCapability;
  }

  /** {@return the delay of acknowledgements as exponent; 4.096 us shifted left by it} */
  public int localCaAckDelay() {
    return localCaAckDelay;
  }

  /**
   * Looks up a limit.
   *
   * @param limit which
   * @return its value, 0 where the provider set none
   */
  public long limit(DeviceLimit limit) {
    return limits.getOrDefault(limit, 0L);
  }

  /**
   * Tells whether the device has a capability.
   *
   * @param capability which
   * @return true where it has
   */
  public boolean has(DeviceCapability capability) {
    return capabilities.contains(capability);
  }

  /** Collects the attributes of a device. */
  public static final class Builder {
    private NodeType nodeType = NodeType.CA;
    private Guid nodeGuid = new Guid(0);
    private Guid systemImageGuid = new Guid(0);
    private String nodeDescription = "";
    private String firmwareVersion = "";
    private String transport = "InfiniBand";
    private int vendorId;
    private int vendorPartId;
    private int hardwareVersion;
    private int portCount = 1;
    private int completionVectors = 1;
    private long maxMrSize;
    private long pageSizeCapabilities;
    private Set<DeviceCapability> capabilities = Set.of();
    private AtomicCapability atomicCapability = AtomicCapability.NONE;
    private int localCaAckDelay;
    private Map<DeviceLimit, Long> limits = new EnumMap<>(DeviceLimit.class);

    private Builder() {}

    /**
     * Sets what the device is on the fabric.
     *
     * @param value the value
     * @return this
     */
    public Builder nodeType(NodeType value) {
      this.nodeType = Objects.requireNonNull(value, "nodeType");
      return this;
    }

    /**
     * Sets the GUID of the node.
     *
     * @param value the value
     * @return this
     */
    public Builder nodeGuid(Guid value) {
      this.nodeGuid = Objects.requireNonNull(value, "nodeGuid");
      return this;
    }

    /**
     * Sets the GUID shared by the devices of one system.
     *
     * @param value the value
     * @return this
     */
    public Builder systemImageGuid(Guid value) {
      this.systemImageGuid = Objects.requireNonNull(value, "systemImageGuid");
      return this;
    }

    /**
     * Sets the description of the node.
     *
     * @param value the value
     * @return this
     */
    public Builder nodeDescription(String value) {
      this.nodeDescription = Objects.requireNonNull(value, "nodeDescription");
      return this;
    }

    /**
     * Sets the firmware version.
     *
     * @param value the value
     * @return this
     */
    public Builder firmwareVersion(String value) {
      this.firmwareVersion = Objects.requireNonNull(value, "firmwareVersion");
      return this;
    }

    /**
     * Sets the transport's name as {@code ibv_devinfo} prints it.
     *
     * @param value the value
     * @return this
     */
    public Builder transport(String value) {
      this.transport = Objects.requireNonNull(value, "transport");
      return this;
    }

    /**
     * Sets the vendor's OUI.
     *
     * @param value the value
     * @return this
     */
    public Builder vendorId(int value) {
      this.vendorId = value;
      return this;
    }

    /**
     * Sets the vendor's part number.
     *
     * @param value the value
     * @return this
     */
    public Builder vendorPartId(int value) {
      this.vendorPartId = value;
      return this;
    }

    /**
     * Sets the hardware version.
     *
     * @param value the value
     * @return this
     */
    public Builder hardwareVersion(int value) {
      this.hardwareVersion = value;
      return this;
    }

    /**
     * Sets how many ports there are.
     *
     * @param value the value
     * @return this
     */
    public Builder portCount(int value) {
      this.portCount = value;
      return this;
    }

    /**
     * Sets how many completion vectors there are.
     *
     * @param value the value
     * @return this
     */
    public Builder completionVectors(int value) {
      this.completionVectors = value;
      return this;
    }

    /**
     * Sets the longest memory region in bytes.
     *
     * @param value the value
     * @return this
     */
    public Builder maxMrSize(long value) {
      this.maxMrSize = value;
      return this;
    }

    /**
     * Sets the supported page sizes, one bit each.
     *
     * @param value the value
     * @return this
     */
    public Builder pageSizeCapabilities(long value) {
      this.pageSizeCapabilities = value;
      return this;
    }

    /**
     * Sets the device capability flags.
     *
     * @param value the value
     * @return this
     */
    public Builder capabilities(Set<DeviceCapability> value) {
      this.capabilities = Objects.requireNonNull(value, "capabilities");
      return this;
    }

    /**
     * Sets with whom atomics are atomic.
     *
     * @param value the value
     * @return this
     */
    public Builder atomicCapability(AtomicCapability value) {
      this.atomicCapability = Objects.requireNonNull(value, "atomicCapability");
      return this;
    }

    /**
     * Sets the delay of acknowledgements as exponent.
     *
     * @param value the value
     * @return this
     */
    public Builder localCaAckDelay(int value) {
      this.localCaAckDelay = value;
      return this;
    }

    /**
     * Sets a limit.
     *
     * @param limit which
     * @param value 0 or more
     * @return this
     */
    public Builder limit(DeviceLimit limit, long value) {
      limits.put(limit, value);
      return this;
    }

    /** {@return the attributes} */
    public DeviceAttributes build() {
      return new DeviceAttributes(this);
    }
  }
}
