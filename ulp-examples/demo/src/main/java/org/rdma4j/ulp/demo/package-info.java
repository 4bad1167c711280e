/**
 * The demonstration: two devices, traffic between them, their provider stopped under it and started again. What is
 * printed is counted by the traffic itself, and what was promised is checked.
 */
package org.rdma4j.ulp.demo;
