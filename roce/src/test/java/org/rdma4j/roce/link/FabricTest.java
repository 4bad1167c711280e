package org.rdma4j.roce.link;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.rdma4j.roce.address.Gid;

class FabricTest {
  private static final Gid A = Gid.parse("::ffff:192.0.2.1");
  private static final Gid B = Gid.parse("::ffff:192.0.2.2");
  private static final int PACKETS = 4000;

  private Fabric fabric;
  private VirtualClock clock;
  private Link a;
  private Link b;
  private Route route;
  private final List<Integer> numbers = new ArrayList<>();
  private final List<Long> times = new ArrayList<>();

  private void set(long seed, FaultPlan plan) {
    clock = new VirtualClock();
    fabric = new Fabric(seed, clock);
    fabric.faults(plan);
    a = fabric.endpoint(A);
    b = fabric.endpoint(B);
    route = a.route(A, B, 0, 0, 64);
    numbers.clear();
    times.clear();
  }

  private void send(int number) {
    long offset = a.claim(route, 64);
    a.transmitMemory().set(JAVA_INT_UNALIGNED, offset + 16, number);
    a.commit();
    a.flush();
  }

  private void take(ReceivedPacket packet) {
    numbers.add(packet.buffer().get(JAVA_INT_UNALIGNED, packet.offset() + 16));
    times.add(clock.nanoTime());
  }

  /** Steps the clock from event to event, as a driver of a simulation does, until nothing is on the way. */
  private void run() {
    while (fabric.nextEventTime() != Long.MAX_VALUE) {
      clock.advanceTo(Math.max(clock.nanoTime(), fabric.nextEventTime()));
      b.receive(this::take, Integer.MAX_VALUE);
    }
  }

  private List<Integer> exchange(long seed, FaultPlan plan) {
    set(seed, plan);
    for (int i = 0; i < PACKETS; i++) {
      send(i);
      clock.advanceBy(100);
      b.receive(this::take, Integer.MAX_VALUE);
    }
    run();
    return List.copyOf(numbers);
  }

  private static List<Integer> allInOrder() {
    return IntStream.range(0, PACKETS).boxed().toList();
  }

  private static void assertAbout(double chance, long count) {
    double expected = chance * PACKETS;
    double deviation = 6 * Math.sqrt(PACKETS * chance * (1 - chance));
    assertTrue(Math.abs(count - expected) <= deviation, count + " of " + PACKETS + " at chance " + chance);
  }

  @Test
  void withoutFaultsEverythingArrivesInOrder() {
    assertEquals(allInOrder(), exchange(1, FaultPlan.NONE));
  }

  @Test
  void sameSeedGivesTheSameFaults() {
    FaultPlan plan =
        FaultPlan.NONE
            .withLoss(0.1)
            .withDuplication(0.1)
            .withCorruption(0.05)
            .withReordering(0.1, 5000)
            .withDelay(1000, 2000);
    List<Integer> first = exchange(42, plan);
    List<Long> firstTimes = List.copyOf(times);
    FabricStatistics statistics = fabric.statistics();
    assertEquals(first, exchange(42, plan));
    assertEquals(firstTimes, times);
    assertEquals(statistics, fabric.statistics());
    assertNotEquals(first, exchange(43, plan));
  }

  @Test
  void faultsOfOneDirectionDoNotDependOnTheOther() {
    FaultPlan plan = FaultPlan.NONE.withLoss(0.3);
    List<Integer> alone = exchange(5, plan);
    set(5, plan);
    Route back = b.route(B, A, 0, 0, 64);
    for (int i = 0; i < PACKETS; i++) {
      send(i);
      b.claim(back, 32);
      b.commit();
      b.flush();
      b.receive(this::take, Integer.MAX_VALUE);
    }
    run();
    assertEquals(alone, numbers);
  }

  @Test
  void lossHasItsChance() {
    List<Integer> got = exchange(2, FaultPlan.NONE.withLoss(0.2));
    assertAbout(0.2, PACKETS - got.size());
    assertEquals(PACKETS - got.size(), fabric.statistics().lost());
  }

  @Test
  void duplicatesArriveTwice() {
    List<Integer> got = exchange(3, FaultPlan.NONE.withDuplication(0.25));
    assertAbout(0.25, got.size() - PACKETS);
    assertEquals(PACKETS, new HashSet<>(got).size());
  }

  @Test
  void everyDamageIsNoticed() {
    List<Integer> got = exchange(4, FaultPlan.NONE.withCorruption(1));
    assertEquals(List.of(), got);
    assertEquals(PACKETS, fabric.statistics().corrupted());
    assertEquals(PACKETS, b.counters().get(LinkCounter.ICRC_FAILED));
    assertAbout(0.5, exchange(4, FaultPlan.NONE.withCorruption(0.5)).size());
  }

