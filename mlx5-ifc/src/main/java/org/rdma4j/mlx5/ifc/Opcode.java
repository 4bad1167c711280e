package org.rdma4j.mlx5.ifc;

import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Opcodes of the command interface ({@code mlx5_ifc.h}: {@code MLX5_CMD_OP_*}). */
public enum Opcode {
  /** {@code QUERY_HCA_CAP}. */
  QUERY_HCA_CAP(0x100),
  /** {@code QUERY_ADAPTER}. */
  QUERY_ADAPTER(0x101),
  /** {@code INIT_HCA}. */
  INIT_HCA(0x102),
  /** {@code TEARDOWN_HCA}. */
  TEARDOWN_HCA(0x103),
  /** {@code ENABLE_HCA}. */
  ENABLE_HCA(0x104),
  /** {@code DISABLE_HCA}. */
  DISABLE_HCA(0x105),
  /** {@code QUERY_PAGES}. */
  QUERY_PAGES(0x107),
  /** {@code MANAGE_PAGES}. */
  MANAGE_PAGES(0x108),
  /** {@code SET_HCA_CAP}. */
  SET_HCA_CAP(0x109),
  /** {@code QUERY_ISSI}. */
  QUERY_ISSI(0x10a),
  /** {@code SET_ISSI}. */
  SET_ISSI(0x10b),
  /** {@code SET_DRIVER_VERSION}. */
  SET_DRIVER_VERSION(0x10d),
  /** {@code QUERY_SF_PARTITION}. */
  QUERY_SF_PARTITION(0x111),
  /** {@code ALLOC_SF}. */
  ALLOC_SF(0x113),
  /** {@code DEALLOC_SF}. */
  DEALLOC_SF(0x114),
  /** {@code SUSPEND_VHCA}. */
  SUSPEND_VHCA(0x115),
  /** {@code RESUME_VHCA}. */
  RESUME_VHCA(0x116),
  /** {@code QUERY_VHCA_MIGRATION_STATE}. */
  QUERY_VHCA_MIGRATION_STATE(0x117),
  /** {@code SAVE_VHCA_STATE}. */
  SAVE_VHCA_STATE(0x118),
  /** {@code LOAD_VHCA_STATE}. */
  LOAD_VHCA_STATE(0x119),
  /** {@code CREATE_MKEY}. */
  CREATE_MKEY(0x200),
  /** {@code QUERY_MKEY}. */
  QUERY_MKEY(0x201),
  /** {@code DESTROY_MKEY}. */
  DESTROY_MKEY(0x202),
  /** {@code QUERY_SPECIAL_CONTEXTS}. */
  QUERY_SPECIAL_CONTEXTS(0x203),
  /** {@code PAGE_FAULT_RESUME}. */
  PAGE_FAULT_RESUME(0x204),
  /** {@code ALLOC_MEMIC}. */
  ALLOC_MEMIC(0x205),
  /** {@code DEALLOC_MEMIC}. */
  DEALLOC_MEMIC(0x206),
  /** {@code MODIFY_MEMIC}. */
  MODIFY_MEMIC(0x207),
  /** {@code CREATE_EQ}. */
  CREATE_EQ(0x301),
  /** {@code DESTROY_EQ}. */
  DESTROY_EQ(0x302),
  /** {@code QUERY_EQ}. */
  QUERY_EQ(0x303),
  /** {@code GEN_EQE}. */
  GEN_EQE(0x304),
  /** {@code CREATE_CQ}. */
  CREATE_CQ(0x400),
  /** {@code DESTROY_CQ}. */
  DESTROY_CQ(0x401),
  /** {@code QUERY_CQ}. */
  QUERY_CQ(0x402),
  /** {@code MODIFY_CQ}. */
  MODIFY_CQ(0x403),
  /** {@code CREATE_QP}. */
  CREATE_QP(0x500),
  /** {@code DESTROY_QP}. */
  DESTROY_QP(0x501),
  /** {@code RST2INIT_QP}. */
  RST2INIT_QP(0x502),
  /** {@code INIT2RTR_QP}. */
  INIT2RTR_QP(0x503),
  /** {@code RTR2RTS_QP}. */
  RTR2RTS_QP(0x504),
  /** {@code RTS2RTS_QP}. */
  RTS2RTS_QP(0x505),
  /** {@code SQERR2RTS_QP}. */
  SQERR2RTS_QP(0x506),
  /** {@code 2ERR_QP}. */
  TO_ERR_QP(0x507),
  /** {@code 2RST_QP}. */
  TO_RST_QP(0x50a),
  /** {@code QUERY_QP}. */
  QUERY_QP(0x50b),
  /** {@code SQD_RTS_QP}. */
  SQD_RTS_QP(0x50c),
  /** {@code MAD_IFC}. */
  MAD_IFC(0x50d),
  /** {@code INIT2INIT_QP}. */
  INIT2INIT_QP(0x50e),
  /** {@code CREATE_PSV}. */
  CREATE_PSV(0x600),
  /** {@code DESTROY_PSV}. */
  DESTROY_PSV(0x601),
  /** {@code CREATE_SRQ}. */
  CREATE_SRQ(0x700),
  /** {@code DESTROY_SRQ}. */
  DESTROY_SRQ(0x701),
  /** {@code QUERY_SRQ}. */
  QUERY_SRQ(0x702),
  /** {@code ARM_RQ}. */
  ARM_RQ(0x703),
  /** {@code CREATE_XRC_SRQ}. */
  CREATE_XRC_SRQ(0x705),
  /** {@code DESTROY_XRC_SRQ}. */
  DESTROY_XRC_SRQ(0x706),
  /** {@code QUERY_XRC_SRQ}. */
  QUERY_XRC_SRQ(0x707),
  /** {@code ARM_XRC_SRQ}. */
  ARM_XRC_SRQ(0x708),
  /** {@code CREATE_DCT}. */
  CREATE_DCT(0x710),
  /** {@code DESTROY_DCT}. */
  DESTROY_DCT(0x711),
  /** {@code DRAIN_DCT}. */
  DRAIN_DCT(0x712),
  /** {@code QUERY_DCT}. */
  QUERY_DCT(0x713),
  /** {@code ARM_DCT_FOR_KEY_VIOLATION}. */
  ARM_DCT_FOR_KEY_VIOLATION(0x714),
  /** {@code CREATE_XRQ}. */
  CREATE_XRQ(0x717),
  /** {@code DESTROY_XRQ}. */
  DESTROY_XRQ(0x718),
  /** {@code QUERY_XRQ}. */
  QUERY_XRQ(0x719),
  /** {@code ARM_XRQ}. */
  ARM_XRQ(0x71a),
  /** {@code QUERY_XRQ_DC_PARAMS_ENTRY}. */
  QUERY_XRQ_DC_PARAMS_ENTRY(0x725),
  /** {@code SET_XRQ_DC_PARAMS_ENTRY}. */
  SET_XRQ_DC_PARAMS_ENTRY(0x726),
  /** {@code QUERY_XRQ_ERROR_PARAMS}. */
  QUERY_XRQ_ERROR_PARAMS(0x727),
  /** {@code RELEASE_XRQ_ERROR}. */
  RELEASE_XRQ_ERROR(0x729),
  /** {@code MODIFY_XRQ}. */
  MODIFY_XRQ(0x72a),
  /** {@code QUERY_ESW_FUNCTIONS}. */
  QUERY_ESW_FUNCTIONS(0x740),
  /** {@code QUERY_VPORT_STATE}. */
  QUERY_VPORT_STATE(0x750),
  /** {@code MODIFY_VPORT_STATE}. */
  MODIFY_VPORT_STATE(0x751),
  /** {@code QUERY_ESW_VPORT_CONTEXT}. */
  QUERY_ESW_VPORT_CONTEXT(0x752),
  /** {@code MODIFY_ESW_VPORT_CONTEXT}. */
  MODIFY_ESW_VPORT_CONTEXT(0x753),
  /** {@code QUERY_NIC_VPORT_CONTEXT}. */
  QUERY_NIC_VPORT_CONTEXT(0x754),
  /** {@code MODIFY_NIC_VPORT_CONTEXT}. */
  MODIFY_NIC_VPORT_CONTEXT(0x755),
  /** {@code QUERY_ROCE_ADDRESS}. */
  QUERY_ROCE_ADDRESS(0x760),
  /** {@code SET_ROCE_ADDRESS}. */
  SET_ROCE_ADDRESS(0x761),
  /** {@code QUERY_HCA_VPORT_CONTEXT}. */
  QUERY_HCA_VPORT_CONTEXT(0x762),
  /** {@code MODIFY_HCA_VPORT_CONTEXT}. */
  MODIFY_HCA_VPORT_CONTEXT(0x763),
  /** {@code QUERY_HCA_VPORT_GID}. */
  QUERY_HCA_VPORT_GID(0x764),
  /** {@code QUERY_HCA_VPORT_PKEY}. */
  QUERY_HCA_VPORT_PKEY(0x765),
  /** {@code QUERY_VNIC_ENV}. */
  QUERY_VNIC_ENV(0x76f),
  /** {@code QUERY_VPORT_COUNTER}. */
  QUERY_VPORT_COUNTER(0x770),
  /** {@code ALLOC_Q_COUNTER}. */
  ALLOC_Q_COUNTER(0x771),
  /** {@code DEALLOC_Q_COUNTER}. */
  DEALLOC_Q_COUNTER(0x772),
  /** {@code QUERY_Q_COUNTER}. */
  QUERY_Q_COUNTER(0x773),
  /** {@code SET_MONITOR_COUNTER}. */
  SET_MONITOR_COUNTER(0x774),
  /** {@code ARM_MONITOR_COUNTER}. */
  ARM_MONITOR_COUNTER(0x775),
  /** {@code SET_PP_RATE_LIMIT}. */
  SET_PP_RATE_LIMIT(0x780),
  /** {@code QUERY_RATE_LIMIT}. */
  QUERY_RATE_LIMIT(0x781),
  /** {@code CREATE_SCHEDULING_ELEMENT}. */
  CREATE_SCHEDULING_ELEMENT(0x782),
  /** {@code DESTROY_SCHEDULING_ELEMENT}. */
  DESTROY_SCHEDULING_ELEMENT(0x783),
  /** {@code QUERY_SCHEDULING_ELEMENT}. */
  QUERY_SCHEDULING_ELEMENT(0x784),
  /** {@code MODIFY_SCHEDULING_ELEMENT}. */
  MODIFY_SCHEDULING_ELEMENT(0x785),
  /** {@code CREATE_QOS_PARA_VPORT}. */
  CREATE_QOS_PARA_VPORT(0x786),
  /** {@code DESTROY_QOS_PARA_VPORT}. */
  DESTROY_QOS_PARA_VPORT(0x787),
  /** {@code ALLOC_PD}. */
  ALLOC_PD(0x800),
  /** {@code DEALLOC_PD}. */
  DEALLOC_PD(0x801),
  /** {@code ALLOC_UAR}. */
  ALLOC_UAR(0x802),
  /** {@code DEALLOC_UAR}. */
  DEALLOC_UAR(0x803),
  /** {@code CONFIG_INT_MODERATION}. */
  CONFIG_INT_MODERATION(0x804),
  /** {@code ACCESS_REG}. */
  ACCESS_REG(0x805),
  /** {@code ATTACH_TO_MCG}. */
  ATTACH_TO_MCG(0x806),
  /** {@code DETACH_FROM_MCG}. */
  DETACH_FROM_MCG(0x807),
  /** {@code GET_DROPPED_PACKET_LOG}. */
  GET_DROPPED_PACKET_LOG(0x80a),
  /** {@code QUERY_MAD_DEMUX}. */
  QUERY_MAD_DEMUX(0x80b),
  /** {@code SET_MAD_DEMUX}. */
  SET_MAD_DEMUX(0x80c),
  /** {@code NOP}. */
  NOP(0x80d),
  /** {@code ALLOC_XRCD}. */
  ALLOC_XRCD(0x80e),
  /** {@code DEALLOC_XRCD}. */
  DEALLOC_XRCD(0x80f),
  /** {@code ALLOC_TRANSPORT_DOMAIN}. */
  ALLOC_TRANSPORT_DOMAIN(0x816),
  /** {@code DEALLOC_TRANSPORT_DOMAIN}. */
  DEALLOC_TRANSPORT_DOMAIN(0x817),
  /** {@code QUERY_CONG_STATUS}. */
  QUERY_CONG_STATUS(0x822),
  /** {@code MODIFY_CONG_STATUS}. */
  MODIFY_CONG_STATUS(0x823),
  /** {@code QUERY_CONG_PARAMS}. */
  QUERY_CONG_PARAMS(0x824),
  /** {@code MODIFY_CONG_PARAMS}. */
  MODIFY_CONG_PARAMS(0x825),
  /** {@code QUERY_CONG_STATISTICS}. */
  QUERY_CONG_STATISTICS(0x826),
  /** {@code ADD_VXLAN_UDP_DPORT}. */
  ADD_VXLAN_UDP_DPORT(0x827),
  /** {@code DELETE_VXLAN_UDP_DPORT}. */
  DELETE_VXLAN_UDP_DPORT(0x828),
  /** {@code SET_L2_TABLE_ENTRY}. */
  SET_L2_TABLE_ENTRY(0x829),
  /** {@code QUERY_L2_TABLE_ENTRY}. */
  QUERY_L2_TABLE_ENTRY(0x82a),
  /** {@code DELETE_L2_TABLE_ENTRY}. */
  DELETE_L2_TABLE_ENTRY(0x82b),
  /** {@code SET_WOL_ROL}. */
  SET_WOL_ROL(0x830),
  /** {@code QUERY_WOL_ROL}. */
  QUERY_WOL_ROL(0x831),
  /** {@code CREATE_LAG}. */
  CREATE_LAG(0x840),
  /** {@code MODIFY_LAG}. */
  MODIFY_LAG(0x841),
  /** {@code QUERY_LAG}. */
  QUERY_LAG(0x842),
  /** {@code DESTROY_LAG}. */
  DESTROY_LAG(0x843),
  /** {@code CREATE_VPORT_LAG}. */
  CREATE_VPORT_LAG(0x844),
  /** {@code DESTROY_VPORT_LAG}. */
  DESTROY_VPORT_LAG(0x845),
  /** {@code CREATE_TIR}. */
  CREATE_TIR(0x900),
  /** {@code MODIFY_TIR}. */
  MODIFY_TIR(0x901),
  /** {@code DESTROY_TIR}. */
  DESTROY_TIR(0x902),
  /** {@code QUERY_TIR}. */
  QUERY_TIR(0x903),
  /** {@code CREATE_SQ}. */
  CREATE_SQ(0x904),
  /** {@code MODIFY_SQ}. */
  MODIFY_SQ(0x905),
  /** {@code DESTROY_SQ}. */
  DESTROY_SQ(0x906),
  /** {@code QUERY_SQ}. */
  QUERY_SQ(0x907),
  /** {@code CREATE_RQ}. */
  CREATE_RQ(0x908),
  /** {@code MODIFY_RQ}. */
  MODIFY_RQ(0x909),
  /** {@code DESTROY_RQ}. */
  DESTROY_RQ(0x90a),
  /** {@code QUERY_RQ}. */
  QUERY_RQ(0x90b),
  /** {@code CREATE_RMP}. */
  CREATE_RMP(0x90c),
  /** {@code MODIFY_RMP}. */
  MODIFY_RMP(0x90d),
  /** {@code DESTROY_RMP}. */
  DESTROY_RMP(0x90e),
  /** {@code QUERY_RMP}. */
  QUERY_RMP(0x90f),
  /** {@code SET_DELAY_DROP_PARAMS}. */
  SET_DELAY_DROP_PARAMS(0x910),
  /** {@code CREATE_TIS}. */
  CREATE_TIS(0x912),
  /** {@code MODIFY_TIS}. */
  MODIFY_TIS(0x913),
  /** {@code DESTROY_TIS}. */
  DESTROY_TIS(0x914),
  /** {@code QUERY_TIS}. */
  QUERY_TIS(0x915),
  /** {@code CREATE_RQT}. */
  CREATE_RQT(0x916),
  /** {@code MODIFY_RQT}. */
  MODIFY_RQT(0x917),
  /** {@code DESTROY_RQT}. */
  DESTROY_RQT(0x918),
  /** {@code QUERY_RQT}. */
  QUERY_RQT(0x919),
  /** {@code SET_FLOW_TABLE_ROOT}. */
  SET_FLOW_TABLE_ROOT(0x92f),
  /** {@code CREATE_FLOW_TABLE}. */
  CREATE_FLOW_TABLE(0x930),
  /** {@code DESTROY_FLOW_TABLE}. */
  DESTROY_FLOW_TABLE(0x931),
  /** {@code QUERY_FLOW_TABLE}. */
  QUERY_FLOW_TABLE(0x932),
  /** {@code CREATE_FLOW_GROUP}. */
  CREATE_FLOW_GROUP(0x933),
  /** {@code DESTROY_FLOW_GROUP}. */
  DESTROY_FLOW_GROUP(0x934),
  /** {@code QUERY_FLOW_GROUP}. */
  QUERY_FLOW_GROUP(0x935),
  /** {@code SET_FLOW_TABLE_ENTRY}. */
  SET_FLOW_TABLE_ENTRY(0x936),
  /** {@code QUERY_FLOW_TABLE_ENTRY}. */
  QUERY_FLOW_TABLE_ENTRY(0x937),
  /** {@code DELETE_FLOW_TABLE_ENTRY}. */
  DELETE_FLOW_TABLE_ENTRY(0x938),
  /** {@code ALLOC_FLOW_COUNTER}. */
  ALLOC_FLOW_COUNTER(0x939),
  /** {@code DEALLOC_FLOW_COUNTER}. */
  DEALLOC_FLOW_COUNTER(0x93a),
  /** {@code QUERY_FLOW_COUNTER}. */
  QUERY_FLOW_COUNTER(0x93b),
  /** {@code MODIFY_FLOW_TABLE}. */
  MODIFY_FLOW_TABLE(0x93c),
  /** {@code ALLOC_PACKET_REFORMAT_CONTEXT}. */
  ALLOC_PACKET_REFORMAT_CONTEXT(0x93d),
  /** {@code DEALLOC_PACKET_REFORMAT_CONTEXT}. */
  DEALLOC_PACKET_REFORMAT_CONTEXT(0x93e),
  /** {@code QUERY_PACKET_REFORMAT_CONTEXT}. */
  QUERY_PACKET_REFORMAT_CONTEXT(0x93f),
  /** {@code ALLOC_MODIFY_HEADER_CONTEXT}. */
  ALLOC_MODIFY_HEADER_CONTEXT(0x940),
  /** {@code DEALLOC_MODIFY_HEADER_CONTEXT}. */
  DEALLOC_MODIFY_HEADER_CONTEXT(0x941),
  /** {@code QUERY_MODIFY_HEADER_CONTEXT}. */
  QUERY_MODIFY_HEADER_CONTEXT(0x942),
  /** {@code FPGA_CREATE_QP}. */
  FPGA_CREATE_QP(0x960),
  /** {@code FPGA_MODIFY_QP}. */
  FPGA_MODIFY_QP(0x961),
  /** {@code FPGA_QUERY_QP}. */
  FPGA_QUERY_QP(0x962),
  /** {@code FPGA_DESTROY_QP}. */
  FPGA_DESTROY_QP(0x963),
  /** {@code FPGA_QUERY_QP_COUNTERS}. */
  FPGA_QUERY_QP_COUNTERS(0x964),
  /** {@code CREATE_GENERAL_OBJECT}. */
  CREATE_GENERAL_OBJECT(0xa00),
  /** {@code MODIFY_GENERAL_OBJECT}. */
  MODIFY_GENERAL_OBJECT(0xa01),
  /** {@code QUERY_GENERAL_OBJECT}. */
  QUERY_GENERAL_OBJECT(0xa02),
  /** {@code DESTROY_GENERAL_OBJECT}. */
  DESTROY_GENERAL_OBJECT(0xa03),
  /** {@code CREATE_UCTX}. */
  CREATE_UCTX(0xa04),
  /** {@code DESTROY_UCTX}. */
  DESTROY_UCTX(0xa06),
  /** {@code CREATE_UMEM}. */
  CREATE_UMEM(0xa08),
  /** {@code DESTROY_UMEM}. */
  DESTROY_UMEM(0xa0a),
  /** {@code SYNC_STEERING}. */
  SYNC_STEERING(0xb00),
  /** {@code QUERY_VHCA_STATE}. */
  QUERY_VHCA_STATE(0xb0d),
  /** {@code MODIFY_VHCA_STATE}. */
  MODIFY_VHCA_STATE(0xb0e);

  private static final Map<Integer, Opcode> BY_NUMBER =
      Stream.of(values()).collect(Collectors.toUnmodifiableMap(Opcode::number, Function.identity()));

  private final int number;

  Opcode(int number) {
    this.number = number;
  }

  /** {@return the number, 16 bits} */
  public int number() {
    return number;
  }

  /**
   * Finds an opcode.
   *
   * @param number the number
   * @return the opcode, or null when the number is none
   */
  public static Opcode of(int number) {
    return BY_NUMBER.get(number);
  }

  /** {@return the name in the kernel's sources: {@code 2ERR_QP} for {@link #TO_ERR_QP}, else the same} */
  public String text() {
    return switch (this) {
      case TO_ERR_QP -> "2ERR_QP";
      case TO_RST_QP -> "2RST_QP";
      default -> name();
    };
  }
}
