/** Measurements of the parts and of the whole system; each prints one JSON document. */
package org.rdma4j.benchmarks;
