package org.rdma4j.rdma.cm.message;

import java.util.List;
import java.util.Optional;
import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadField;

/** The messages of communication management (IBA volume 1, chapter 12; kernel: {@code enum cm_attr_id}). */
public enum CmAttribute {
  REQ(Req.LAYOUT),
  MRA(Mra.LAYOUT),
  REJ(Rej.LAYOUT),
  REP(Rep.LAYOUT),
  RTU(Rtu.LAYOUT),
  DREQ(Dreq.LAYOUT),
  DREP(Drep.LAYOUT),
  SIDR_REQ(SidrReq.LAYOUT),
  SIDR_REP(SidrRep.LAYOUT),
  LAP(Lap.LAYOUT),
  APR(Apr.LAYOUT);

  private static final int FIRST = 0x10;

  private final Layout layout;

  CmAttribute(Layout layout) {
    this.layout = layout;
  }

  /** The attribute id of its MADs. */
  public int id() {
    return layout.attribute();
  }

  /** Its numbers. */
  public List<MadField> fields() {
    return layout.fields();
  }

  /** Its GIDs, additional information and private data. */
  public List<MadBytes> areas() {
    return layout.areas();
  }

  /** Room for what the consumers tell each other. */
  public MadBytes privateData() {
    return layout.areas().getLast();
  }

  /** The message with an attribute id, if there is one. */
  public static Optional<CmAttribute> of(int id) {
    int index = id - FIRST;
    return index >= 0 && index < values().length ? Optional.of(values()[index]) : Optional.empty();
  }
}
