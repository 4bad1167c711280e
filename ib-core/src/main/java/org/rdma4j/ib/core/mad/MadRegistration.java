package org.rdma4j.ib.core.mad;

import java.util.Set;

/**
 * Which MADs an agent wants that nobody here asked for (kernel: {@code struct ib_mad_reg_req}).
 *
 * @param managementClass class, below 0x50
 * @param classVersion version of the class, below 0x83
 * @param methods methods without the bit of answers
 */
public record MadRegistration(int managementClass, int classVersion, Set<Integer> methods) {
  /** Copies the methods. */
  public MadRegistration {
    methods = Set.copyOf(methods);
  }
}
