package org.rdma4j.it.peer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.opentest4j.TestAbortedException;

/** Boots the guest once for all {@link PeerTest}s of a run, ends it after the last, and says why it can't. */
final class PeerExtension implements ExecutionCondition, BeforeAllCallback, ParameterResolver {
  private static final ExtensionContext.Namespace STORE = ExtensionContext.Namespace.create(PeerExtension.class);
  private static final Path SCRIPTS = Path.of("linux-peer").toAbsolutePath();
  private static final Path LOGS = Path.of("target", "peer").toAbsolutePath();

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return switch (wish()) {
      case "off" -> ConditionEvaluationResult.disabled("RDMA_PEER=off");
      case "require" -> {
        obstacle().ifPresent(reason -> {
          throw new PeerException("RDMA_PEER=require, but no Linux peer can run here: " + reason);
        });
        yield ConditionEvaluationResult.enabled("RDMA_PEER=require");
      }
      case "auto" -> obstacle()
          .map(reason -> ConditionEvaluationResult.disabled("no Linux peer can run here: " + reason))
          .orElseGet(() -> ConditionEvaluationResult.enabled("a Linux peer can run here"));
      default -> throw new PeerException("RDMA_PEER takes auto, require or off");
    };
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    shared(context);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == LinuxPeer.class;
  }

  @Override
  public LinuxPeer resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return shared(context);
  }

  private static LinuxPeer shared(ExtensionContext context) {
    Shared shared = context.getRoot().getStore(STORE).getOrComputeIfAbsent(Shared.class);
    return shared.peer();
  }

  private static String wish() {
    return Optional.ofNullable(System.getenv("RDMA_PEER")).orElse("auto");
  }

  /** Why no guest can run on this machine, nothing if it can. */
  private static Optional<String> obstacle() {
    if (!System.getProperty("os.name").equals("Linux")) {
      return Optional.of("this is not Linux");
    }
    if (!"root".equals(System.getProperty("user.name"))) {
      return Optional.of("network namespaces and tap devices need root");
    }
    if (!Files.exists(Path.of("/dev/net/tun"))) {
      return Optional.of("/dev/net/tun is missing");
    }
    if (!Files.exists(Path.of("/etc/debian_version"))) {
      return Optional.of("the guest is made of Debian packages, and this is not Debian");
    }
    if (wish().equals("auto") && !onPath("qemu-system-x86_64")) {
      return Optional.of("qemu-system-x86_64 is not installed (RDMA_PEER=require installs it)");
    }
    return Optional.empty();
  }

  private static boolean onPath(String program) {
    return Stream.of(System.getenv("PATH").split(":"))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
  }

  /** The guest of this run, or why there is none: found out once. */
  static final class Shared implements AutoCloseable {
    private final LinuxPeer peer;
    private final RuntimeException reason;
    private final Thread hook = new Thread(this::down, "linux-peer-down");

    Shared() {
      LinuxPeer booted = null;
      RuntimeException failure = null;
      try {
        LinuxPeer.build(SCRIPTS, LOGS, wish().equals("require"));
      } catch (PeerException e) {
        failure = wish().equals("require") ? e : new TestAbortedException("no guest: " + e.getMessage(), e);
      }
      if (failure == null) {
        try {
          booted = LinuxPeer.boot(SCRIPTS, LOGS);
          Runtime.getRuntime().addShutdownHook(hook);
        } catch (PeerException e) {
          failure = e;
        }
      }
      peer = booted;
      reason = failure;
    }

    LinuxPeer peer() {
      if (reason != null) {
        throw reason;
      }
      return peer;
    }

    @Override
    public void close() {
      if (peer != null && Runtime.getRuntime().removeShutdownHook(hook)) {
        down();
      }
    }

    private void down() {
      peer.close();
    }
  }
}
