package org.rdma4j.mlx5.core.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.rdma4j.mlx5.core.CapabilityType;
import org.rdma4j.mlx5.core.CommandChannel;
import org.rdma4j.mlx5.core.CommandException;
import org.rdma4j.mlx5.core.CommandReply;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.DeviceParameter;
import org.rdma4j.mlx5.core.Mlx5Errno;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.mlx5.core.RegisterCommands;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.PciChannelState;
import org.rdma4j.pci.PciDevice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the function up, from the first register to INIT_HCA and the capabilities, in the kernel's order (kernel:
 * {@code main.c}, {@code mlx5_function_setup}; reference chapter 5.1 and 5.2).
 */
final class FunctionSetup {
  private static final Logger LOG = LoggerFactory.getLogger(FunctionSetup.class);
  private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final int DTOR = 0xc00e;
  private static final int HOST_ENDIANNESS = 0x7004;
  private static final int HOST_ENDIANNESS_BYTES = 16;
  private static final int BIG_ENDIAN = 0x80;
  private static final int PCAM = 0x507f;
  private static final int MCAM = 0x907f;
  private static final int QCAM = 0x4019;
  private static final int PCAM_BYTES = 80;
  private static final int MCAM_BYTES = 72;
  private static final int QCAM_BYTES = 72;
  private static final int MCAM_GROUPS = 3;
  private static final int PORT_SELECTION = 0x25;
  private static final int PROFILE_LOG_MAX_QP = 18;
  private static final int GRACEFUL = 0;
  private static final int SOFTWARE_VHCA_ID = 1;
  private static final String VERSION = "rdma4j,mlx5_core,0.001.000000";

  private final CommandChannel channel;
  private final PciDevice pci;
  private final InitSegment registers;
  private final Timeouts timeouts;
  private final CapabilityStore capabilities;
  private final PageSupply pages;
  private final BooleanSupplier abandoned;
  private boolean tornDown = true;

  FunctionSetup(
      CommandChannel channel,
      PciDevice pci,
      InitSegment registers,
      Timeouts timeouts,
      CapabilityStore capabilities,
      PageSupply pages,
      BooleanSupplier abandoned) {
    this.channel = channel;
    this.pci = pci;
    this.registers = registers;
    this.timeouts = timeouts;
    this.capabilities = capabilities;
    this.pages = pages;
    this.abandoned = abandoned;
  }

