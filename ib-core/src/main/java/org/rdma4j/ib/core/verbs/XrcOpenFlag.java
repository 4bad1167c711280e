package org.rdma4j.ib.core.verbs;

/** How an XRC domain is opened ({@code oflags} of {@code struct ibv_xrcd_init_attr}). */
public enum XrcOpenFlag {
  /** Make the domain where there is none of the name ({@code O_CREAT}). */
  CREATE,
  /** Fail where there is one of the name already ({@code O_EXCL}). */
  EXCLUSIVE
}
