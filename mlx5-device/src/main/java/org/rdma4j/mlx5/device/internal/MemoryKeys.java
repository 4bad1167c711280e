package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.device.internal.Firmware.State;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.pci.DmaFault;
import org.rdma4j.pci.PciHost;
import org.rdma4j.roce.engine.KeyTable;
import org.rdma4j.roce.engine.RegisteredMemory;

/** All memory keys, and the commands that make and end them. Engine thread. */
final class MemoryKeys implements KeyTable {
  private static final Field CONTEXT = Command.in(Opcode.CREATE_MKEY, "memory_key_mkey_entry");
  private static final Field PRESENCE = Command.in(Opcode.CREATE_MKEY, "pg_access");
  private static final Field FROM_UMEM = Command.in(Opcode.CREATE_MKEY, "mkey_umem_valid");
  private static final Field GIVEN = Command.in(Opcode.CREATE_MKEY, "translations_octword_actual_size");
  private static final Field LIST = Command.in(Opcode.CREATE_MKEY, "klm_pas_mtt");
  private static final Field CREATED = Command.out(Opcode.CREATE_MKEY, "mkey_index");
  private static final Field DESTROYED = Command.in(Opcode.DESTROY_MKEY, "mkey_index");
  private static final Field QUERIED = Command.in(Opcode.QUERY_MKEY, "mkey_index");
  private static final Field FOUND = Command.out(Opcode.QUERY_MKEY, "memory_key_mkey_entry");
  private static final Field FIRST_PAIR = Command.out(Opcode.QUERY_MKEY, "bsf0_klm0_pas_mtt0_1");
  private static final Field FREE = Layouts.MKC.field("free");
  private static final Field PD = Layouts.MKC.field("pd");
  private static final Field BSF = Layouts.MKC.field("bsf_en");
  private static final Field OCTOWORDS = Layouts.MKC.field("translations_octword_size");
  private static final Field LOG_PAGE = Layouts.MKC.field("log_page_size");
  private static final Field LENGTH = Layouts.MKC.field("len");
  private static final int BYTES = (int) Layouts.MKC.size();
  private static final int LOG_SMALLEST_PAGE = 12;
  private static final int SHOWN_OCTOWORDS = 2;

  private final EntryTable table;
  private final EntryTable pds;
  private final MttTable translations;
  private final PciHost host;
  private final Slots<MemoryKey> keys = new Slots<>(1 << Limits.LOG_MAX_MKEY);
  private final MemorySegment scratch = Arena.ofAuto().allocate(BYTES, Long.BYTES);
  private MemoryKey firstBound;
  private final MemorySegment zeroes = Arena.ofAuto().allocate(MttTable.ENTRY, Long.BYTES);

  MemoryKeys(Firmware firmware, EntryTable table, EntryTable pds, MttTable translations, PciHost host) {
    this.table = table;
    this.pds = pds;
    this.translations = translations;
    this.host = host;
    firmware.add(Opcode.CREATE_MKEY, State.INITIALIZED, this::create);
    firmware.add(Opcode.DESTROY_MKEY, State.INITIALIZED, this::destroy);
    firmware.add(Opcode.QUERY_MKEY, State.INITIALIZED, this::query);
  }

  /** The key of that index, whatever its variant; null where there is none. */
  MemoryKey get(int key) {
    return keys.get(key >>> Byte.SIZE);
  }

  @Override
  public RegisteredMemory find(int key) {
    return get(key);
  }

  MttTable translations() {
    return translations;
  }

  private void create(CommandCall call) throws CommandFailure {
    MemorySegment input = call.input();
    long at = CONTEXT.offset();
    int octowords = OCTOWORDS.get(input, at);
    int given = call.get(GIVEN);
    int mode = MemoryKey.mode(input, at);
    check(call, mode, octowords, given);
    int index = table.allocate();
    int first = -1;
    boolean made = false;
    try {
      first = translations.allocate(mode == MemoryKey.PHYSICAL ? 0 : octowords);
      fill(first, octowords, input, given);
      table.store(index, input, at, BYTES);
      MemoryKey key =
          new MemoryKey(index, input, at, call.get(PRESENCE) != 0, first, this, translations, host);
      keys.put(index, key);
      made = true;
    } finally {
      if (!made) {
        translations.free(first, octowords);
        table.free(index);
      }
    }
    call.put(CREATED, index);
  }

