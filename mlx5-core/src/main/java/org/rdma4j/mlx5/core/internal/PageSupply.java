package org.rdma4j.mlx5.core.internal;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.rdma4j.mlx5.core.CommandChannel;
import org.rdma4j.mlx5.core.CommandException;
import org.rdma4j.mlx5.core.CommandReply;
import org.rdma4j.mlx5.core.CommandRequest;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.PciDevice;
import org.rdma4j.pci.PciException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory for the firmware (kernel: {@code pagealloc.c}): given when the card asks at start and later by events, taken
 * back when it offers some and at the end.
 */
final class PageSupply {
  private static final Logger LOG = LoggerFactory.getLogger(PageSupply.class);
  private static final int CANNOT_GIVE = 0;
  private static final int GIVE = 1;
  private static final int TAKE = 2;
  private static final int BOOT = 1;
  private static final int INIT = 2;

  /** As many as fit into 12 mailboxes and the entry, without the head. */
  private static final int MOST_TAKEN = (16 + 12 * 512 - 16) / Long.BYTES;

  private static final long PAUSE_NANOS = 50_000;

  private final HostPagePool pool;
  private final CommandChannel commands;
  private final Timeouts timeouts;
  private final BooleanSupplier broken;

  PageSupply(PciDevice pci, CommandChannel commands, Timeouts timeouts, BooleanSupplier broken) {
    this.pool = new HostPagePool(pci);
    this.commands = commands;
    this.timeouts = timeouts;
    this.broken = broken;
  }

  /** {@return pages that the card has} */
  int given() {
    return pool.taken();
  }

  /** Gives what the card wants to start, or to initialize ({@code mlx5_satisfy_startup_pages}). */
  void satisfyStartup(boolean boot) {
    CommandReply wanted = commands.execute(CommandRequest.of(Opcode.QUERY_PAGES).modifier(boot ? BOOT : INIT));
    give(Math.max(0, wanted.get("num_pages")));
  }

  private void give(int count) {
    long[] pages = pool.take(count);
    CommandRequest request =
        CommandRequest.of(Opcode.MANAGE_PAGES, (long) count * Long.BYTES)
            .modifier(GIVE)
            .set("input_num_entries", count);
    for (int i = 0; i < count; i++) {
      request.list(i, pages[i]);
    }
    boolean taken = false;
    try {
      commands.execute(request);
      taken = true;
    } finally {
      if (!taken) {
        for (long page : pages) {
          pool.give(page);
        }
      }
    }
  }

  /**
   * What the card asks for by an event.
   *
   * @param count pages wanted; negative when it gives so many back
   * @param releaseAll whether it has forgotten all of its pages
   */
  void requested(int count, boolean releaseAll) {
    try {
      if (releaseAll) {
        pool.clear();
      } else if (count > 0) {
        give(count);
      } else if (count < 0) {
        take(-count);
      }
    } catch (CommandException e) {
      LOG.warn("the card's request for {} pages: {}", count, e.getMessage());
    } catch (PciException e) {
      LOG.warn("no memory for {} pages", count, e);
      refuse();
    }
  }

  private void refuse() {
    try {
      commands.execute(CommandRequest.of(Opcode.MANAGE_PAGES).modifier(CANNOT_GIVE));
    } catch (CommandException e) {
      LOG.warn("the card does not hear that there are no pages: {}", e.getMessage());
    }
  }

  /** Takes pages back; returns how many came. */
  private int take(int most) {
    CommandReply reply =
        commands.execute(
            CommandRequest.of(Opcode.MANAGE_PAGES)
                .modifier(TAKE)
                .set("input_num_entries", most)
                .answerList((long) most * Long.BYTES));
    int count = Math.clamp(reply.get("output_num_entries"), 0, most);
    for (int i = 0; i < count; i++) {
      if (!pool.give(reply.list(i))) {
        LOG.warn("the card gives back page 0x{}, which it does not have", Long.toHexString(reply.list(i)));
      }
    }
    return count;
  }

  /** Takes all pages back ({@code mlx5_reclaim_startup_pages}); those of a card that does not answer without it. */
  void reclaimAll() {
    long limit = TimeUnit.MILLISECONDS.toNanos(timeouts.millis(Timeout.RECLAIM_PAGES));
    long end = System.nanoTime() + limit;
    while (pool.taken() > 0) {
      if (broken.getAsBoolean()) {
        break;
      }
      if (take(MOST_TAKEN) > 0) {
        end = System.nanoTime() + limit;
      } else if (System.nanoTime() - end > 0) {
        LOG.warn("the card keeps {} pages", pool.taken());
        break;
      } else {
        LockSupport.parkNanos(this, PAUSE_NANOS);
      }
    }
  }

  /** Takes all pages back without asking: the card cannot reach them any more. */
  void clear() {
    pool.clear();
  }
}
