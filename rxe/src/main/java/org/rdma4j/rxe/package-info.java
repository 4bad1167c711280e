/** The software RoCEv2 provider, as {@code drivers/infiniband/sw/rxe}. */
package org.rdma4j.rxe;
