package org.rdma4j.ulp.rping;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.rdma4j.rdma.cm.Ece;
import org.rdma4j.rdma.cm.RdmaCmEvent;
import org.rdma4j.rdma.cm.RdmaCmEventType;

/** The order in which things happen to a connection, and the lines of the original when they end. */
class ConversationTest {
  private final ByteArrayOutputStream errors = new ByteArrayOutputStream();
  private final PrintStream stream = new PrintStream(errors, true, StandardCharsets.UTF_8);
  private final Conversation server = new Conversation(true, new Output(stream, stream, false));
  private final Conversation client = new Conversation(false, new Output(stream, stream, false));

  @Test
  void aPingOfTheServer() {
    server.onEvent(event(RdmaCmEventType.ESTABLISHED, 0));
    server.received();
    assertEquals(RpingState.RDMA_READ_ADV, server.state());
    server.reach(RpingState.RDMA_READ_COMPLETE);
    server.received();
    assertEquals(RpingState.RDMA_WRITE_ADV, server.state());
    server.reach(RpingState.RDMA_WRITE_COMPLETE);
    server.received();
    assertEquals(RpingState.RDMA_READ_ADV, server.state());
  }

  @Test
  void aPingOfTheClient() {
    client.onEvent(event(RdmaCmEventType.ESTABLISHED, 0));
    assertEquals(RpingState.CONNECTED, client.state());
    client.move(RpingState.RDMA_READ_ADV);
    client.received();
    assertEquals(RpingState.RDMA_WRITE_ADV, client.state());
    client.received();
    assertEquals(RpingState.RDMA_WRITE_COMPLETE, client.state());
  }

  @Test
  void theEndStays() throws Exception {
    server.onEvent(event(RdmaCmEventType.DISCONNECTED, 0));
    server.received();
    assertFalse(server.await(RpingState.RDMA_READ_ADV));
    assertEquals("server DISCONNECT EVENT...\nwait for RDMA_READ_ADV state 10\n", text());
    server.fail("nobody is told");
    assertFalse(text().contains("nobody"));
  }

  @Test
  void whoLeavesIsNotToldOfTheEnd() {
    client.leave();
    client.onEvent(event(RdmaCmEventType.DISCONNECTED, 0));
    assertEquals("", text());
  }

  @Test
  void refusalsAreNamed() throws Exception {
    client.move(RpingState.ROUTE_RESOLVED);
    client.onEvent(event(RdmaCmEventType.REJECTED, 8));
    assertFalse(client.await(RpingState.CONNECTED));
    assertTrue(text().startsWith("cma event RDMA_CM_EVENT_REJECTED, error 8\nrping: "), text());
    assertTrue(text().endsWith("wait for CONNECTED state 4\n"), text());
  }

  @Test
  void theDeviceGoes() throws Exception {
    client.move(RpingState.RDMA_READ_ADV);
    client.onEvent(event(RdmaCmEventType.DEVICE_REMOVAL, 0));
    assertFalse(client.await(RpingState.RDMA_WRITE_ADV));
    assertEquals("cma detected device removal!!!!\nwait for RDMA_WRITE_ADV state 11\n", text());
  }

  private String text() {
    return errors.toString(StandardCharsets.UTF_8);
  }

  private static RdmaCmEvent event(RdmaCmEventType type, int status) {
    return new RdmaCmEvent(type, status, null, null, null, null, new Ece(0, 0), "");
  }
}
