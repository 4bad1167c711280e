package org.rdma4j.it.peer;

/** The peer, or what talks to it, did not do what a test needs to go on. */
final class PeerException extends RuntimeException {
  PeerException(String message) {
    super(message);
  }

  PeerException(String message, Throwable cause) {
    super(message, cause);
  }
}
