package org.rdma4j.ib.core.internal;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** Keeps what a class logs while a test looks at it, and keeps it off the console. */
final class LogCapture implements AutoCloseable {
  private final ListAppender<ILoggingEvent> appender = new ListAppender<>();
  private final Logger logger;

  LogCapture(Class<?> type) {
    this(type.getName());
  }

  LogCapture(String name) {
    logger = (Logger) LoggerFactory.getLogger(name);
    logger.setAdditive(false);
    appender.start();
    logger.addAppender(appender);
  }

  List<String> messages() {
    return appender.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Override
  public void close() {
    logger.detachAppender(appender);
    logger.setAdditive(true);
  }
}