  @Test
  void delayAndJitterKeepTheOrder() {
    assertEquals(allInOrder(), exchange(6, FaultPlan.NONE.withDelay(10_000, 5_000)));
    for (int i = 0; i < PACKETS; i++) {
      long took = times.get(i) - 100L * i;
      assertTrue(took >= 10_000 && took <= 15_100, "packet " + i + " took " + took + " ns");
    }
  }

  @Test
  void reorderedPacketsAreOvertaken() {
    List<Integer> got = exchange(7, FaultPlan.NONE.withReordering(0.1, 10_000));
    assertNotEquals(allInOrder(), got);
    List<Integer> sorted = new ArrayList<>(got);
    Collections.sort(sorted);
    assertEquals(allInOrder(), sorted);
    assertAbout(0.1, fabric.statistics().reordered());
  }

  @Test
  void bandwidthSpacesPackets() {
    // 64 bytes, ICRC, UDP and IPv4 header: 96 bytes, at 96 MB/s one in 1000 ns.
    set(8, FaultPlan.NONE.withBandwidth(96_000_000));
    for (int i = 0; i < 10; i++) {
      send(i);
    }
    run();
    assertEquals(IntStream.rangeClosed(1, 10).mapToObj(i -> 1000L * i).toList(), times);
  }

  @Test
  void outageStopsEverythingForItsTime() {
    set(9, FaultPlan.NONE.withOutage(1000, 2000));
    for (int i = 0; i < 30; i++) {
      send(i);
      clock.advanceBy(100);
    }
    run();
    List<Integer> expected = IntStream.range(0, 30).filter(i -> i < 10 || i >= 20).boxed().toList();
    assertEquals(expected, numbers);
    assertEquals(10, fabric.statistics().cut());
  }

  @Test
  void partitionLastsUntilHealed() {
    set(10, FaultPlan.NONE);
    send(0);
    fabric.partition(B, A);
    send(1);
    fabric.heal(A, B);
    send(2);
    run();
    assertEquals(List.of(0, 2), numbers);
  }

  @Test
  void nothingArrivesBeforeItsTime() {
    set(11, FaultPlan.NONE.withDelay(500, 0));
    assertEquals(Long.MAX_VALUE, fabric.nextEventTime());
    send(0);
    assertEquals(500, fabric.nextEventTime());
    assertEquals(0, b.receive(this::take, 10));
    assertEquals(0, fabric.deliverUntil(499));
    assertEquals(1, fabric.deliverUntil(500));
    assertEquals(Long.MAX_VALUE, fabric.nextEventTime());
    assertEquals(1, b.receive(this::take, 10));
  }

  @Test
  void packetsToNobodyAreCounted() {
    set(12, FaultPlan.NONE.withDelay(500, 0));
    send(0);
    b.close();
    clock.advanceTo(500);
    fabric.deliverUntil(500);
    assertEquals(1, fabric.statistics().unreachable());
  }

  @Test
  void fullReceiverDropsAndCounts() {
    set(13, FaultPlan.NONE);
    for (int i = 0; i < 5000; i++) {
      send(i);
    }
    assertEquals(5000, fabric.deliverUntil(0));
    b.receive(this::take, Integer.MAX_VALUE);
    assertEquals(4096, numbers.size());
    assertEquals(5000 - 4096, b.counters().get(LinkCounter.NETWORK_DROPS));
    assertEquals(5000 - 4096, fabric.statistics().overflowed());
  }

  @Test
  void impossiblePlansAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> FaultPlan.NONE.withLoss(1.1));
    assertThrows(IllegalArgumentException.class, () -> FaultPlan.NONE.withLoss(Double.NaN));
    assertThrows(IllegalArgumentException.class, () -> FaultPlan.NONE.withDelay(-1, 0));
    assertThrows(IllegalArgumentException.class, () -> FaultPlan.NONE.withOutage(2, 1));
    VirtualClock standing = new VirtualClock();
    standing.advanceTo(5);
    assertThrows(IllegalArgumentException.class, () -> standing.advanceTo(4));
  }

  @Test
  void endpointWithATakenAddressLeavesNothingBehind() {
    set(14, FaultPlan.NONE);
    Gid c = Gid.parse("::ffff:192.0.2.3");
    assertThrows(LinkException.class, () -> fabric.endpoint(c, A));
    fabric.endpoint(c).close();
    assertEquals(14, fabric.seed());
  }
}
