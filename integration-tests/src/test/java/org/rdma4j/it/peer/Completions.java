package org.rdma4j.it.peer;

import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Completions as {@code pv} prints them, in short: work request, then {@code ok} with what was done, for a receive its
 * length and immediate; or {@code flushed}; or {@code error} with the status. What the standard leaves open for a
 * completion (the length of a send, everything but the identifier of a failure) is left out, and so is the order
 * between the two queues: the send queue's completions come first, each queue's in their order.
 */
final class Completions {
  private static final Pattern LINE =
      Pattern.compile(
          "completion wr_id (\\d+) status (\\d+) opcode (\\d+) byte_len (\\d+) flags 0x([0-9a-f]+) vendor_err \\S+"
              + "( imm 0x[0-9a-f]+)?");
  private static final int FIRST_RECEIVE_ID = 100;
  private static final int FLUSHED = 5;
  private static final int FIRST_RECEIVE_OPCODE = 128;
  private static final int WITH_INVALIDATE = 4;
  private static final Map<Integer, String> OPCODES =
      Map.of(
          0, "send",
          1, "write",
          2, "read",
          3, "compare-swap",
          4, "fetch-add",
          5, "bind",
          6, "local-inv",
          128, "recv",
          129, "recv-write");

  private Completions() {}

  static List<String> parse(String output) {
    List<MatchResult> all = LINE.matcher(output).results().toList();
    return Stream.concat(
            all.stream().filter(each -> !isReceive(each)), all.stream().filter(Completions::isReceive))
        .map(Completions::brief)
        .toList();
  }

  private static boolean isReceive(MatchResult line) {
    return Integer.parseInt(line.group(1)) >= FIRST_RECEIVE_ID;
  }

  private static String brief(MatchResult line) {
    String wrId = line.group(1);
    int status = Integer.parseInt(line.group(2));
    int opcode = Integer.parseInt(line.group(3));
    if (status != 0) {
      return wrId + (status == FLUSHED ? " flushed" : " error " + status);
    }
    String done = wrId + " ok " + OPCODES.getOrDefault(opcode, "opcode " + opcode);
    if (opcode < FIRST_RECEIVE_OPCODE) {
      return done;
    }
    boolean invalidated = (Integer.parseInt(line.group(5), 16) & WITH_INVALIDATE) != 0;
    String immediate = line.group(6) == null ? "" : line.group(6);
    return done + " " + line.group(4) + immediate + (invalidated ? " invalidated" : "");
  }
}
