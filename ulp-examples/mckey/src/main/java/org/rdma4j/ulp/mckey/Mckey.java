package org.rdma4j.ulp.mckey;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.UsageException;

/** One run of {@code mckey}, from its options to its exit status. */
final class Mckey implements Command {
  /** Between joining and sending, for switches to learn of it, and for people to start the other side. */
  private static final Duration PAUSE = Duration.ofSeconds(3);

  private static final int STATUS_MASK = 0xff;

  private final RdmaCm manager;
  private final boolean devices;

  /**
   * Prepares a run.
   *
   * @param manager joins groups
   * @param devices whether there are any
   */
  Mckey(RdmaCm manager, boolean devices) {
    this.manager = manager;
    this.devices = devices;
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException, InterruptedException {
    MckeyOptions options;
    try {
      options = MckeyOptions.parse(arguments);
    } catch (UsageException e) {
      err.println(e.getMessage());
      out.print(Usage.TEXT);
      return 1;
    }
    if (options.unmapped() && options.bind() == null) {
      out.println("unmapped multicast address requires binding to source address");
      return 1;
    }
    if (!devices) {
      throw new CommandException("No RDMA devices were detected");
    }
    PortSpace space = portSpace(options);
    int status;
    try (RdmaCm cm = manager.open("mckey");
        Members members = new Members(cm, space, options, out, err)) {
      status = play(members, options, out, err);
      out.println("test complete");
    } catch (VerbsException e) {
      throw new CommandException(new Failure("rdma_create_id", e).getMessage(), 1, e);
    }
    out.println("return status " + status);
    return status & STATUS_MASK;
  }

  private static PortSpace portSpace(MckeyOptions options) throws CommandException {
    Optional<PortSpace> found =
        Arrays.stream(PortSpace.values()).filter(space -> space.number() == options.portSpace()).findFirst();
    return found.orElseThrow(() -> new CommandException("mckey: there is no port space " + options.portSpace()));
  }

  private static int play(Members members, MckeyOptions options, PrintStream out, PrintStream err)
      throws InterruptedException {
    int status = 0;
    try {
      out.println("mckey: starting " + (options.sender() ? "client" : "server"));
      if (!options.loopback()) {
        throw new Failure(
            "mckey: unable to create QP: Operation not supported\nmckey: no device here keeps from its own members"
                + " what it sends (-l)",
            -1);
      }
      members.join();
      members.pause(PAUSE);
      if (options.messages() > 0) {
        out.println(options.sender() ? "initiating data transfers" : "receiving data transfers");
        if (options.sender()) {
          members.send();
        } else {
          members.receive();
        }
        out.println("data transfers complete");
      }
    } catch (Failure e) {
      err.println(e.getMessage());
      status = e.status();
    }
    int left = members.leave();
    return status == 0 ? left : status;
  }
}
