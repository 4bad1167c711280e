package org.rdma4j.tools.simulate;

import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.rdma4j.roce.simulation.SimulationRunner;
import org.rdma4j.roce.simulation.Tally;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.Getopt;
import org.rdma4j.ulp.command.UsageException;

/** {@code simulate}: plays seeds of the engine's simulation until all are done or one fails. */
@Component(
    service = Simulate.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=simulate"})
public final class Simulate implements Command {
  private static final String NAME = "simulate";
  private static final long DEFAULT_SEEDS = 10_000;
  private static final int MAX_THREADS = 1024;
  private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final String USAGE =
      """
      Usage: simulate [options]      play random traffic over a faulty network, and check all that comes of it

      Options:
        -n, --seeds=<num>      play <num> seeds (default 10000)
        -f, --first=<seed>     begin with this seed (default 1)
        -s, --seed=<seed>      play this seed only
        -t, --trace            with --seed: print each request, packet, fault and completion
        -j, --threads=<num>    play <num> at once (default one for each processor)
        -h, --help             print this

      The exit status is 1 when a seed fails: the lowest that does is made small and printed.
      """;
  private static final Getopt OPTIONS =
      new Getopt(
          NAME,
          new Getopt.Option('n', "seeds", true),
          new Getopt.Option('f', "first", true),
          new Getopt.Option('s', "seed", true),
          new Getopt.Option('t', "trace", false),
          new Getopt.Option('j', "threads", true),
          new Getopt.Option('h', "help", false));

  private final Player player;

  /** What plays the seeds. */
  interface Player {
    SimulationRunner.Result play(int threads, LongConsumer progress, long first, long count)
        throws InterruptedException;
  }

  /** What the command line asks for. */
  private static final class Wanted {
    Long seeds;
    Long first;
    Long seed;
    boolean trace;
    boolean help;
    int threads = Runtime.getRuntime().availableProcessors();

    long from() {
      return seed != null ? seed : first != null ? first : 1;
    }

    long count() {
      return seed != null ? 1 : seeds != null ? seeds : DEFAULT_SEEDS;
    }
  }

  /** Made by Declarative Services. */
  @Activate
  public Simulate() {
    this((threads, progress, first, count) -> new SimulationRunner(threads, progress).run(first, count));
  }

  Simulate(Player player) {
    this.player = player;
  }

  /** The shell's entry. */
  public void simulate(String[] arguments) {
    Command.execute(this, arguments);
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException, InterruptedException {
    Wanted wanted;
    try {
      wanted = parse(arguments);
    } catch (UsageException e) {
      throw new CommandException(e.getMessage() + "\n" + USAGE.stripTrailing(), 1, e);
    }
    if (wanted.help) {
      out.print(USAGE);
      return 0;
    }
    if (wanted.trace) {
      out.print(new SimulationRunner(1, done -> {}).trace(wanted.seed));
    }
    var progress = new Progress(out, wanted.count());
    SimulationRunner.Result result = player.play(wanted.threads, progress, wanted.from(), wanted.count());
    summarise(result, progress, out);
    if (result.failure() != null) {
      err.print(result.failure());
      return 1;
    }
    return 0;
  }

  private static Wanted parse(String[] arguments) throws UsageException {
    var wanted = new Wanted();
    Getopt.Result result = OPTIONS.parse(arguments);
    for (Getopt.Given given : result.options()) {
      switch (given.letter()) {
        case 'n' -> wanted.seeds = number("--seeds", given.argument(), 1, Long.MAX_VALUE);
        case 'f' -> wanted.first = number("--first", given.argument(), Long.MIN_VALUE, Long.MAX_VALUE);
        case 's' -> wanted.seed = number("--seed", given.argument(), Long.MIN_VALUE, Long.MAX_VALUE);
        case 't' -> wanted.trace = true;
        case 'j' -> wanted.threads = (int) number("--threads", given.argument(), 1, MAX_THREADS);
        default -> wanted.help = true;
      }
    }
    if (!result.operands().isEmpty()) {
      throw new UsageException(NAME + ": no argument is expected, but there is '" + result.operands().getFirst() + "'");
    }
    if (wanted.seed != null && (wanted.seeds != null || wanted.first != null)) {
      throw new UsageException(NAME + ": --seed plays one seed, so neither --seeds nor --first goes with it");
    }
    if (wanted.trace && wanted.seed == null) {
      throw new UsageException(NAME + ": --trace needs --seed");
    }
    return wanted;
  }

  private static long number(String option, String text, long min, long max) throws UsageException {
    try {
      long value = Long.decode(text.strip());
      if (value >= min && value <= max) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Refused below, with what is allowed.
    }
    throw new UsageException(
        NAME + ": invalid argument '" + text + "' for " + option + ": a number from " + min + " to " + max);
  }

  private static void summarise(SimulationRunner.Result result, Progress progress, PrintStream out) {
    Tally tally = result.tally();
    out.printf(
        "%,d seeds in %.1f s, %,.0f seeds/s: %,d operations, %,d packets, %,d faults%n",
        result.seeds(), progress.seconds(), result.seeds() / progress.seconds(), tally.total(Tally.OPERATIONS),
        tally.count(Tally.COUNTERS, Tally.PACKETS), tally.total(Tally.FAULTS));
    for (String group : new String[] {Tally.OPERATIONS, Tally.COMPLETIONS, Tally.FAULTS, Tally.EVENTS}) {
      out.println(group + ":");
      tally.group(group).forEach((name, count) -> out.printf("%,15d  %s%n", count, name));
    }
  }

  /** A line every few seconds. */
  private static final class Progress implements LongConsumer {
    private final PrintStream out;
    private final long count;
    private final long begin = System.nanoTime();
    private final AtomicLong next = new AtomicLong(PROGRESS_NANOS);

    Progress(PrintStream out, long count) {
      this.out = out;
      this.count = count;
    }

    double seconds() {
      return (System.nanoTime() - begin) / 1e9;
    }

    @Override
    public void accept(long done) {
      long now = System.nanoTime() - begin;
      long due = next.get();
      if (now >= due && next.compareAndSet(due, now + PROGRESS_NANOS)) {
        out.printf("%,d of %,d seeds, %,.0f seeds/s%n", done, count, done * 1e9 / now);
        out.flush();
      }
    }
  }
}
