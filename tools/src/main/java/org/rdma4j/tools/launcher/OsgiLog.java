package org.rdma4j.tools.launcher;

import java.util.Collections;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.log.LogEntry;
import org.osgi.service.log.LogListener;
import org.osgi.service.log.LogReaderService;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Leads what the container and its services log (the OSGi log) to SLF4J, so that there is one log. */
@Component(service = {}, immediate = true)
public final class OsgiLog implements LogListener {
  private final LogReaderService reader;

  /** Begins with what was logged before. */
  @Activate
  public OsgiLog(@Reference LogReaderService reader) {
    this.reader = reader;
    // SLF4J finds its back end now, on this thread, not while the listener already delivers.
    LoggerFactory.getILoggerFactory();
    Collections.list(reader.getLog()).reversed().forEach(this::logged);
    reader.addLogListener(this);
  }

  @Deactivate
  void stop() {
    reader.removeLogListener(this);
  }

  @Override
  public void logged(LogEntry entry) {
    Level level =
        switch (entry.getLogLevel()) {
          case AUDIT, INFO -> Level.INFO;
          case ERROR -> Level.ERROR;
          case WARN -> Level.WARN;
          case DEBUG -> Level.DEBUG;
          case TRACE -> Level.TRACE;
        };
    LoggerFactory.getLogger(entry.getLoggerName())
        .atLevel(level)
        .setCause(entry.getException())
        .log("{}: {}", entry.getBundle().getSymbolicName(), entry.getMessage());
  }
}
