package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import org.rdma4j.mlx5.device.internal.Firmware.State;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.EventType;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciHost;

/**
 * Pages of the host: how many are wanted, giving them, taking them back; and the events by which the card asks for
 * more of them, or offers some back. Engine thread.
 */
final class PageCommands {
  private static final int CANNOT_GIVE = 0;
  private static final int GIVE = 1;
  private static final int TAKE = 2;

  private static final Field FUNCTION = Command.in(Opcode.MANAGE_PAGES, "function_id");
  private static final Field COUNT = Command.in(Opcode.MANAGE_PAGES, "input_num_entries");
  private static final Field GIVEN = Command.in(Opcode.MANAGE_PAGES, "pas");
  private static final Field TAKEN_COUNT = Command.out(Opcode.MANAGE_PAGES, "output_num_entries");
  private static final Field TAKEN = Command.out(Opcode.MANAGE_PAGES, "pas");
  private static final Field WANTED = Command.out(Opcode.QUERY_PAGES, "num_pages");
  private static final Field ASKED_FUNCTION = Command.in(Opcode.QUERY_PAGES, "function_id");
  private static final Field EVENT_PAGES = Layouts.EQE.field("pages_num");

  private final HostPages pages;
  private final Events events;
  private final PciHost host;
  private final IntUnaryOperator wanted;
  private final MemorySegment event = Arena.ofAuto().allocate(Layouts.EQE.size(), Long.BYTES);
  private boolean offered;
  private boolean refused;
  private boolean news;

  PageCommands(Firmware firmware, HostPages pages, Events events, PciHost host, IntUnaryOperator wanted) {
    this.pages = pages;
    this.events = events;
    this.host = host;
    this.wanted = wanted;
    firmware.add(Opcode.QUERY_PAGES, State.ENABLED, this::query);
    firmware.add(Opcode.MANAGE_PAGES, State.ENABLED, this::manage);
  }

  private void query(CommandCall call) throws CommandFailure {
    if (call.modifier() < 1 || call.modifier() > 3) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.UNKNOWN_MODIFIER);
    }
    if (call.get(ASKED_FUNCTION) != 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.OTHER_FUNCTION);
    }
    call.put(WANTED, wanted.applyAsInt(call.modifier()));
  }

  private void manage(CommandCall call) throws CommandFailure {
    if (call.get(FUNCTION) != 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.OTHER_FUNCTION);
    }
    switch (call.modifier()) {
      case CANNOT_GIVE -> {
        refused = true;
        answered();
      }
      case GIVE -> give(call);
      case TAKE -> take(call);
      default -> throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.UNKNOWN_MODIFIER);
    }
  }

  private void answered() {
    pages.requested(0);
    news = true;
  }

  /** All of the pages or none. */
  private void give(CommandCall call) throws CommandFailure {
    int count = call.get(COUNT);
    Set<Long> fresh = new HashSet<>();
    for (int i = 0; i < count; i++) {
      long page = call.listed(GIVEN, i);
      if (page == 0 || page % HostPages.PAGE != 0 || pages.has(page) || !fresh.add(page)) {
        throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_PAGE);
      }
      if (!isReachable(page)) {
        throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.PAGE_FAULT);
      }
    }
    for (int i = 0; i < count; i++) {
      pages.give(call.listed(GIVEN, i));
    }
    refused = false;
    pages.forgetMissing();
    answered();
  }

  private boolean isReachable(long page) {
    try {
      host.window(page, HostPages.PAGE, true);
      return true;
    } catch (DmaFault e) {
      return false;
    }
  }

  private void take(CommandCall call) throws CommandFailure {
    long count = Math.min(Math.min(call.get(COUNT), pages.free()), call.room(TAKEN));
    for (int i = 0; i < count; i++) {
      call.list(TAKEN, i, pages.reclaim());
    }
    call.put(TAKEN_COUNT, (int) Math.max(0, count));
    offered = false;
  }

  /**
   * Asks the driver for pages, because a command lacks them.
   *
   * @return false when nobody is there to be asked, or the driver has just said that it has none
   */
  boolean request() {
    if (refused) {
      refused = false;
      return false;
    }
    if (pages.requested() > 0) {
      return true;
    }
    int count = Math.max(Limits.MORE_PAGES, pages.missing() + Limits.LOW_PAGES);
    if (!ask(count)) {
      return false;
    }
    pages.requested(count);
    return true;
  }

  private boolean ask(int count) {
    EVENT_PAGES.set(event, 0, count);
    return events.isWanted(EventType.PAGE_REQUEST) && events.post(EventType.PAGE_REQUEST, 0, event);
  }

  /** Whether an answer of the driver has come since this was asked last. */
  boolean hasNews() {
    boolean since = news;
    news = false;
    return since;
  }

  /** Keeps some pages in hand, so that hardly a command has to wait, and offers back what is far too much. */
  void keepReserve(State state) {
    if (state != State.INITIALIZED || refused) {
      return;
    }
    if (pages.free() < Limits.LOW_PAGES) {
      request();
    } else if (pages.free() > Limits.HIGH_PAGES && !offered) {
      offered = ask(Limits.INIT_PAGES - pages.free());
    }
  }
}
