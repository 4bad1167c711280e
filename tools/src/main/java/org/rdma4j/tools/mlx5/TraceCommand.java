package org.rdma4j.tools.mlx5;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.felix.service.command.CommandSession;
import org.rdma4j.pci.PciAddress;
import org.rdma4j.pci.PciException;
import org.rdma4j.tools.mlx5.trace.Layer;
import org.rdma4j.tools.mlx5.trace.Listing;
import org.rdma4j.tools.mlx5.trace.Recording;
import org.rdma4j.ulp.command.CommandException;

/** {@code mlx5 trace}: while a command runs, or from {@code on} to {@code off}. One at a time. Safe for any thread. */
final class TraceCommand {
  static final String LAYERS = Stream.of(Layer.values()).map(Layer::word).collect(Collectors.joining(", "));
  private static final Pattern PLAIN = Pattern.compile("[\\w./:,@=-]+");
  private static final int MOST_EVENTS = 200_000;

  /** How a trace is wanted. */
  private record Wish(String slot, boolean json, Path file, Set<Layer> layers) {}

  /** A trace that is on. */
  private record Running(Wish wish, Recording recording, Runnable end) {}

  private final Function<Recording, Runnable> tracers;
  private Running running; // guarded by this

  TraceCommand(Function<Recording, Runnable> tracers) {
    this.tracers = tracers;
  }

  int run(CommandSession session, Deque<String> words, PrintStream out) throws CommandException {
    String word = words.peek();
    if ("off".equals(word)) {
      words.poll();
      if (!words.isEmpty()) {
        throw wrong("\"" + words.peek() + "\" is too much");
      }
      print(end(), out);
      return 0;
    }
    if ("on".equals(word)) {
      words.poll();
      Wish wish = wish(words);
      if (!words.isEmpty()) {
        throw wrong("\"" + words.peek() + "\" is too much");
      }
      begin(wish);
      return 0;
    }
    return around(session, wish(words), words, out);
  }

  private int around(CommandSession session, Wish wish, Deque<String> words, PrintStream out)
      throws CommandException {
    if (!"--".equals(words.poll()) || words.isEmpty()) {
      throw wrong("-- and a command are missing");
    }
    begin(wish);
    Object result;
    try {
      result = session.execute(script(List.copyOf(words)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandException("mlx5: interrupted", e);
    } catch (Exception e) {
      throw new CommandException("mlx5", e);
    } finally {
      print(end(), out);
    }
    return result instanceof Integer status ? status : 0;
  }

  /** One word is a script, several are a command and its arguments. */
  private static String script(List<String> words) {
    return words.size() == 1
        ? words.getFirst()
        : words.stream().map(TraceCommand::quoted).collect(Collectors.joining(" "));
  }

  /** A command whose name is quoted would be a text for the shell. */
  private static String quoted(String word) {
    return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "\\'") + "'";
  }

  private static Wish wish(Deque<String> words) throws CommandException {
    String slot = take(words, "a slot");
    try {
      slot = PciAddress.parse(slot).toString();
    } catch (PciException e) {
      throw new CommandException("mlx5: " + e.getMessage(), e);
    }
    boolean json = false;
    Path file = null;
    Set<Layer> layers = EnumSet.allOf(Layer.class);
    while (!words.isEmpty() && !words.peek().equals("--")) {
      String word = words.poll();
      switch (word) {
        case "--json", "-j" -> json = true;
        case "--file" -> file = Path.of(take(words, "the name of the file"));
        case "--only" -> layers = layers(take(words, "what is wanted"));
        default -> throw wrong("\"" + word + "\" is unknown");
      }
    }
    return new Wish(slot, json, file, layers);
  }

  private static Set<Layer> layers(String list) throws CommandException {
    Set<Layer> layers = EnumSet.noneOf(Layer.class);
    for (String each : list.split(",", -1)) {
      Layer layer = Layer.of(each);
      if (layer == null) {
        throw wrong("\"" + each + "\" is none of " + LAYERS);
      }
      layers.add(layer);
    }
    return layers;
  }

  private static String take(Deque<String> words, String what) throws CommandException {
    String word = words.poll();
    if (word == null) {
      throw wrong(what + " is missing");
    }
    return word;
  }

  private static CommandException wrong(String what) {
    return new CommandException("mlx5: trace: " + what + ", try \"mlx5 help\".");
  }

  private synchronized void begin(Wish wish) throws CommandException {
    if (running != null) {
      throw new CommandException("mlx5: a trace of " + running.wish().slot() + " is on; \"mlx5 trace off\" ends it");
    }
    Recording recording = new Recording(wish.slot(), wish.layers(), MOST_EVENTS);
    running = new Running(wish, recording, tracers.apply(recording));
  }

  private synchronized Running end() throws CommandException {
    if (running == null) {
      throw new CommandException("mlx5: no trace is on");
    }
    Running ended = running;
    running = null;
    ended.end().run();
    return ended;
  }

  private static void print(Running ended, PrintStream out) throws CommandException {
    Listing listing = new Listing(ended.recording().events());
    Wish wish = ended.wish();
    if (wish.file() == null) {
      print(listing, wish, out);
    } else {
      try (PrintStream to = new PrintStream(Files.newOutputStream(wish.file()), false, StandardCharsets.UTF_8)) {
        print(listing, wish, to);
      } catch (IOException e) {
        throw new CommandException("mlx5: cannot write to " + wish.file(), e);
      }
    }
    if (ended.recording().dropped() > 0) {
      throw new CommandException(
          "mlx5: %d events after the first %d were not kept; --only keeps fewer kinds"
              .formatted(ended.recording().dropped(), MOST_EVENTS));
    }
  }

  private static void print(Listing listing, Wish wish, PrintStream to) {
    if (wish.json()) {
      listing.json(to);
    } else {
      listing.text(to);
    }
  }

  /** The bundle stops: a trace that is on ends unseen. */
  synchronized void stop() {
    if (running != null) {
      running.end().run();
      running = null;
    }
  }
}
