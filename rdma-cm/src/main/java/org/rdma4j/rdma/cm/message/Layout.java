package org.rdma4j.rdma.cm.message;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.rdma4j.ib.core.mad.MadBytes;
import org.rdma4j.ib.core.mad.MadField;
import org.rdma4j.ib.core.mad.MadHeader;

/** Where the parts of a message are; filled by the class of that message. */
final class Layout {
  private final String name;
  private final int attribute;
  private final List<MadField> fields = new ArrayList<>();
  private final List<MadBytes> areas = new ArrayList<>();

  /**
   * Describes a message that has no parts yet.
   *
   * @param attribute the attribute id of its MADs
   */
  Layout(String name, int attribute) {
    this.name = name;
    this.attribute = attribute;
  }

  String name() {
    return name;
  }

  int attribute() {
    return attribute;
  }

  List<MadField> fields() {
    return Collections.unmodifiableList(fields);
  }

  /** The last is the private data. */
  List<MadBytes> areas() {
    return Collections.unmodifiableList(areas);
  }

  /**
   * Adds a number.
   *
   * @param offset of its first byte behind the header of the MAD
   * @param bit where it begins in that byte, 0 the most significant
   */
  MadField bits(String field, int offset, int bit, int width) {
    MadField added = new MadField(field, MadHeader.BYTES + offset, bit, width);
    fields.add(added);
    return added;
  }

  /**
   * Adds bytes.
   *
   * @param offset of the first behind the header of the MAD
   */
  MadBytes bytes(String area, int offset, int length) {
    MadBytes added = new MadBytes(area, MadHeader.BYTES + offset, length);
    areas.add(added);
    return added;
  }
}