  /** Waits until the firmware is ready; EBUSY when it does not become so, ENODEV when the card goes. */
  void awaitFirmware(Timeout which) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeouts.millis(which));
    while (registers.isInitializing()) {
      if (pci.channelState() == PciChannelState.PERMANENT_FAILURE || abandoned.getAsBoolean()) {
        throw new Mlx5Exception(Mlx5Errno.ENODEV, "the card is gone or given up");
      }
      if (System.nanoTime() - end > 0) {
        throw new Mlx5Exception(
            Mlx5Errno.EBUSY, "firmware is still initializing after " + timeouts.millis(which) + " ms");
      }
      LockSupport.parkNanos(this, STEP_NANOS);
    }
  }

  /** Time-outs that the initialization segment tells; true when the card says any. */
  boolean readTimeouts() {
    int init = registers.get("cmd_q_init_to_value");
    if (init == 0) {
      return false;
    }
    timeouts.set(Timeout.FW_INIT, Timeouts.toMillis(registers.get("cmd_q_init_to_multiplier"), init));
    timeouts.set(
        Timeout.CMD,
        Timeouts.toMillis(registers.get("cmd_exec_to_multiplier"), registers.get("cmd_exec_to_value")));
    return true;
  }

  /** Commands of step 4 to 7. */
  void enable(Ladder ladder, boolean cardTellsTimeouts) {
    channel.execute(CommandRequest.of(Opcode.ENABLE_HCA));
    ladder.done("ENABLE_HCA", this::disable);
    chooseInterface();
    ladder.done("pages", this::reclaim);
    pages.satisfyStartup(true);
    if (cardTellsTimeouts) {
      Structure image = RegisterCommands.image(Layouts.of("dtor"));
      timeouts.take(new Structure(image.layout(), RegisterCommands.read(channel, DTOR, image.memory()), 0));
    }
  }

  private void disable() {
    if (tornDown) {
      channel.execute(CommandRequest.of(Opcode.DISABLE_HCA));
    }
  }

  private void reclaim() {
    if (tornDown) {
      pages.reclaimAll();
    }
  }

  /** Interface version 1 when the card has it ({@code mlx5_core_set_issi}). */
  private void chooseInterface() {
    int supported;
    try {
      CommandReply reply = channel.execute(CommandRequest.of(Opcode.QUERY_ISSI));
      supported = reply.get("supported_issi_dw0");
    } catch (CommandException e) {
      if (e.status() == 0) {
        throw e;
      }
      LOG.info("QUERY_ISSI is not known to the firmware: version 0");
      return;
    }
    if ((supported & 1 << 1) != 0) {
      channel.execute(CommandRequest.of(Opcode.SET_ISSI).set("current_issi", 1));
    } else if (supported != 0 && (supported & 1) == 0) {
      throw new Mlx5Exception(
          Mlx5Errno.EOPNOTSUPP, "interface versions 0x%x: only 0 and 1 are known".formatted(supported));
    }
  }

  /** Steps 8 to 18. */
  void open(Ladder ladder, CoreDevice device, CommandInterface commands) {
    hostEndianness();
    setCapabilities(device, commands);
    pages.satisfyStartup(false);
    CommandRequest init = CommandRequest.of(Opcode.INIT_HCA);
    if (capabilities.maximum(CapabilityType.GENERAL_2, "sw_vhca_id_valid") != 0) {
      init.set("sw_vhca_id", SOFTWARE_VHCA_ID);
    }
    channel.execute(init);
    ladder.done("INIT_HCA", this::tearDown);
    if (capabilities.has("driver_version")) {
      CommandRequest version = CommandRequest.of(Opcode.SET_DRIVER_VERSION);
      byte[] text = VERSION.getBytes(StandardCharsets.US_ASCII);
      MemorySegment.copy(MemorySegment.ofArray(text), 0, version.bytes("driver_version"), 0, text.length);
      channel.execute(version);
    }
    readCapabilities();
  }

  /** When the card does not let go, its pages are left alone: it may still use them. */
  private void tearDown() {
    tornDown = false;
    CommandReply reply = channel.execute(CommandRequest.of(Opcode.TEARDOWN_HCA).set("profile", GRACEFUL));
    if (reply.get("state") != 0) {
      throw new Mlx5Exception(Mlx5Errno.EIO, "TEARDOWN_HCA failed: state " + reply.get("state"));
    }
    tornDown = true;
  }

  private void hostEndianness() {
    MemorySegment image = Arena.ofAuto().allocate(HOST_ENDIANNESS_BYTES, Long.BYTES);
    boolean big = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;
    image.set(ValueLayout.JAVA_BYTE, 0, (byte) (big ? BIG_ENDIAN : 0));
    RegisterCommands.write(channel, HOST_ENDIANNESS, image);
  }

  private void setCapabilities(CoreDevice device, CommandInterface commands) {
    boolean roceWanted = device.parameter(DeviceParameter.ENABLE_ROCE) != 0;
    boolean signed = device.parameter(DeviceParameter.COMMAND_CHECKSUM) != 0;
    capabilities.read(channel, CapabilityType.GENERAL.number());
    CommandRequest general = capabilities.change(CapabilityType.GENERAL);
    Structure page = CapabilityStore.page(general, CapabilityType.GENERAL);
    fillGeneral(page, roceWanted);
    page.set("cmdif_checksum", signed ? maximum("cmdif_checksum") : 0);
    channel.execute(general);
    commands.checksums(signed);
    if (capabilities.has("atomic")) {
      capabilities.read(channel, CapabilityType.ATOMIC.number());
      if (capabilities.get(CapabilityType.ATOMIC, "supported_atomic_req_8B_endianness_mode_1") == 1) {
        change(CapabilityType.ATOMIC, "atomic_req_8B_endianness_mode");
      }
    }
    boolean roceIsOff = capabilities.has("roce_rw_supported") && !capabilities.has("roce");
    if (!roceIsOff && capabilities.maximum(CapabilityType.GENERAL, "roce") != 0 && roceWanted) {
      capabilities.read(channel, CapabilityType.ROCE.number());
      if (capabilities.get(CapabilityType.ROCE, "sw_r_roce_src_udp_port") == 0
          && capabilities.maximum(CapabilityType.ROCE, "sw_r_roce_src_udp_port") != 0) {
        change(CapabilityType.ROCE, "sw_r_roce_src_udp_port");
      }
    }
    if (capabilities.maximum(CapabilityType.GENERAL, "hca_cap_2") != 0) {
      capabilities.read(channel, CapabilityType.GENERAL_2.number());
      if (capabilities.maximum(CapabilityType.GENERAL_2, "sw_vhca_id_valid") != 0) {
        change(CapabilityType.GENERAL_2, "sw_vhca_id_valid");
      }
    }
    if (capabilities.has("port_selection_cap")) {
      capabilities.read(channel, PORT_SELECTION);
    }
  }

  private void change(CapabilityType type, String flag) {
    CommandRequest request = capabilities.change(type);
    CapabilityStore.page(request, type).set(flag, 1);
    channel.execute(request);
  }

  /** What the driver wants otherwise than the card has it ({@code handle_hca_cap}). */
  private void fillGeneral(Structure page, boolean roceWanted) {
    page.set("pkey_table_size", 0);
    page.set("log_max_qp", Math.min(PROFILE_LOG_MAX_QP, maximum("log_max_qp")));
    page.set("log_uar_page_sz", 0);
    if (maximum("cache_line_128byte") != 0) {
      page.set("cache_line_128byte", 0);
    }
    for (String flag : new String[] {"dct", "pci_sync_for_fw_update_event", "release_all_pages", "mkey_by_name"}) {
      if (maximum(flag) != 0) {
        page.set(flag, 1);
      }
    }
    for (String limit : new String[] {"num_vhca_ports", "num_total_dynamic_vf_msix"}) {
      if (maximum(limit) != 0) {
        page.set(limit, maximum(limit));
      }
    }
    if (capabilities.has("roce_rw_supported") && maximum("roce") != 0) {
      page.set("roce", roceWanted ? 1 : 0);
    }
  }

  private int maximum(String field) {
    return capabilities.maximum(CapabilityType.GENERAL, field);
  }

  /** All pages that the card has, in the kernel's order ({@code fw.c}, {@code mlx5_query_hca_caps}). */
  private void readCapabilities() {
    capabilities.read(channel, CapabilityType.GENERAL.number());
    readIf(capabilities.has("port_selection_cap"), PORT_SELECTION);
    readIf(capabilities.has("hca_cap_2"), CapabilityType.GENERAL_2.number());
    readIf(capabilities.has("eth_net_offloads"), 0x01);
    readIf(capabilities.has("ipoib_enhanced_offloads"), 0x06);
    readIf(capabilities.has("pg"), CapabilityType.ODP.number());
    readIf(capabilities.has("atomic"), CapabilityType.ATOMIC.number());
    readIf(capabilities.has("roce"), CapabilityType.ROCE.number());
    readIf(
        capabilities.has("nic_flow_table") || capabilities.has("ipoib_enhanced_offloads"),
        CapabilityType.FLOW_TABLE.number());
    readIf(capabilities.has("vport_group_manager") && capabilities.has("eswitch_manager"), 0x08);
    readIf(capabilities.has("eswitch_manager"), 0x09);
    readIf(capabilities.has("vector_calc"), 0x0b);
    readIf(capabilities.has("qos"), 0x0c);
    registerIf(capabilities.has("pcam_reg"), PCAM, PCAM_BYTES, 1);
    registerIf(capabilities.has("mcam_reg"), MCAM, MCAM_BYTES, MCAM_GROUPS);
    registerIf(capabilities.has("qcam_reg"), QCAM, QCAM_BYTES, 1);
    readIf(capabilities.has("device_memory"), 0x0f);
    readIf(capabilities.has("event_cap"), 0x14);
    readIf(capabilities.has("tls_tx") || capabilities.has("tls_rx"), 0x11);
    readIf(capabilities.has("ipsec_offload"), 0x15);
    readIf(capabilities.has("shampo"), 0x1d);
    readIf(capabilities.has("adv_virtualization"), 0x26);
  }

  private void readIf(boolean there, int type) {
    if (there) {
      capabilities.read(channel, type);
    }
  }

  private void registerIf(boolean there, int id, int bytes, int groups) {
    for (int group = 0; there && group < groups; group++) {
      MemorySegment image = Arena.ofAuto().allocate(bytes, Long.BYTES);
      image.set(ValueLayout.JAVA_BYTE, 3, (byte) group);
      RegisterCommands.read(channel, id, image);
    }
  }
}
