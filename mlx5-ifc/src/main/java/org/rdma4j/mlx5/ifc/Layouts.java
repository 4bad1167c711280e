package org.rdma4j.mlx5.ifc;

/** The structures that are in memory or in registers, by the names of the kernel's sources. */
public final class Layouts {
  /** Initialization segment at the beginning of region 0. */
  public static final Layout INIT_SEGMENT = of("init_segment");

  /** Health buffer in the initialization segment. */
  public static final Layout HEALTH_BUFFER = of("health_buffer");

  /** Entry of the command queue. */
  public static final Layout CMD_QUEUE_ENTRY = of("cmd_queue_entry");

  /** Mailbox block of a long command. */
  public static final Layout CMD_MAILBOX = of("cmd_mailbox");

  /** Event queue entry. */
  public static final Layout EQE = of("eqe");

  /** Completion queue entry, its last 64 bytes. */
  public static final Layout CQE = of("cqe");

  /** Queue pair context. */
  public static final Layout QPC = of("qpc");

  /** Address path. */
  public static final Layout ADS = of("ads");

  /** Completion queue context. */
  public static final Layout CQC = of("cqc");

  /** Event queue context. */
  public static final Layout EQC = of("eqc");

  /** Memory key context. */
  public static final Layout MKC = of("mkc");

  /** Work queue in receive memory pools. */
  public static final Layout WQ = of("wq");

  /** Receive memory pool context. */
  public static final Layout RMPC = of("rmpc");

  /** XRC shared receive queue context. */
  public static final Layout XRC_SRQC = of("xrc_srqc");

  /** NIC vport context. */
  public static final Layout NIC_VPORT_CONTEXT = of("nic_vport_context");

  /** Entry of the RoCE address table. */
  public static final Layout ROCE_ADDR = of("roce_addr_layout");

  /** General capabilities. */
  public static final Layout HCA_CAP = of("hca_cap");

  /** More general capabilities. */
  public static final Layout HCA_CAP_2 = of("hca_cap_2");

  /** RoCE capabilities. */
  public static final Layout ROCE_CAP = of("roce_cap");

  /** Atomic capabilities. */
  public static final Layout ATOMIC_CAP = of("atomic_cap");

  private Layouts() {}

  /**
   * Finds a structure.
   *
   * @param name its name
   * @return the structure
   * @throws IllegalArgumentException when there is none of that name
   */
  public static Layout of(String name) {
    return InterfaceFile.instance().layout(name);
  }
}
