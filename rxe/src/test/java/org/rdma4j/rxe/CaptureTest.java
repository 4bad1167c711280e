package org.rdma4j.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.client.CaptureSource.Capture;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.ReceiveWorkRequest;
import org.rdma4j.ib.core.verbs.SendFlag;
import org.rdma4j.ib.core.verbs.SendWorkRequest;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.roce.address.PathMtu;

class CaptureTest {
  private static final int BTH_AND_ICRC = 16;
  private TestLink link;
  private End a;
  private End b;

  @BeforeEach
  void open() {
    link = TestLink.open("rxe0");
    a = new End(link, QpType.RC, 1000);
    b = new End(link, QpType.RC, 1000);
    a.connect(b, PathMtu.MTU_1024);
    b.connect(a, PathMtu.MTU_1024);
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    link.close();
  }

  private void exchange() {
    b.qp.postReceive(new ReceiveWorkRequest().addSge(b.region.address(), 100, b.region.lkey()));
    a.qp.postSend(
        new SendWorkRequest().flags(SendFlag.SIGNALED).addSge(a.region.address(), 100, a.region.lkey()));
    b.nextSuccess();
    a.nextSuccess();
  }

  @Test
  void everyPacketIsThereOnceForEachDirection() throws IOException {
    exchange();
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    Capture capture = link.device.capture().start(Channels.newChannel(file));
    assertTrue(capture.isActive());
    VerbsException e =
        assertThrows(VerbsException.class, () -> link.device.capture().start(Channels.newChannel(file)));
    assertEquals(Errno.EBUSY, e.errno());
    exchange();
    capture.close();
    assertFalse(capture.isActive());
    capture.close();
    // Where the machine lets the peer wait, the requester asks again: each time a request and an acknowledge more.
    assertTrue(capture.packets() >= 4, "a SEND and its acknowledge, sent and received");
    assertTrue(capture.bytes() >= 2 * (BTH_AND_ICRC + 100) + 2 * (BTH_AND_ICRC + 4));
    int length = file.size();
    assertTrue(length > capture.bytes());
    exchange();
    assertEquals(length, file.size(), "nothing comes after the end");
    link.device.capture().start(Channels.newChannel(new ByteArrayOutputStream())).close();
  }

  @Test
  void aDestinationThatFailsEndsTheCaptureOnly() throws IOException {
    Capture capture =
        link.device
            .capture()
            .start(
                new WritableByteChannel() {
                  @Override
                  public int write(ByteBuffer source) throws IOException {
                    throw new IOException("no space");
                  }

                  @Override
                  public boolean isOpen() {
                    return true;
                  }

                  @Override
                  public void close() {}
                });
    exchange();
    while (capture.isActive()) {
      exchange();
    }
    assertThrows(IOException.class, capture::close);
    exchange();
  }

  @Test
  void theEndOfTheDeviceEndsTheCapture() throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    Capture capture = link.device.capture().start(Channels.newChannel(file));
    exchange();
    link.device.capture().close();
    assertFalse(capture.isActive());
    assertTrue(file.size() > 0, "what was captured is written");
    VerbsException e =
        assertThrows(VerbsException.class, () -> link.device.capture().start(Channels.newChannel(file)));
    assertEquals(Errno.ENODEV, e.errno());
  }
}
