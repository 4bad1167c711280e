package org.rdma4j.ib.core.verbs;

import java.util.SortedMap;
import java.util.TreeMap;
import org.osgi.annotation.versioning.ProviderType;
import org.rdma4j.roce.address.Guid;

/**
 * A device as its consumers see it: published as a service while the device takes users ({@code ibv_device}). Every
 * bundle gets its own object, so that what it opens belongs to it. Safe for any thread. After the device is gone
 * opening and querying fail with ENODEV.
 */
@ProviderType
public interface RdmaDevice {
  /** Service property: the name, as {@link #name()}. */
  String PROPERTY_DEVICE = "ib.device";

  /** Service property: the index, as {@link #index()}. */
  String PROPERTY_INDEX = "ib.index";

  /** Service property: the node GUID as text. */
  String PROPERTY_NODE_GUID = "ib.node.guid";

  /** Service property: the {@link NodeType} by name. */
  String PROPERTY_NODE_TYPE = "ib.node.type";

  /** Service property: the transport's name. */
  String PROPERTY_TRANSPORT = "ib.transport";

  /** Service property: the {@link LinkLayer} of port 1 as text. */
  String PROPERTY_LINK_LAYER = "ib.link.layer";

  /** Service property: the network interface of port 1; absent where it has none. */
  String PROPERTY_NETDEV = "ib.netdev";

  /** Service property: the driver, as {@link #driver()}. */
  String PROPERTY_DRIVER = "ib.driver";

  /** Service property: what it is a device of, such as a PCI address; absent where it is of nothing. */
  String PROPERTY_PARENT = "ib.parent";

  /** {@return the name, such as {@code rxe0}} */
  String name();

  /** {@return the index that the {@code rdma} tool prints} */
  int index();

  /** {@return the name of the driver, such as {@code rxe}} */
  String driver();

  /** {@return the node GUID} */
  Guid nodeGuid();

  /** {@return what the device is and can do} */
  DeviceAttributes attributes();

  /** {@return how many ports there are; they count from 1} */
  int portCount();

  /**
   * Queries a port.
   *
   * @param port from 1
   * @return its state and attributes now
   * @throws VerbsException EINVAL for a port that does not exist, ENODEV after removal
   */
  PortAttributes port(int port);

  /**
   * What never changes about a port.
   *
   * @param port from 1
   * @return the data read at registration
   * @throws VerbsException EINVAL for a port that does not exist
   */
  PortImmutable portImmutable(int port);

  /**
   * The network interface of a port.
   *
   * @param port from 1
   * @return its name, or null where the port has none
   * @throws VerbsException EINVAL for a port that does not exist, ENODEV after removal
   */
  String netdev(int port);

  /**
   * The GID table of a port.
   *
   * @param port from 1
   * @return the live table
   * @throws VerbsException EINVAL for a port that does not exist
   */
  GidTable gidTable(int port);

  /**
   * A P_Key of a port.
   *
   * @param port from 1
   * @param index 0 to the table's length - 1
   * @return the P_Key, 16 bits
   * @throws VerbsException EINVAL for a port or index that does not exist
   */
  int pkey(int port, int index);

  /**
   * Finds a P_Key of a port ({@code ib_find_cached_pkey}).
   *
   * @param port from 1
   * @param pkey the P_Key; the low 15 bits count
   * @return its index, preferably of a full member; -1 where the port has none
   * @throws VerbsException EINVAL for a port that does not exist
   */
  int findPkey(int port, int pkey);

  /**
   * Reads the counters of a port.
   *
   * @param port from 1
   * @return the hardware counters in the provider's order
   * @throws VerbsException EINVAL for a port that does not exist, ENODEV after removal
   */
  CounterSet counters(int port);

  /**
   * Opens the device under the bundle's symbolic name ({@code ibv_open_device}).
   *
   * @return a context that belongs to the bundle and is closed with it
   * @throws VerbsException ENODEV where the device takes no new users
   */
  Context open();

  /**
   * Opens the device under a name of the caller's choice.
   *
   * @param comm the name that resource tracking shows, such as a command's
   * @return a context that belongs to the bundle and is closed with it
   * @throws VerbsException ENODEV where the device takes no new users
   */
  Context open(String comm);

  /**
   * What the vendor errors in completions of this device mean.
   *
   * @return for each code a clause of a sentence; empty where the provider says nothing
   */
  default SortedMap<Integer, String> vendorErrors() {
    return new TreeMap<>();
  }

  /** {@return the tracked objects of all users of the device} */
  ResourceTable resources();
}
