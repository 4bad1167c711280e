package org.rdma4j.mlx5.core.internal;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.mlx5.core.BlueFlameRegister;
import org.rdma4j.mlx5.core.CommandChannel;
import org.rdma4j.mlx5.core.CommandException;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.Bar;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Doorbell pages and the send doorbells in them (kernel: {@code uar.c}): a page has two for everybody and two for
 * queues that do not share.
 */
final class UarTable {
  private static final Logger LOG = LoggerFactory.getLogger(UarTable.class);
  private static final int FIRST_REGISTER = 0x800;
  private static final int REGULAR = 0b0011;
  private static final int FAST = 0b1100;

  private static final class Page {
    private final Uar uar;
    private int used;

    private Page(Uar uar) {
      this.uar = uar;
    }
  }

  private final Bar bar;
  private final CommandChannel commands;
  private final int logRegister;
  private final List<Page> pages = new ArrayList<>(); // guarded by this

  UarTable(Bar bar, CommandChannel commands, int logRegister) {
    this.bar = bar;
    this.commands = commands;
    this.logRegister = logRegister;
  }

  Uar allocate() {
    int index = commands.execute(CommandRequest.of(Opcode.ALLOC_UAR)).get("uar");
    return new Uar(bar, index);
  }

  void free(Uar uar) {
    commands.execute(CommandRequest.of(Opcode.DEALLOC_UAR).set("uar", uar.index()));
  }

  /** Takes a register; a page is allocated when all are in use. The command is given under the lock: others wait. */
  synchronized BlueFlameRegister register(boolean fastPath) {
    int mask = fastPath ? FAST : REGULAR;
    for (Page page : pages) {
      if ((page.used & mask) != mask) {
        return take(page, mask);
      }
    }
    Page fresh = new Page(allocate());
    pages.add(fresh);
    return take(fresh, mask);
  }

  private BlueFlameRegister take(Page page, int mask) {
    int index = Integer.numberOfTrailingZeros(mask & ~page.used);
    page.used |= 1 << index;
    int offset = FIRST_REGISTER + (index << logRegister);
    return new BlueFlame(page.uar, offset, 1 << logRegister - 1, () -> release(page, index));
  }

  private synchronized void release(Page page, int index) {
    page.used &= ~(1 << index);
    if (page.used == 0 && pages.remove(page)) {
      try {
        free(page.uar);
      } catch (CommandException e) {
        LOG.warn("doorbell page {} is not freed: {}", page.uar.index(), e.getMessage());
      }
    }
  }
}
