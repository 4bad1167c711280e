package org.rdma4j.roce.engine;

/** A completion as it was reported. */
record Done(
    long id, CompletionStatus status, FailedCheck check, int opcode, int byteLength, int immediate, int flags,
    int sourceQp, int pkeyIndex, boolean solicited) {

  static Done of(Completion from, boolean solicited) {
    return new Done(
        from.id, from.status, from.check, from.opcode, from.byteLength, from.immediate, from.flags, from.sourceQp,
        from.pkeyIndex, solicited);
  }
}
