package org.rdma4j.tools.launcher;

import java.util.Dictionary;
import java.util.Hashtable;
import java.util.function.Supplier;
import org.apache.felix.gogo.jline.Builtin;
import org.apache.felix.gogo.jline.Converters;
import org.apache.felix.gogo.jline.Posix;
import org.apache.felix.gogo.jline.Procedural;
import org.apache.felix.service.command.CommandProcessor;
import org.apache.felix.service.command.Converter;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceFactory;
import org.osgi.framework.ServiceRegistration;

/**
 * Gogo's commands of a shell (echo, sleep, grep, if, each, ...), for scripts and the interactive shell. They are the
 * services that the bundle gogo.jline registers when it is started; it is not, for it would take the terminal. Their
 * classes are loaded when one of them is first used.
 */
final class ShellCommands {
  private static final String[] BUILTIN = {
    "format", "getopt", "new", "set", "tac", "type", "jobs", "fg", "bg", "keymap", "setopt", "unsetopt", "complete",
    "history", "widget", "__files", "__directories", "__usage_completion"
  };
  private static final String[] PROCEDURAL = {
    "each", "if", "not", "throw", "try", "until", "while", "break", "continue"
  };
  private static final String[] POSIX = {
    "cat", "echo", "grep", "sort", "sleep", "cd", "pwd", "ls", "less", "head", "tail", "wc", "date", "clear"
  };

  private ShellCommands() {}

  static void register(BundleContext context, CommandProcessor processor) {
    register(context, BUILTIN, Builtin::new);
    register(context, PROCEDURAL, Procedural::new);
    register(context, POSIX, () -> new Posix(processor));
    // What makes a Bundle of its number or name, so that "stop 13" works; of the system bundle, as in gogo.jline.
    context.registerService(
        Converter.class, new Converters(context.getBundle(0).getBundleContext()), new Hashtable<>());
  }

  /** Registers one object with several commands; it is made when first asked for. */
  static void register(BundleContext context, String[] functions, Supplier<Object> target) {
    Dictionary<String, Object> properties = new Hashtable<>();
    properties.put(CommandProcessor.COMMAND_SCOPE, "gogo");
    properties.put(CommandProcessor.COMMAND_FUNCTION, functions);
    context.registerService(Object.class.getName(), new Lazy(target), properties);
  }

  private record Lazy(Supplier<Object> target) implements ServiceFactory<Object> {
    @Override
    public Object getService(Bundle bundle, ServiceRegistration<Object> registration) {
      return target.get();
    }

    @Override
    public void ungetService(Bundle bundle, ServiceRegistration<Object> registration, Object service) {
      // Nothing is kept.
    }
  }
}
