package org.rdma4j.tools.mlx5;

import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.apache.felix.service.command.CommandSession;
import org.osgi.framework.BundleContext;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.rdma4j.mlx5.device.ModelledCard;
import org.rdma4j.tools.mlx5.trace.Tracers;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;

/** {@code mlx5}: plugs modelled cards in and out, shows their tables and what passes them, injects faults. */
@Component(
    service = Mlx5Command.class,
    immediate = true, // A trace stays on between two commands.
    property = {"osgi.command.scope=rdma", "osgi.command.function=mlx5"})
public final class Mlx5Command implements Command {
  private static final String USAGE =
      """
      Usage: mlx5 plug [slot SLOT] [netdev NETDEV] [addr ADDRESS]
             mlx5 unplug SLOT
             mlx5 pull SLOT
             mlx5 hem [CARD [TABLE]]
             mlx5 fault CARD FAULT [NUMBER ...]
             mlx5 trace SLOT [--json] [--file FILE] [--only LAYER,...] -- COMMAND [ARGUMENT ...]
             mlx5 trace on SLOT [--json] [--file FILE] [--only LAYER,...]
             mlx5 trace off

      plug makes a card and says in which slot; unplug takes it out in order, pull by surprise. hem shows the tables of
      entries in pages of the host, or the entries of one. trace shows what goes over each boundary between an
      application and the wire while COMMAND runs, or from on to off; COMMAND alone may be a script. CARD is a slot as
      0000:03:00.0. FAULT is one of
      """
          + CardFault.usage()
          + "\nLAYER is one of " + TraceCommand.LAYERS + "\n";

  private final TraceCommand tracing;

  @Reference(cardinality = ReferenceCardinality.OPTIONAL, policy = ReferencePolicy.DYNAMIC)
  private volatile Cards cards;

  /** Made by Declarative Services. */
  @Activate
  public Mlx5Command(BundleContext bundle) {
    this.tracing = new TraceCommand(recording -> new Tracers(bundle, recording)::close);
  }

  Mlx5Command(Cards cards, TraceCommand tracing) {
    this.cards = cards;
    this.tracing = tracing;
  }

  /** A trace that is on ends. */
  @Deactivate
  void stop() {
    tracing.stop();
  }

  /** The shell's entry. */
  public void mlx5(CommandSession session, String[] arguments) {
    Command.execute((words, out, err) -> run(session, words, out), arguments);
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException {
    return run(null, arguments, out);
  }

  private int run(CommandSession session, String[] arguments, PrintStream out) throws CommandException {
    Deque<String> words = new ArrayDeque<>(List.of(arguments));
    if (words.isEmpty() || words.peek().equals("--help") || words.peek().equals("help")) {
      out.print(USAGE);
      return 0;
    }
    if (words.peek().equals("trace")) {
      words.poll();
      return tracing.run(session, words, out);
    }
    if (cards == null) {
      throw new CommandException("mlx5: no cards can be made: there is no bus, or no Configuration Admin");
    }
    String verb = words.poll();
    switch (verb) {
      case "plug" -> plug(words, out);
      case "unplug", "pull" -> {
        cards.unplug(take(words, "a slot"), verb.equals("pull"));
        end(words);
      }
      case "hem" -> hem(words, out);
      case "fault" -> fault(words);
      default -> throw wrong("\"" + verb + "\" is unknown");
    }
    return 0;
  }

  private static CommandException wrong(String what) {
    return new CommandException("mlx5: " + what + ", try \"mlx5 help\".");
  }

  private static String take(Deque<String> words, String what) throws CommandException {
    String word = words.poll();
    if (word == null) {
      throw wrong(what + " is missing");
    }
    return word;
  }

  private static void end(Deque<String> words) throws CommandException {
    if (!words.isEmpty()) {
      throw wrong("\"" + words.peek() + "\" is too much");
    }
  }

  private void plug(Deque<String> words, PrintStream out) throws CommandException {
    String slot = null;
    String netdev = null;
    String address = null;
    while (!words.isEmpty()) {
      String word = words.poll();
      String value = take(words, "the value of " + word);
      switch (word) {
        case "slot" -> slot = value;
        case "netdev" -> netdev = value;
        case "addr" -> address = value;
        default -> throw wrong("\"" + word + "\" is unknown");
      }
    }
    if (netdev == null && address == null) {
      throw wrong("netdev or addr is missing");
    }
    out.println(cards.plug(slot, netdev, address));
  }

  private ModelledCard card(String name) throws CommandException {
    for (ModelledCard each : cards.all()) {
      if (each.name().equals(name)) {
        return each;
      }
    }
    throw new CommandException(
        "mlx5: there is no modelled card " + name + "; there are "
            + cards.all().stream().map(ModelledCard::name).toList());
  }

  private void hem(Deque<String> words, PrintStream out) throws CommandException {
    CardReport report = new CardReport(out);
    if (words.isEmpty()) {
      cards.all().forEach(report::tables);
      return;
    }
    ModelledCard card = card(words.poll());
    if (words.isEmpty()) {
      report.tables(card);
      return;
    }
    String table = words.poll();
    end(words);
    try {
      report.entries(card, table);
    } catch (IllegalArgumentException e) {
      throw new CommandException("mlx5: " + e.getMessage(), e);
    }
  }

  private void fault(Deque<String> words) throws CommandException {
    ModelledCard card = card(take(words, "a card"));
    String word = take(words, "a fault");
    CardFault fault = CardFault.of(word);
    if (fault == null || !fault.takes(words.size())) {
      throw wrong(fault == null ? "fault \"" + word + "\" is unknown" : word + " takes other numbers");
    }
    int[] numbers = new int[words.size()];
    try {
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] = Integer.decode(words.poll());
      }
      fault.inject(card.faults(), numbers);
    } catch (NumberFormatException e) {
      throw new CommandException("mlx5: " + word + " takes numbers: " + e.getMessage(), e);
    } catch (IllegalArgumentException e) {
      throw new CommandException("mlx5: " + e.getMessage(), e);
    }
  }
}
