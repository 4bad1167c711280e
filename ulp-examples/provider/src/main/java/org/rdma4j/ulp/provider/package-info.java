/**
 * A provider to start from: devices without hardware that copy memory. As little as a provider can be that keeps the
 * contract, written to be read: begin with {@code LoopBundle}, {@code LoopDevice}, {@code LoopQp}.
 */
package org.rdma4j.ulp.provider;
