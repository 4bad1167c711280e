package org.rdma4j.mlx5.ib;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ObjectContext;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.core.DmaBuffer;
import org.rdma4j.mlx5.core.MemoryKeyCommands;
import org.rdma4j.mlx5.core.Structure;
import org.rdma4j.mlx5.ifc.Opcode;

/** Memory that is mapped for the card, with a key on its pages (kernel: {@code mr.c:reg_create}). */
final class IbMemoryRegion extends MemoryRegion {
  private static final int MODE_PAGES = 1;
  private static final int ANY_QP = 0xff_ffff;
  private static final int SMALLEST_LOG_PAGE = 12;
  private static final int LARGEST_LOG_PAGE = 30;
  private static final int READ_AND_WRITE = 3;
  private static final int VARIANT_BITS = 8;

  private final ConnectxDevice device;
  private final DmaBuffer mapping;
  private final int key;

  private IbMemoryRegion(ObjectContext owner, ConnectxDevice device, int key, int remoteKey, DmaBuffer mapping) {
    super(owner, key, remoteKey);
    this.device = device;
    this.key = key;
    this.mapping = mapping;
  }

  /**
   * Maps the memory and makes a key.
   *
   * @throws VerbsException EOPNOTSUPP for rights that the card does not have; EINVAL where address and memory lie
   *     differently in their pages; what the card says
   */
  static IbMemoryRegion register(
      ObjectContext owner, ConnectxDevice device, MemorySegment segment, long iova, Set<Access> access) {
    checkRights(access);
    boolean made = false;
    DmaBuffer mapping = Errors.translated(() -> device.core().map(segment, access.contains(Access.LOCAL_WRITE)));
    int key = 0;
    try {
      int pd = ((IbProtectionDomain) owner.protectionDomain()).number();
      CommandRequest request = request(mapping, segment.byteSize(), iova, access, pd);
      key = Errors.translated(() -> MemoryKeyCommands.create(device.core(), request));
      boolean remote =
          access.contains(Access.REMOTE_READ)
              || access.contains(Access.REMOTE_WRITE)
              || access.contains(Access.REMOTE_ATOMIC);
      IbMemoryRegion region = new IbMemoryRegion(owner, device, key, remote ? key : 0, mapping);
      device.regions().put(key >>> VARIANT_BITS, region);
      made = true;
      return region;
    } finally {
      if (!made) {
        int which = key;
        if (which != 0) {
          device.giveBack("memory key", () -> MemoryKeyCommands.destroy(device.core(), which));
        }
        mapping.close();
      }
    }
  }

  private static void checkRights(Set<Access> access) {
    for (Access each : access) {
      switch (each) {
        case FLUSH_GLOBAL, FLUSH_PERSISTENT, ON_DEMAND ->
            throw new VerbsException(Errno.EOPNOTSUPP, "memory regions with the right " + each);
        default -> {
          // The card has it, or it is about the address, or optional.
        }
      }
    }
  }

  private static CommandRequest request(
      DmaBuffer mapping, long length, long iova, Set<Access> access, int pd) {
    long dma = mapping.address();
    int logPage = logPage(dma, iova, length);
    if (logPage < SMALLEST_LOG_PAGE) {
      throw new VerbsException(
          Errno.EINVAL,
          "the address 0x" + Long.toHexString(iova) + " for memory at offset 0x"
              + Long.toHexString(dma & (1 << SMALLEST_LOG_PAGE) - 1)
              + " of its page; the card translates whole pages, so both must have the same offset");
    }
    long mask = (1L << logPage) - 1;
    int pages = (int) (((iova & mask) + length + mask) >>> logPage);
    int listed = pages + 1 & ~1;
    int octowords = listed / 2;
    CommandRequest request =
        CommandRequest.of(Opcode.CREATE_MKEY, (long) listed * Long.BYTES)
            .set("translations_octword_actual_size", octowords);
    Structure context = request.structure("memory_key_mkey_entry");
    context
        .set("access_mode_1_0", MODE_PAGES)
        .set("umr_en", 1)
        .set("lr", 1)
        .set("lw", access.contains(Access.LOCAL_WRITE) ? 1 : 0)
        .set("rr", access.contains(Access.REMOTE_READ) ? 1 : 0)
        .set("rw", access.contains(Access.REMOTE_WRITE) ? 1 : 0)
        .set("a", access.contains(Access.REMOTE_ATOMIC) ? 1 : 0)
        .set("qpn", ANY_QP)
        .set("pd", pd)
        .set("translations_octword_size", octowords)
        .set("log_page_size", logPage)
        .setLong("start_addr", iova)
        .setLong("len", length);
    long first = dma & ~mask;
    for (int i = 0; i < pages; i++) {
      request.list(i, first + ((long) i << logPage) | READ_AND_WRITE);
    }
    return request;
  }

  /** The largest page in which memory and address lie alike, but none much larger than the memory. */
  private static int logPage(long dma, long iova, long length) {
    int alike = Long.numberOfTrailingZeros(dma ^ iova);
    int wanted = Long.SIZE - Long.numberOfLeadingZeros(length - 1 | 1);
    return Math.min(Math.min(alike, Math.max(wanted, SMALLEST_LOG_PAGE)), LARGEST_LOG_PAGE);
  }

  ConnectxDevice device() {
    return device;
  }

  /** The region of a key, or null. */
  static IbMemoryRegion find(ConnectxDevice device, int key) {
    IbMemoryRegion region = device.regions().get(key >>> VARIANT_BITS);
    return region == null || region.key != key ? null : region;
  }

  @Override
  protected void doDestroy() {
    BoundWindows.end(device, (IbProtectionDomain) protectionDomain(), this, key);
    device.regions().remove(key >>> VARIANT_BITS, this);
    mapping.close();
  }
}
