package org.rdma4j.rdma.cm.ib;

import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import org.rdma4j.roce.address.Gid;

/** By what ids are found (kernel: {@code struct ib_cm}). Guarded by the manager's lock. */
final class CmTables {
  /** Something of a peer: a communication id or a queue pair of a node. */
  record Remote(int number, long caGuid) {}

  private record Service(Object device, long id) {}

  private record Question(int id, Gid from) {}

  private static final long ASSIGNED = 0x00ff_ffff_ffff_ffffL;

  private final int operand = new SecureRandom().nextInt();
  private final Map<Integer, CmId> local = new HashMap<>();
  private final Map<Service, CmId> listeners = new HashMap<>();
  private final Map<Remote, CmId> remoteIds = new HashMap<>();
  private final Map<Remote, CmId> remoteQps = new HashMap<>();
  private final Map<Question, CmId> questions = new HashMap<>();
  private int next;
  private long assigned = 1;

  /** Gives an id its number: all in turn, disguised so that what is left of an earlier life is not met again. */
  int add(CmId id) {
    int number;
    do {
      number = next++ ^ operand;
    } while (number == 0 || local.containsKey(number));
    local.put(number, id);
    return number;
  }

  void remove(CmId id) {
    local.remove(id.localId(), id);
    removeRemote(id);
  }

  CmId local(int number) {
    return local.get(number);
  }

  /** The id of a pair of numbers, as both sides know the connection. */
  CmId pair(int localNumber, int remoteNumber) {
    CmId id = local.get(localNumber);
    return id != null && id.connection.remoteId == remoteNumber ? id : null;
  }

  /** A service id that was not given before, and that nobody can choose (kernel: {@code listen_service_id}). */
  long assignServiceId() {
    return CmChecks.ASSIGN_SERVICE_ID | assigned++ & ASSIGNED;
  }

  CmId listener(Object device, long serviceId) {
    return listeners.get(new Service(device, serviceId));
  }

  /** Whether the id listens now; another may be there already. */
  boolean listen(CmId id, Object device, long serviceId) {
    return listeners.putIfAbsent(new Service(device, serviceId), id) == null;
  }

  void unlisten(CmId id, Object device, long serviceId) {
    listeners.remove(new Service(device, serviceId), id);
  }

  CmId remoteId(int number, long caGuid) {
    return remoteIds.get(new Remote(number, caGuid));
  }

  /** Enters the peer's number; who has it already, or null when the id has it now. */
  CmId addRemoteId(CmId id) {
    return remoteIds.putIfAbsent(id.connection.remoteKey(), id);
  }

  /** Enters the peer's queue pair; whose peer it is already, or null. */
  CmId addRemoteQp(CmId id) {
    return remoteQps.putIfAbsent(id.connection.remoteQpKey(), id);
  }

  /** The peer is nobody's peer any more. */
  void removeRemote(CmId id) {
    remoteIds.remove(id.connection.remoteKey(), id);
    remoteQps.remove(id.connection.remoteQpKey(), id);
  }

  /** Enters a question; whether it is new. */
  boolean addQuestion(CmId id, int number, Gid from) {
    return questions.putIfAbsent(new Question(number, from), id) == null;
  }

  void removeQuestion(CmId id, int number, Gid from) {
    questions.remove(new Question(number, from), id);
  }

  /** All that is entered anywhere: 0 when nothing is left of any connection. */
  int size() {
    return local.size() + listeners.size() + remoteIds.size() + remoteQps.size() + questions.size();
  }
}
