package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.rdma4j.mlx5.device.internal.Firmware.State;
import org.rdma4j.mlx5.ifc.Command;
import org.rdma4j.mlx5.ifc.CommandStatus;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;
import org.rdma4j.mlx5.ifc.Opcode;
import org.rdma4j.roce.address.Gid;
import org.rdma4j.roce.link.Link;
import org.rdma4j.roce.link.LinkException;
import org.rdma4j.roce.link.Route;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The RoCE address table: what a packet of the queue pair's source index comes from, and what the port receives on.
 * Only version 2 is there. Engine thread; finding a route that was asked for before allocates nothing.
 */
final class RoceAddresses {
  private static final Logger LOG = LoggerFactory.getLogger(RoceAddresses.class);
  private static final Field INDEX = Command.in(Opcode.SET_ROCE_ADDRESS, "roce_address_index");
  private static final Field WANTED = Command.in(Opcode.SET_ROCE_ADDRESS, "roce_address");
  private static final Field QUERIED = Command.in(Opcode.QUERY_ROCE_ADDRESS, "roce_address_index");
  private static final Field FOUND = Command.out(Opcode.QUERY_ROCE_ADDRESS, "roce_address");
  private static final Field ADDRESS = Layouts.ROCE_ADDR.field("source_l3_address");
  private static final Field VLAN = Layouts.ROCE_ADDR.field("vlan_valid");
  private static final Field TYPE = Layouts.ROCE_ADDR.field("roce_l3_type");
  private static final Field VERSION = Layouts.ROCE_ADDR.field("roce_version");
  private static final int BYTES = (int) Layouts.ROCE_ADDR.size();
  private static final int VERSION_2 = 2;
  private static final int ADDRESS_IN_USE = 98;
  private static final int IPV4 = 0;
  private static final int IPV6 = 1;
  private static final int ROUTES = 1024; // A power of two.

  private final Link link;
  private final Gid only;
  private final MemorySegment entries = Arena.ofAuto().allocate((long) BYTES * Limits.ROCE_ADDRESSES, Long.BYTES);
  private final Gid[] gids = new Gid[Limits.ROCE_ADDRESSES];
  private final boolean[] received = new boolean[Limits.ROCE_ADDRESSES];
  private final CachedRoute[] routes = new CachedRoute[ROUTES];

  private record CachedRoute(int index, long hi, long lo, int trafficClass, int flow, int hops, Route route) {
    boolean is(int wantedIndex, long wantedHi, long wantedLo, int wantedClass, int wantedFlow, int wantedHops) {
      return lo == wantedLo
          && hi == wantedHi
          && index == wantedIndex
          && trafficClass == wantedClass
          && flow == wantedFlow
          && hops == wantedHops;
    }
  }

  /** With an address, that alone is received on. */
  RoceAddresses(Firmware firmware, Link link, Gid only) {
    this.link = link;
    this.only = only;
    firmware.add(Opcode.SET_ROCE_ADDRESS, State.INITIALIZED, this::set);
    firmware.add(Opcode.QUERY_ROCE_ADDRESS, State.INITIALIZED, this::query);
  }

  private static int checked(int index) throws CommandFailure {
    if (index >= Limits.ROCE_ADDRESSES) {
      throw new CommandFailure(CommandStatus.BAD_INDEX, Syndrome.BAD_ROCE_INDEX);
    }
    return index;
  }

  private void set(CommandCall call) throws CommandFailure {
    int index = checked(call.get(INDEX));
    MemorySegment input = call.input();
    long at = WANTED.offset();
    Gid gid = Gid.readFrom(input, at + ADDRESS.offset());
    if (!gid.isZero()) {
      boolean mapped = gid.isIpv4Mapped();
      if (VERSION.get(input, at) != VERSION_2 || VLAN.isSet(input, at)) {
        throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.NOT_MODELLED);
      }
      if (TYPE.get(input, at) != (mapped ? IPV4 : IPV6) || gid.isMulticast()) {
        throw new CommandFailure(CommandStatus.BAD_PARAMETER, Syndrome.BAD_ADDRESS);
      }
    }
    remove(index);
    MemorySegment.copy(input, at, entries, (long) index * BYTES, BYTES);
    if (!gid.isZero()) {
      add(index, gid);
    } else {
      entries.asSlice((long) index * BYTES, BYTES).fill((byte) 0);
    }
  }

  /** An address that the host does not have is in the table, as in silicon, but nothing comes there. */
  private void add(int index, Gid gid) {
    gids[index] = gid;
    if (only != null && !only.equals(gid)) {
      return;
    }
    for (int i = 0; i < gids.length; i++) {
      if (i != index && received[i] && gid.equals(gids[i])) {
        received[index] = true;
        return;
      }
    }
    try {
      link.addAddress(gid);
      received[index] = true;
    } catch (LinkException e) {
      if (e.errno() == ADDRESS_IN_USE) {
        LOG.warn("RoCE address {} ({}) cannot be used: {}", index, gid, e.getMessage());
      } else {
        LOG.debug("RoCE address {} ({}) cannot be used: {}", index, gid, e.getMessage());
      }
    }
  }

  private void remove(int index) {
    Gid gid = gids[index];
    if (gid == null) {
      return;
    }
    gids[index] = null;
    Arrays.fill(routes, null);
    boolean was = received[index];
    received[index] = false;
    for (int i = 0; was && i < gids.length; i++) {
      if (received[i] && gid.equals(gids[i])) {
        return;
      }
    }
    if (was) {
      link.removeAddress(gid);
    }
  }

  private void query(CommandCall call) throws CommandFailure {
    int index = checked(call.get(QUERIED));
    MemorySegment.copy(entries, (long) index * BYTES, call.output(), FOUND.offset(), BYTES);
  }

  /** Whether the address at an index is an IPv4 one. */
  boolean isIpv4(int index) {
    Gid gid = index < gids.length ? gids[index] : null;
    return gid != null && gid.isIpv4Mapped();
  }

  /** The way from the address at an index; null where there is no such address or no way. */
  Route route(int index, long hi, long lo, int trafficClass, int flow, int hops) {
    long mixed = (hi ^ Long.rotateLeft(lo, 29) ^ index * 31L ^ trafficClass * 131L ^ flow) * 0x9e37_79b9_7f4a_7c15L;
    int place = (int) (mixed >>> 40) & ROUTES - 1;
    CachedRoute cached = routes[place];
    if (cached != null && cached.is(index, hi, lo, trafficClass, flow, hops)) {
      return cached.route();
    }
    Gid source = index < gids.length && received[index] ? gids[index] : null;
    if (source == null) {
      return null;
    }
    Route route = find(source, new Gid(hi, lo), trafficClass, flow, hops);
    if (route != null) {
      routes[place] = new CachedRoute(index, hi, lo, trafficClass, flow, hops, route);
    }
    return route;
  }

  private Route find(Gid source, Gid destination, int trafficClass, int flow, int hops) {
    try {
      return link.route(source, destination, trafficClass, flow, hops);
    } catch (LinkException e) {
      LOG.debug("no route from {} to {}: {}", source, destination, e.getMessage());
      return null;
    }
  }

  /** Forgets all of them. */
  void clear() {
    for (int i = 0; i < gids.length; i++) {
      remove(i);
    }
    entries.fill((byte) 0);
  }
}
