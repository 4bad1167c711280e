/** Rings shared with the engine, in the memory layout of the kernel's {@code rdma_user_rxe.h}. */
package org.rdma4j.rxe.ring;
