/** The cases, and what they are made of. Nothing here is for others. */
package org.rdma4j.provider.contract.suite;
