package org.rdma4j.mlx5.device.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.mlx5.ifc.EventType;
import org.rdma4j.mlx5.ifc.Field;
import org.rdma4j.mlx5.ifc.Layouts;

/** The one port: whether it is up, and who hears of a change. Engine thread, but for {@link #isUp}. */
final class Port {
  private static final Field NUMBER = Layouts.EQE.field("port");
  private static final int DOWN = 1;
  private static final int ACTIVE = 4;

  private final CardSettings settings;
  private final CableLink link;
  private final MemorySegment event = Arena.ofAuto().allocate(Layouts.EQE.size(), Long.BYTES);
  private Events events;
  private boolean cable = true;
  private boolean enabled = true;
  private volatile boolean up = true;
  private int downs;

  Port(CardSettings settings, CableLink link) {
    this.settings = settings;
    this.link = link;
    NUMBER.set(event, 0, 1);
  }

  /** After a reset: the cable is as it was. */
  void start(Events listeners) {
    events = listeners;
    enabled = true;
    up = cable;
    link.connected(up);
  }

  CardSettings settings() {
    return settings;
  }

  boolean isUp() {
    return up;
  }

  boolean isEnabled() {
    return enabled;
  }

  /** How often the link went down. */
  int downs() {
    return downs;
  }

  void cable(boolean plugged) {
    cable = plugged;
    change();
  }

  void enabled(boolean byDriver) {
    enabled = byDriver;
    change();
  }

  private void change() {
    boolean now = cable && enabled;
    if (now != up) {
      up = now;
      downs += now ? 0 : 1;
      link.connected(now);
      events.post(EventType.PORT_CHANGE, now ? ACTIVE : DOWN, event);
    }
  }
}
