/** The main program: one command and its status, or the shell. */
package org.rdma4j.tools.launcher;
