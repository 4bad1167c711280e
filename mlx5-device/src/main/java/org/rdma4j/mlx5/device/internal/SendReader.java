package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciHost;
import org.rdma4j.roce.engine.FailedCheck;
import org.rdma4j.roce.engine.QpKind;
import org.rdma4j.roce.engine.SendWork;
import org.rdma4j.roce.engine.WorkOpcode;

/**
 * The send queue of one queue pair: fetches work queue entries from host memory and takes them apart, segment by
 * segment. An entry is copied before anything in it is believed. Engine thread; steady state allocates nothing.
 */
final class SendReader {
  static final int BLOCK = 64;
  private static final int SEGMENT = 16;
  private static final int DATAGRAM = 48;

  /** Where an atomic has its data segment: behind control, remote address and operands. */
  private static final int ATOMIC_DATA = 48;

  private static final int COUNT_MASK = 0xffff;
  private static final int UPDATE_CQ = 2;
  private static final int UPDATE_CQ_AND_EQ = 3;
  private static final int FENCE = 2;
  private static final int INLINE = 1 << 31;
  private static final int INLINE_LENGTH = 0x3ff;

  private static final int NOP = 0x00;
  private static final int SEND_INVALIDATE = 0x01;
  private static final int RDMA_WRITE = 0x08;
  private static final int RDMA_WRITE_IMM = 0x09;
  private static final int SEND = 0x0a;
  private static final int SEND_IMM = 0x0b;
  private static final int RDMA_READ = 0x10;
  private static final int ATOMIC_SWAP = 0x11;
  private static final int ATOMIC_ADD = 0x12;
  private static final int UMR = 0x25;

  private static final Field INDEX = Layouts.of("wqe_ctrl").field("wqe_index");
  private static final Field OPCODE = Layouts.of("wqe_ctrl").field("opcode");
  private static final Field QPN = Layouts.of("wqe_ctrl").field("qpn");
  private static final Field SEGMENTS = Layouts.of("wqe_ctrl").field("ds");
  private static final Field FENCE_MODE = Layouts.of("wqe_ctrl").field("fence");
  private static final Field COMPLETION = Layouts.of("wqe_ctrl").field("completion");
  private static final Field SOLICITED = Layouts.of("wqe_ctrl").field("solicited");
  private static final Field IMMEDIATE = Layouts.of("wqe_ctrl").field("imm");
  private static final Field REMOTE_ADDRESS = Layouts.of("wqe_raddr").field("remote_address");
  private static final Field REMOTE_KEY = Layouts.of("wqe_raddr").field("rkey");
  private static final Field SWAP_ADD = Layouts.of("wqe_atomic").field("swap_add");
  private static final Field COMPARE = Layouts.of("wqe_atomic").field("compare");
  private static final Field XRC_SRQ = Layouts.of("wqe_xrc").field("srqn");
  private static final Field QKEY = Layouts.of("wqe_datagram").field("qkey");
  private static final Field EXTENDED = Layouts.of("wqe_datagram").field("extended");
  private static final Field REMOTE_QP = Layouts.of("wqe_datagram").field("remote_qp");
  private static final Field CLASS = Layouts.of("wqe_datagram").field("tclass");
  private static final Field HOP_LIMIT = Layouts.of("wqe_datagram").field("hop_limit");
  private static final Field GRH = Layouts.of("wqe_datagram").field("grh");
  private static final Field SGID = Layouts.of("wqe_datagram").field("sgid_index");
  private static final Field FLOW = Layouts.of("wqe_datagram").field("flow_label");
  private static final Field DGID = Layouts.of("wqe_datagram").field("dgid");
  private static final ValueLayout.OfInt DWORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong QWORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final PciHost host;
  private final PageList buffer;
  private final long start;
  private final int blocks;
  private final int number;
  private final QpKind kind;
  private final DoorbellRecord record;
  private final RoceAddresses addresses;
  private final Runnable broken;
  private final MemorySegment entry = Arena.ofAuto().allocate(Wqe.BYTES, Long.BYTES);
  private volatile BlueFlame blueFlame;
  private boolean open;
  private int position;
  private int posted;

