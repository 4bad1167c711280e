/** The one format of all measurements, for programs and for people. */
package org.rdma4j.benchmarks.report;
