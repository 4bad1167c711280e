package org.rdma4j.it.peer;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests against a Linux guest, which they get as a parameter of type {@link LinuxPeer}; all share one. What the
 * environment variable {@code RDMA_PEER} says:
 *
 * <ul>
 *   <li>{@code auto}, or nothing: they run where a guest can run, else they are skipped with the reason; nothing is
 *       installed on this machine for them
 *   <li>{@code require}: they run, missing packages are installed, and where no guest can run that is a failure
 *   <li>{@code off}: they are skipped
 * </ul>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("peer")
@ExtendWith(PeerExtension.class)
@interface PeerTest {}
