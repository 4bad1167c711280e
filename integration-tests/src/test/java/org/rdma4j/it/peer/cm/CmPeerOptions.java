package org.rdma4j.it.peer.cm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.rdma4j.rdma.cm.ConnectionParameters;

/** The command line of {@link CmPeerBundle}: role, address, port, then pairs of an option and its value. */
final class CmPeerOptions {
  private final List<String> words;

  CmPeerOptions(List<String> words) {
    this.words = words;
  }

  boolean server() {
    return words.getFirst().equals("serve");
  }

  InetSocketAddress address() {
    return new InetSocketAddress(InetAddress.ofLiteral(words.get(1)), Integer.parseInt(words.get(2)));
  }

  String answer() {
    return value("--answer", "accept");
  }

  byte[] data() {
    return HexFormat.of().parseHex(value("--data", ""));
  }

  ConnectionParameters parameters() {
    int resources = Integer.parseInt(value("--resources", "1"));
    int depth = Integer.parseInt(value("--depth", "1"));
    return ConnectionParameters.DEFAULT.withPrivateData(data()).withDepths(resources, depth);
  }

  int backlog() {
    return Integer.parseInt(value("--backlog", "0"));
  }

  int count() {
    return Integer.parseInt(value("--count", "1"));
  }

  /** What a client waits for before it connects; null for nothing. */
  Path from() {
    return file("--from");
  }

  /** What is waited for; null for nothing. */
  Path until() {
    return file("--until");
  }

  private Path file(String option) {
    String file = value(option, null);
    return file == null ? null : Path.of(file);
  }

  private String value(String option, String otherwise) {
    int at = words.indexOf(option);
    return at < 0 ? otherwise : words.get(at + 1);
  }
}
