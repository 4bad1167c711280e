package org.rdma4j.rdma.cm.ib;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.ib.core.mad.MadHeader;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.rdma.cm.message.CapturedMads;
import org.rdma4j.rdma.cm.message.CmAttribute;
import org.rdma4j.rdma.cm.message.Dreq;
import org.rdma4j.rdma.cm.message.Rej;
import org.rdma4j.rdma.cm.message.Rep;
import org.rdma4j.rdma.cm.message.Req;
import org.rdma4j.rdma.cm.message.Rtu;
import org.rdma4j.roce.address.PathMtu;

/**
 * Takes one end of a conversation of two kernels: what the manager sends is, byte for byte, what the kernel sent, but
 * for the numbers that each side makes up.
 */
class CapturedConversationTest {
  private static final byte[] NOTHING = {};

  private final VirtualTime time = new VirtualTime();
  private final List<MemorySegment> sent = new ArrayList<>();
  private final List<CmEvent> events = new ArrayList<>();
  private final List<CmId> ids = new ArrayList<>();
  private final IbCm manager = new IbCm(time);

  private SimulatedPort port(long guid) {
    return new SimulatedPort(time, guid, (from, mad, to) -> sent.add(mad));
  }

  private CmHandler.Verdict handle(CmId id, CmEvent event) {
    ids.add(id);
    events.add(event);
    return CmHandler.Verdict.KEEP;
  }

  private static List<MemorySegment> of(String capture, CmAttribute kind) throws IOException {
    return CapturedMads.of(capture).stream()
        .filter(mad -> MadHeader.ATTRIBUTE_ID.getInt(mad) == kind.id())
        .toList();
  }

  private void hear(CmPort port, MemorySegment mad, MemorySegment req, boolean atPassive) {
    CmAddress back =
        new CmAddress(
            (atPassive ? Req.PRIMARY_REMOTE_PORT_GID : Req.PRIMARY_LOCAL_PORT_GID).getGid(req),
            (atPassive ? Req.PRIMARY_LOCAL_PORT_GID : Req.PRIMARY_REMOTE_PORT_GID).getGid(req),
            0xffff, 0, 0, 64, 0);
    manager.receive(port, new ReceivedCm(mad, back));
    time.runUntil(time.now() + 1);
  }

  /** Another number of ours in place of the kernel's. */
  private static MemorySegment copy(MemorySegment mad) {
    return MemorySegment.ofArray(mad.toArray(ValueLayout.JAVA_BYTE));
  }

  private static void assertSame(MemorySegment kernel, MemorySegment ours) {
    assertArrayEquals(kernel.toArray(ValueLayout.JAVA_BYTE), ours.toArray(ValueLayout.JAVA_BYTE));
  }

