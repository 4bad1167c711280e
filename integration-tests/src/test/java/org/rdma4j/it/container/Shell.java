package org.rdma4j.it.container;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.felix.service.command.CommandProcessor;
import org.apache.felix.service.command.CommandSession;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;

/** Commands of the shell, as a person would type them. */
final class Shell {
  private Shell() {}

  /** What a command prints, on both streams. */
  static String run(BundleContext context, String command) {
    ServiceReference<CommandProcessor> reference = context.getServiceReference(CommandProcessor.class);
    var bytes = new ByteArrayOutputStream();
    var out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    var in = new ByteArrayInputStream(new byte[0]);
    try (CommandSession session = context.getService(reference).createSession(in, out, out)) {
      session.put("SCOPE", "rdma:*");
      session.execute(command);
    } catch (Exception e) {
      out.println(e);
    } finally {
      context.ungetService(reference);
    }
    out.flush();
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
