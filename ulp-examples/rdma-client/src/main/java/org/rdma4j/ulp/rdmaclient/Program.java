package org.rdma4j.ulp.rdmaclient;

import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.MemoryRegion;
import org.rdma4j.ib.core.verbs.QpCapabilities;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.ib.core.verbs.WcStatus;
import org.rdma4j.ib.core.verbs.WorkCompletion;
import org.rdma4j.rdma.cm.PortSpace;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.rdma.cm.verbs.AddressInfo;
import org.rdma4j.rdma.cm.verbs.AddressInfoException;
import org.rdma4j.rdma.cm.verbs.Endpoints;
import org.rdma4j.rdma.cm.verbs.RdmaVerbs;
import org.rdma4j.ulp.command.Command;
import org.rdma4j.ulp.command.CommandException;
import org.rdma4j.ulp.command.UsageException;

/**
 * One run of either program, from its options to its exit status. A server whose device goes waits for another client.
 */
final class Program implements Command {
  private static final int LENGTH = 16;
  private static final int STATUS_MASK = 0xff;
  private static final long RETRY_MILLIS = 100;

  private final String name;
  private final boolean server;
  private final RdmaCm manager;
  private final boolean devices;
  private final WorkCompletion[] completions = WorkCompletion.batch(1);

  /**
   * Prepares a run.
   *
   * @param server whether it is the server
   * @param manager makes the connection
   * @param devices whether there are any
   */
  Program(boolean server, RdmaCm manager, boolean devices) {
    this.name = server ? "rdma_server" : "rdma_client";
    this.server = server;
    this.manager = manager;
    this.devices = devices;
  }

  @Override
  public int run(String[] arguments, PrintStream out, PrintStream err) throws CommandException, InterruptedException {
    Options options;
    try {
      options = Options.parse(name, server ? "0.0.0.0" : "127.0.0.1", arguments);
    } catch (UsageException e) {
      err.println(e.getMessage());
      out.print(Options.usage(name));
      return 1;
    }
    out.println(name + ": start");
    int status = 0;
    try {
      if (!devices) {
        throw new Failure("No RDMA devices were detected", -1);
      }
      run(options, out, err);
    } catch (Failure e) {
      err.println(e.getMessage());
      status = e.status();
    }
    out.println(name + ": end " + status);
    return status & STATUS_MASK;
  }

  private void run(Options options, PrintStream out, PrintStream err) throws Failure, InterruptedException {
    AddressInfo hints = AddressInfo.ANY.withPortSpace(PortSpace.TCP);
    AddressInfo address;
    try {
      address =
          AddressInfo.getAddressInfo(
                  options.server(), options.port(), server ? hints.with(AddressInfo.Flag.PASSIVE) : hints)
              .getFirst();
    } catch (AddressInfoException e) {
      out.println("rdma_getaddrinfo: " + e.reason().text());
      throw new Failure(name + ": " + e.getMessage(), e.reason().number());
    }
    try (Arena arena = Arena.ofShared();
        RdmaCm cm = manager.open(name)) {
      if (server) {
        serve(cm, address, arena, out, err);
      } else {
        try (RdmaCmId id = endpoint(cm, address)) {
          converse(id, arena, out);
        }
      }
    }
  }

  private RdmaCmId endpoint(RdmaCm cm, AddressInfo address) throws Failure, InterruptedException {
    QpInitAttributes attributes =
        new QpInitAttributes(QpType.RC).signalAll(true).capabilities(new QpCapabilities(1, 1, 1, 1, LENGTH));
    try {
      return Endpoints.createEndpoint(cm, address, null, attributes);
    } catch (VerbsException e) {
      throw failure("rdma_create_ep", e);
    }
  }

  private void serve(RdmaCm cm, AddressInfo address, Arena arena, PrintStream out, PrintStream err)
      throws Failure, InterruptedException {
    RdmaCmId listener = endpoint(cm, address);
    boolean served = false;
    while (!served) {
      String call = "rdma_listen";
      try {
        listener.listen(0);
        call = "rdma_get_request";
        served = serveOne(listener, arena, out, err);
      } catch (VerbsException e) {
        Failure failure = failure(call, e);
        if (!failure.isRemoval()) {
          throw failure;
        }
        err.println(failure.getMessage());
      }
      listener.close();
      if (!served) {
        listener = endpointAgain(cm, address);
      }
    }
  }

  /** Serves a client; false when its device went meanwhile. */
  private boolean serveOne(RdmaCmId listener, Arena arena, PrintStream out, PrintStream err)
      throws Failure, InterruptedException {
    try (RdmaCmId id = listener.getRequest(null)) {
      converse(id, arena, out);
      return true;
    } catch (Failure e) {
      if (!e.isRemoval()) {
        throw e;
      }
      err.println(e.getMessage());
      return false;
    }
  }

  private RdmaCmId endpointAgain(RdmaCm cm, AddressInfo address) throws InterruptedException {
    while (true) {
      try {
        return endpoint(cm, address);
      } catch (Failure e) {
        Thread.sleep(RETRY_MILLIS); // until the device that has the address is back
      }
    }
  }

  /** The client sends and gets an answer, the server answers; then the connection is over. */
  private void converse(RdmaCmId id, Arena arena, PrintStream out) throws Failure, InterruptedException {
    MemorySegment sent = arena.allocate(LENGTH);
    MemorySegment received = arena.allocate(LENGTH);
    boolean inline = id.qp().capabilities().maxInlineData() >= LENGTH;
    if (!inline) {
      out.println(name + ": device doesn't support IBV_SEND_INLINE, using sge sends");
    }
    String call = "rdma_reg_msgs for recv_msg";
    try (MemoryRegion to = RdmaVerbs.registerMessages(id, received);
        MemoryRegion from = RdmaVerbs.registerMessages(id, sent)) {
      call = "rdma_post_recv";
      RdmaVerbs.postReceive(id, 0, received, to);
      call = server ? "rdma_accept" : "rdma_connect";
      if (server) {
        id.accept(null);
        call = "rdma_get_recv_comp";
        check(id, RdmaVerbs.receiveCompletion(id, completions, null));
      } else {
        id.connect(null);
      }
      call = "rdma_post_send";
      RdmaVerbs.postSend(id, 0, sent, from, inline ? SendFlag.INLINE : 0);
      call = "rdma_get_send_comp";
      check(id, RdmaVerbs.sendCompletion(id, completions, null));
      if (!server) {
        call = "rdma_get_recv_comp";
        check(id, RdmaVerbs.receiveCompletion(id, completions, null));
      }
      call = "rdma_disconnect";
      id.disconnect();
    } catch (VerbsException e) {
      throw failure(call, e);
    }
  }

  private void check(RdmaCmId id, int found) throws Failure {
    WorkCompletion completion = completions[0];
    if (found > 0 && completion.status() != WcStatus.SUCCESS) {
      throw new Failure(name + ": " + id.qp().explain(completion), -1);
    }
  }

  private Failure failure(String call, VerbsException e) throws InterruptedException {
    if (e.errno() == Errno.ECANCELED && Thread.interrupted()) {
      throw new InterruptedException();
    }
    return new Failure(name, call, e);
  }
}