  @ParameterizedTest
  @ValueSource(strings = {"cm-reject-no-listener", "cm-reject-no-listener-ipv6"})
  void whenNobodyListens(String capture) throws IOException {
    MemorySegment req = of(capture, CmAttribute.REQ).getFirst();
    hear(port(1), req, req, true);
    assertEquals(1, sent.size());
    assertSame(of(capture, CmAttribute.REJ).getFirst(), sent.getFirst());
    assertEquals(RejectReason.INVALID_SERVICE_ID.number(), Rej.REASON.getInt(sent.getFirst()));
    assertEquals(0, manager.size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"cm-rping", "cm-rping-ipv6", "cm-rdma-client", "cm-ucmatose", "perftest-send-bw-cm"})
  void theAnsweringSide(String capture) throws IOException {
    MemorySegment req = of(capture, CmAttribute.REQ).getFirst();
    MemorySegment rep = of(capture, CmAttribute.REP).getFirst();
    SimulatedPort port = port(Rep.LOCAL_CA_GUID.get(rep));
    CmId listener = manager.create(port, this::handle);
    listener.listen(Req.SERVICE_ID.get(req));
    hear(port, req, req, true);
    CmId id = ids.getFirst();
    id.sendRep(
        new RepParameters(
            Rep.LOCAL_QPN.getInt(rep),
            Rep.STARTING_PSN.getInt(rep),
            Rep.RESPONDER_RESOURCES.getInt(rep),
            Rep.INITIATOR_DEPTH.getInt(rep),
            Rep.FAILOVER_ACCEPTED.getInt(rep),
            Rep.END_TO_END_FLOW_CONTROL.isSet(rep),
            Rep.RNR_RETRY_COUNT.getInt(rep),
            Rep.SRQ.isSet(rep),
            0,
            MadHeader.ATTRIBUTE_MODIFIER.getInt(rep),
            Rep.PRIVATE_DATA.get(rep)));
    MemorySegment expected = copy(rep);
    Rep.LOCAL_COMM_ID.setInt(expected, id.localId());
    assertSame(expected, sent.getFirst());
    MemorySegment rtu = copy(of(capture, CmAttribute.RTU).getFirst());
    Rtu.REMOTE_COMM_ID.setInt(rtu, id.localId());
    hear(port, rtu, req, true);
    assertEquals(CmState.ESTABLISHED, id.state());
    MemorySegment dreq = copy(of(capture, CmAttribute.DREQ).getFirst());
    int asker = Dreq.LOCAL_COMM_ID.getInt(dreq) == Req.LOCAL_COMM_ID.getInt(req) ? id.localId() : 0;
    if (asker != 0) {
      Dreq.REMOTE_COMM_ID.setInt(dreq, asker);
      hear(port, dreq, req, true);
      id.sendDrep(NOTHING);
      MemorySegment drep = copy(of(capture, CmAttribute.DREP).getFirst());
      Dreq.LOCAL_COMM_ID.setInt(drep, asker);
      assertSame(drep, sent.get(1));
    }
    id.destroy();
    listener.destroy();
    assertEquals(0, manager.size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"cm-rping", "cm-rping-ipv6", "cm-rdma-client", "cm-ucmatose", "perftest-send-bw-cm"})
  void theAskingSide(String capture) throws IOException {
    MemorySegment req = of(capture, CmAttribute.REQ).getFirst();
    SimulatedPort port = port(Req.LOCAL_CA_GUID.get(req));
    CmId id = manager.create(port, this::handle);
    id.sendReq(asked(req));
    MemorySegment expected = copy(req);
    Req.LOCAL_COMM_ID.setInt(expected, id.localId());
    MadHeader.TRANSACTION_ID.set(expected, MadHeader.TRANSACTION_ID.get(sent.getFirst()));
    assertSame(expected, sent.getFirst());
    MemorySegment rep = copy(of(capture, CmAttribute.REP).getFirst());
    Rep.REMOTE_COMM_ID.setInt(rep, id.localId());
    hear(port, rep, req, false);
    id.sendRtu(NOTHING);
    MemorySegment rtu = copy(of(capture, CmAttribute.RTU).getFirst());
    Rtu.LOCAL_COMM_ID.setInt(rtu, id.localId());
    MadHeader.TRANSACTION_ID.set(rtu, MadHeader.TRANSACTION_ID.get(sent.get(1)));
    assertSame(rtu, sent.get(1));
    assertEquals(CmState.ESTABLISHED, id.state());
    id.destroy();
    assertEquals(0, manager.size());
  }

  private static ReqParameters asked(MemorySegment req) {
    CmAddress address =
        new CmAddress(
            Req.PRIMARY_LOCAL_PORT_GID.getGid(req),
            Req.PRIMARY_REMOTE_PORT_GID.getGid(req),
            Req.PARTITION_KEY.getInt(req),
            Req.PRIMARY_TRAFFIC_CLASS.getInt(req),
            Req.PRIMARY_FLOW_LABEL.getInt(req),
            Req.PRIMARY_HOP_LIMIT.getInt(req),
            Req.PRIMARY_SL.getInt(req));
    PathMtu mtu = PathMtu.ofCode(Req.PATH_PACKET_PAYLOAD_MTU.getInt(req));
    return new ReqParameters(
        new CmPath(address, mtu, Req.PRIMARY_PACKET_RATE.getInt(req), 18),
        Req.SERVICE_ID.get(req),
        Req.LOCAL_QPN.getInt(req),
        QpType.RC,
        Req.STARTING_PSN.getInt(req),
        Req.RESPONDER_RESOURCES.getInt(req),
        Req.INITIATOR_DEPTH.getInt(req),
        Req.LOCAL_CM_RESPONSE_TIMEOUT.getInt(req),
        Req.END_TO_END_FLOW_CONTROL.isSet(req),
        Req.RETRY_COUNT.getInt(req),
        Req.RNR_RETRY_COUNT.getInt(req),
        Req.MAX_CM_RETRIES.getInt(req),
        Req.SRQ.isSet(req),
        Req.VENDOR_ID.getInt(req),
        MadHeader.ATTRIBUTE_MODIFIER.getInt(req),
        Req.PRIVATE_DATA.get(req));
  }

  @Test
  void whatWasHeardIsWhatWasSaid() throws IOException {
    MemorySegment req = of("cm-rping", CmAttribute.REQ).getFirst();
    SimulatedPort port = port(1);
    CmId listener = manager.create(port, this::handle);
    listener.listen(Req.SERVICE_ID.get(req));
    hear(port, req, req, true);
    CmEvent.ReqReceived heard = (CmEvent.ReqReceived) events.getFirst();
    assertEquals(0x71, heard.remoteQpn());
    assertEquals(0x033951, heard.startingPsn());
    assertEquals(PathMtu.MTU_4096, heard.path().mtu());
    assertEquals(18, heard.path().lifeTime());
    assertEquals(0x40, Arrays.copyOf(heard.privateData(), 2)[1]);
    ids.getFirst().destroy();
    listener.destroy();
    assertEquals(0, manager.size());
  }
}