  private void check(CommandCall call, int mode, int octowords, int given) throws CommandFailure {
    MemorySegment input = call.input();
    long at = CONTEXT.offset();
    if (mode > MemoryKey.KLM || BSF.isSet(input, at) || call.get(FROM_UMEM) != 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.NOT_MODELLED);
    }
    if (!pds.contains(PD.get(input, at))) {
      throw new CommandFailure(CommandStatus.BAD_RESOURCE, Syndrome.BAD_PD);
    }
    if (octowords < 0 || octowords > Limits.MAX_TRANSLATION_OCTOWORDS || LENGTH.getLong(input, at) < 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_SIZE);
    }
    if (mode == MemoryKey.MTT && LOG_PAGE.get(input, at) < LOG_SMALLEST_PAGE && octowords > 0) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_SIZE);
    }
    if (given < 0 || given > octowords) {
      throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_SIZE);
    }
    if (LIST.offset() + (long) given * MttTable.OCTOWORD > input.byteSize()) {
      throw new CommandFailure(CommandStatus.BAD_INPUT_LENGTH, Syndrome.LIST_TOO_SHORT);
    }
  }

  /** What is not given is 0, so that no translation of an earlier key shows through. */
  private void fill(int first, int octowords, MemorySegment input, int given) throws CommandFailure {
    if (first < 0) {
      return;
    }
    try {
      translations.put(first, 0, input, LIST.offset(), given);
      for (int at = given; at < octowords; ) {
        int now = Math.min(octowords - at, MttTable.ENTRY / MttTable.OCTOWORD);
        translations.put(first, at, zeroes, 0, now);
        at += now;
      }
    } catch (DmaFault e) {
      throw new CommandFailure(CommandStatus.INTERNAL_ERROR, Syndrome.PAGE_FAULT);
    }
  }

  private void destroy(CommandCall call) throws CommandFailure {
    int index = table.existing(call.get(DESTROYED));
    MemoryKey key = keys.get(index);
    if (key.hasWindows()) {
      throw new CommandFailure(CommandStatus.RESOURCE_BUSY, Syndrome.BOUND);
    }
    unbind(key);
    keys.put(index, null);
    translations.free(key.firstTranslation(), key.octowords());
    table.free(index);
  }

  private void query(CommandCall call) throws CommandFailure {
    int index = table.existing(call.get(QUERIED));
    MemoryKey key = keys.get(index);
    table.load(index, call.output(), FOUND.offset(), BYTES);
    if (key.firstTranslation() >= 0) {
      try {
        long shown = Math.min(SHOWN_OCTOWORDS, key.octowords());
        translations.get(key.firstTranslation(), 0, call.output(), FIRST_PAIR.offset(), shown);
      } catch (DmaFault e) {
        throw new CommandFailure(CommandStatus.INTERNAL_ERROR, Syndrome.PAGE_FAULT);
      }
    }
  }

  /** Reads the context of a key from its host page. */
  void load(MemoryKey key, MemorySegment context) throws CommandFailure {
    table.load(key.index(), context, 0, BYTES);
  }

  /** Changes the context of a key, in its host page and here. */
  void store(MemoryKey key, MemorySegment context) throws CommandFailure {
    table.store(key.index(), context, 0, BYTES);
    key.load(context, 0);
    if (key.isFree()) {
      unbind(key);
    }
  }

  /** A window is bound to a region, and to no other any more. */
  void bind(MemoryKey window, MemoryKey region) {
    unbind(window);
    window.bind(region, firstBound);
    firstBound = window;
  }

  private void unbind(MemoryKey window) {
    if (window.isBound()) {
      firstBound = window.unbind(firstBound);
    }
  }

  /** A queue pair ends, and with it the windows that only it could use: no later one of its number shall. */
  void endWindows(int qp) {
    MemoryKey next;
    for (MemoryKey key = firstBound; key != null; key = next) {
      next = key.nextBound();
      if (key.qp() == qp) {
        free(key);
      }
    }
  }

  /** A peer ends the use of a key, through a queue pair; false when it may not. */
  boolean invalidate(int key, int pd, int qp) {
    MemoryKey found = get(key);
    return found != null
        && !found.isFree()
        && found.isNow(key)
        && found.pd() == pd
        && found.mayBeInvalidated(qp)
        && free(found);
  }

  private boolean free(MemoryKey key) {
    try {
      load(key, scratch);
      FREE.set(scratch, 0, 1);
      store(key, scratch);
      return true;
    } catch (CommandFailure e) {
      return false;
    }
  }

  /** Whether a key is of a protection domain. */
  boolean usesPd(int pd) {
    boolean[] found = {false};
    keys.forEach(key -> found[0] |= key.pd() == pd);
    return found[0];
  }

  /** Ends all of them. */
  void clear() {
    firstBound = null;
    keys.forEach(
        key -> {
          keys.put(key.index(), null);
          translations.free(key.firstTranslation(), key.octowords());
          table.free(key.index());
        });
  }
}
