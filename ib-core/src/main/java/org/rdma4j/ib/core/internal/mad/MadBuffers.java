package org.rdma4j.ib.core.internal.mad;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.verbs.Access;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.ProtectionDomain;
import org.rdma4j.roce.packet.Grh;

/** The memory of a port's MADs: so many to receive, each behind its global route header, and so many to send. */
final class MadBuffers implements AutoCloseable {
  private static final int RECEIVE_BYTES = Grh.LENGTH + MadHeader.MAD_BYTES;

  private final int receives;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private MemoryRegion region;

  MadBuffers(int receives, int sends) {
    this.receives = receives;
    this.memory = arena.allocate((long) receives * RECEIVE_BYTES + (long) sends * MadHeader.MAD_BYTES, Long.BYTES);
  }

  /** Lets a device at it. */
  MemoryRegion register(ProtectionDomain pd) {
    region = pd.registerMemory(memory, Access.LOCAL_WRITE);
    return region;
  }

  int lkey() {
    return region.lkey();
  }

  long receiveAddress(int index) {
    return memory.address() + (long) index * RECEIVE_BYTES;
  }

  int receiveLength() {
    return RECEIVE_BYTES;
  }

  /** Header and MAD of a receive. */
  MemorySegment receive(int index) {
    return memory.asSlice((long) index * RECEIVE_BYTES, RECEIVE_BYTES);
  }

  /** The memory of a MAD to be sent. */
  MemorySegment send(int slot) {
    return memory.asSlice((long) receives * RECEIVE_BYTES + (long) slot * MadHeader.MAD_BYTES, MadHeader.MAD_BYTES);
  }

  /** Only when the device cannot touch it any more. */
  @Override
  public void close() {
    arena.close();
  }
}
