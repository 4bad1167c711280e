package org.rdma4j.tools.pci;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.rdma4j.pci.PciBus;
import org.rdma4j.pci.PciFunction;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;

/** {@code setpci}: reads and writes configuration space. */
@Component(
    service = Setpci.class,
    property = {"osgi.command.scope=rdma", "osgi.command.function=setpci"})
public final class Setpci implements Command {
  private static final int END = 0x1000;
  private static final String USAGE =
      """
      Usage: setpci [<options>] (<device>+ <reg>[=<values>]*)*

      General options:
      -f\t\tDon't complain if there's nothing to do
      -v\t\tBe verbose
      -D\t\tList changes, don't commit them
      --dumpregs\tDump all known register names and exit

      Setting commands:
      <device>:\t-s [[[<domain>]:][<bus>]:][<slot>][.[<func>]]
      \t\t-d [<vendor>]:[<device>]
      <reg>:\t\t<base>[+<offset>][.(B|W|L)]
      <base>:\t\t<address>
      \t\t<named-register>
      \t\tCAP_<capability-name>
      \t\tCAP<capability-number>
      <values>:\t<value>[,<value>...]
      <value>:\t<hex>
      \t\t<hex>:<mask>
      """;

  @Reference(cardinality = ReferenceCardinality.OPTIONAL, policy = ReferencePolicy.DYNAMIC)
  private volatile PciBus bus;

  /** Functions, and what is done with each of them. */
  private record Group(FunctionFilter filter, List<RegisterAccess> accesses) {}

  /** What a command line says. */
  private static final class Request {
    private final List<Group> groups = new ArrayList<>();
    private boolean force;
    private boolean verbose;
    private boolean demonstrate;
  }

  /** Made by Declarative Services. */
  @Activate
  public Setpci() {}

  Setpci(PciBus bus) {
    this.bus = bus;
  }

  /** The shell's entry. */
  public void setpci(String[] arguments) {
    Command.execute(this, arguments);
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException {
    if (arguments.length == 1 && arguments[0].equals("--help")) {
      out.print(USAGE);
      return 0;
    }
    if (arguments.length == 1 && arguments[0].equals("--dumpregs")) {
      out.println("cap pos w name");
      RegisterName.ALL.forEach(out::println);
      return 0;
    }
    Request request = parse(arguments);
    List<PciFunction> all = Functions.of("setpci", bus);
    int number = 0;
    for (Group group : request.groups) {
      number++;
      List<PciFunction> chosen = all.stream().filter(group.filter()::matches).toList();
      if (chosen.isEmpty() && !request.force) {
        err.printf("setpci: Warning: No devices selected for operation group %d.%n", number);
      }
      for (PciFunction function : chosen) {
        for (RegisterAccess access : group.accesses()) {
          execute(function, access, request, out);
        }
      }
    }
    return 0;
  }

  private static Request parse(String[] arguments) throws CommandException {
    Request request = new Request();
    try {
      int next = options(arguments, request);
      Group open = null;
      while (next < arguments.length) {
        String argument = arguments[next++];
        if (!argument.startsWith("-")) {
          if (open == null) {
            throw new RegisterAccess.ParseError("Filter specification expected");
          }
          open.accesses().add(RegisterAccess.parse(argument));
          continue;
        }
        if (open == null || !open.accesses().isEmpty()) {
          open = new Group(new FunctionFilter(), new ArrayList<>());
          request.groups.add(open);
        }
        next = filter(arguments, next - 1, open.filter());
      }
      if (open == null) {
        throw new RegisterAccess.ParseError("No operation specified");
      }
      return request;
    } catch (RegisterAccess.ParseError e) {
      throw new CommandException(
          "setpci: " + e.getMessage() + ".\nTry `setpci --help' for more information.", 1, e);
    }
  }

  /** Options come before the first filter. */
  private static int options(String[] arguments, Request request) throws RegisterAccess.ParseError {
    int next = 0;
    while (next < arguments.length && arguments[next].startsWith("-") && !isFilter(arguments[next])) {
      String letters = arguments[next++];
      for (char letter : letters.substring(1).toCharArray()) {
        switch (letter) {
          case 'f' -> request.force = true;
          case 'v' -> request.verbose = true;
          case 'D' -> request.demonstrate = true;
          default -> throw new RegisterAccess.ParseError("Invalid or misplaced option -" + letter);
        }
      }
    }
    return next;
  }

  private static boolean isFilter(String argument) {
    return argument.startsWith("-s") || argument.startsWith("-d");
  }

  private static int filter(String[] arguments, int at, FunctionFilter filter) throws RegisterAccess.ParseError {
    String argument = arguments[at];
    if (!isFilter(argument)) {
      throw new RegisterAccess.ParseError("Invalid option -" + argument.substring(1));
    }
    int next = at + 1;
    String text = argument.substring(2);
    if (text.isEmpty()) {
      if (next == arguments.length) {
        throw new RegisterAccess.ParseError("Option " + argument + " requires an argument");
      }
      text = arguments[next++];
    } else if (text.startsWith("=")) {
      text = text.substring(1);
    }
    try {
      filter.take(argument.charAt(1), text);
    } catch (FunctionFilter.BadFilter e) {
      throw new RegisterAccess.ParseError("Unable to parse filter " + e.getMessage().replaceFirst(":", ""));
    }
    return next;
  }

  private static void execute(PciFunction function, RegisterAccess access, Request request, PrintStream out)
      throws CommandException {
    StringBuilder trace = new StringBuilder(function.address() + " ");
    int width = access.width();
    int place = access.place();
    if (access.capability() != RegisterName.NO_CAPABILITY) {
      int capability = function.findCapability(access.capability());
      if (capability == 0) {
        throw new CommandException(
            "setpci: %s: Instance #0 of Capability %04x not found - there are no capabilities with that id."
                .formatted(function.address(), access.capability()));
      }
      trace.append("(cap %02x @%02x) ".formatted(access.capability(), capability));
      place += capability;
    }
    trace.append("@%02x".formatted(place));
    if (place + width * Math.max(1, access.values().size()) > END) {
      throw new CommandException(
          "setpci: %s: Access of width %d to register %04x out of range".formatted(function.address(), width, place));
    }
    String form = "%0" + 2 * width + "x";
    if (access.values().isEmpty()) {
      out.println((request.verbose ? trace + " = " : "") + form.formatted(function.readConfig(place, width)));
      return;
    }
    for (RegisterAccess.Value value : access.values()) {
      trace.append(write(function, place, width, value, request.demonstrate));
      place += width;
    }
    if (request.verbose) {
      out.println(trace);
    }
  }

  private static String write(
      PciFunction function, int place, int width, RegisterAccess.Value value, boolean demonstrate) {
    int all = -1 >>> (Integer.SIZE - Byte.SIZE * width);
    String form = "%0" + 2 * width + "x";
    boolean whole = (value.mask() & all) == all;
    int before = whole ? 0 : function.readConfig(place, width);
    int after = (before & ~value.mask() | value.bits()) & all;
    if (!demonstrate) {
      function.writeConfig(place, width, after);
    }
    return " "
        + (whole
            ? form.formatted(after)
            : (form + "->(" + form + ":" + form + ")->" + form).formatted(before, value.bits(), value.mask(), after));
  }
}