  /**
   * Describes a send queue.
   *
   * @param start where in the buffer it begins
   * @param blocks its length in blocks of 64 bytes, a power of two; 0 for none
   * @param broken told when it cannot be read
   */
  SendReader(
      PciHost host,
      PageList buffer,
      long start,
      int blocks,
      int number,
      QpKind kind,
      DoorbellRecord record,
      RoceAddresses addresses,
      Runnable broken) {
    this.host = host;
    this.buffer = buffer;
    this.start = start;
    this.blocks = blocks;
    this.number = number;
    this.kind = kind;
    this.record = record;
    this.addresses = addresses;
    this.broken = broken;
  }

  /** Begins anew, from the first block on. */
  void open() {
    position = 0;
    posted = 0;
    open = blocks > 0;
    BlueFlame entries = blueFlame;
    if (entries != null) {
      entries.clear();
    }
  }

  void close() {
    open = false;
  }

  int position() {
    return position & COUNT_MASK;
  }

  int posted() {
    return posted;
  }

  /** An entry came whole. Any thread. */
  void blueFlame(int index, MemorySegment source, long from, int length) {
    BlueFlame entries = blueFlame;
    if (entries == null) {
      synchronized (this) {
        entries = blueFlame == null ? new BlueFlame() : blueFlame;
        blueFlame = entries;
      }
    }
    entries.put(index, source, from, length);
  }

  /** Takes the next entry; false when nothing is posted, or nothing can be read any more. */
  boolean read(SendWork work) {
    if (!open) {
      return false;
    }
    int index = position & COUNT_MASK;
    int length;
    try {
      if ((posted - position & COUNT_MASK) == 0) {
        posted = record.read(DoorbellRecord.SEND);
      }
      int ready = posted - position & COUNT_MASK;
      if (ready == 0) {
        return false;
      }
      if (ready > blocks) {
        fail();
        return false;
      }
      length = fetch(index, ready);
    } catch (DmaFault e) {
      fail();
      return false;
    }
    work.id =
        index
            | (long) OPCODE.get(entry, 0) << CompletionWriter.OPCODE_SHIFT
            | (COMPLETION.get(entry, 0) == UPDATE_CQ_AND_EQ ? CompletionWriter.SOLICITED : 0);
    work.signaled = COMPLETION.get(entry, 0) >= UPDATE_CQ;
    work.solicited = SOLICITED.isSet(entry, 0);
    work.fence = FENCE_MODE.get(entry, 0) >= FENCE;
    work.immediate = IMMEDIATE.get(entry, 0);
    boolean sound = length > 0 && INDEX.get(entry, 0) == index && QPN.get(entry, 0) == number && parse(length, work);
    if (!sound) {
      work.sge.clear();
      work.inlineLength = -1;
      work.malformed = FailedCheck.WORK_REQUEST;
      work.opcode = WorkOpcode.SEND;
    }
    return true;
  }

  /**
   * Looks an atomic up once more, for where its reply is.
   *
   * @param index first block of the entry
   * @param reply gets address and key
   * @return false when it cannot be read
   */
  boolean readReply(int index, long[] reply) {
    int at = (kind == QpKind.XRC_INI ? SEGMENT : 0) + ATOMIC_DATA;
    try {
      readBlock(index, 0);
      readBlock(index + 1, 1);
    } catch (DmaFault e) {
      return false;
    }
    reply[0] = entry.get(QWORD, at + 8);
    reply[1] = entry.get(DWORD, at + 4);
    return true;
  }

  /** Copies the entry at a block; its length in bytes, or 0 when it says none that it can have. */
  private int fetch(int index, int ready) throws DmaFault {
    BlueFlame entries = blueFlame;
    int came = entries == null ? 0 : entries.take(index, entry);
    if (came == 0) {
      readBlock(index, 0);
      came = BLOCK;
    }
    int segments = SEGMENTS.get(entry, 0);
    int count = Math.max(1, (segments * SEGMENT + BLOCK - 1) / BLOCK);
    if (segments == 0 || count > ready) {
      position = position + 1;
      return 0;
    }
    for (int i = came / BLOCK; i < count; i++) {
      readBlock(index + i, i);
    }
    position = position + count;
    return segments * SEGMENT;
  }

  private void readBlock(int index, int to) throws DmaFault {
    buffer.read(host, start + (long) (index & blocks - 1) * BLOCK, entry, (long) to * BLOCK, BLOCK);
  }

  private void fail() {
    open = false;
    broken.run();
  }

  private boolean parse(int length, SendWork work) {
    int opcode = OPCODE.get(entry, 0);
    if (opcode == NOP || opcode == UMR) {
      return keep(opcode, length, work);
    }
    work.opcode = workOpcode(opcode);
    if (work.opcode < 0) {
      return false;
    }
    int at = SEGMENT;
    if (kind == QpKind.XRC_INI) {
      if (at + SEGMENT > length) {
        return false;
      }
      work.xrcSrq = XRC_SRQ.get(entry, at) & 0xff_ffff;
      at += SEGMENT;
    } else if (!kind.isConnected()) {
      if (at + DATAGRAM > length || !EXTENDED.isSet(entry, at)) {
        return false;
      }
      datagram(at, work);
      at += DATAGRAM;
    }
    if (opcode == RDMA_WRITE || opcode == RDMA_WRITE_IMM || (opcode >= RDMA_READ && opcode <= ATOMIC_ADD)) {
      if (at + SEGMENT > length) {
        return false;
      }
      work.remoteAddress = REMOTE_ADDRESS.getLong(entry, at);
      work.remoteKey = REMOTE_KEY.get(entry, at);
      at += SEGMENT;
    }
    if (opcode == ATOMIC_SWAP || opcode == ATOMIC_ADD) {
      if (at + SEGMENT > length) {
        return false;
      }
      boolean swap = opcode == ATOMIC_SWAP;
      work.swap = SWAP_ADD.getLong(entry, at);
      work.compareAdd = swap ? COMPARE.getLong(entry, at) : work.swap;
      at += SEGMENT;
    }
    return data(at, length, work) && (work.inlineLength < 0 || opcode < RDMA_READ);
  }

  private static int workOpcode(int opcode) {
    return switch (opcode) {
      case SEND_INVALIDATE -> WorkOpcode.SEND_WITH_INV;
      case RDMA_WRITE -> WorkOpcode.RDMA_WRITE;
      case RDMA_WRITE_IMM -> WorkOpcode.RDMA_WRITE_WITH_IMM;
      case SEND -> WorkOpcode.SEND;
      case SEND_IMM -> WorkOpcode.SEND_WITH_IMM;
      case RDMA_READ -> WorkOpcode.RDMA_READ;
      case ATOMIC_SWAP -> WorkOpcode.ATOMIC_CMP_AND_SWP;
      case ATOMIC_ADD -> WorkOpcode.ATOMIC_FETCH_AND_ADD;
      default -> -1;
    };
  }

  /** An operation without a packet: the host executes it when its turn comes. */
  private boolean keep(int opcode, int length, SendWork work) {
    Wqe kept = Wqe.of(work);
    kept.kind = opcode == NOP ? Wqe.NOP : Wqe.UMR;
    kept.length = length;
    MemorySegment.copy(entry, 0, kept.memory, 0, length);
    work.opcode = opcode == UMR && Umr.onlyFrees(entry, length) ? WorkOpcode.LOCAL_INV : WorkOpcode.REG_MR;
    return true;
  }

  private void datagram(int at, SendWork work) {
    work.remoteQkey = QKEY.get(entry, at);
    work.remoteQp = REMOTE_QP.get(entry, at);
    work.route =
        GRH.isSet(entry, at)
            ? addresses.route(
                SGID.get(entry, at),
                entry.get(QWORD, at + DGID.offset()),
                entry.get(QWORD, at + DGID.offset() + Long.BYTES),
                CLASS.get(entry, at),
                FLOW.get(entry, at),
                HOP_LIMIT.get(entry, at))
            : null;
  }

  /** Data segments, or inline data; not both. */
  private boolean data(int from, int length, SendWork work) {
    int at = from;
    int inline = 0;
    boolean isInline = false;
    while (at + Integer.BYTES <= length) {
      int head = entry.get(DWORD, at);
      if ((head & INLINE) != 0) {
        int bytes = head & INLINE_LENGTH;
        if (at + Integer.BYTES + bytes > length || work.sge.count() > 0) {
          return false;
        }
        MemorySegment.copy(entry, at + Integer.BYTES, Wqe.of(work).memory, inline, bytes);
        inline += bytes;
        isInline = true;
        at += (Integer.BYTES + bytes + SEGMENT - 1) / SEGMENT * SEGMENT;
      } else {
        if (at + SEGMENT > length || isInline) {
          return false;
        }
        if (head != 0) {
          work.sge.add(entry.get(QWORD, at + 8), head, entry.get(DWORD, at + 4));
        }
        at += SEGMENT;
      }
    }
    if (isInline) {
      work.inlineMemory = Wqe.of(work).memory;
      work.inlineOffset = 0;
      work.inlineLength = inline;
    }
    return true;
  }
}
