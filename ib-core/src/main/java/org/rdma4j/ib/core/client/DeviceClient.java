package org.rdma4j.ib.core.client;

import org.osgi.annotation.versioning.ConsumerType;
import org.rdma4j.ib.core.verbs.Context;

/**
 * A kernel style user of every device ({@code struct ib_client}): register an instance as a service under this
 * interface and it is told of each device that is there and that comes. Clients are told of a device in the order of
 * their registration (higher service ranking first, then lower service id) and of its removal in reverse. Calls for one
 * device never overlap. They come on a thread of the core, and a client that does not return is named in the log with
 * its stack, after 5 seconds, and left behind after 30, unless the configuration {@code org.rdma4j.ib.core} says
 * otherwise.
 */
@ConsumerType
public interface DeviceClient {
  /** {@return the name in log messages and in resource tracking} */
  default String name() {
    return getClass().getSimpleName();
  }

  /**
   * A device is there. A client that throws is not told of the removal, and what it made in the context is destroyed;
   * others are not affected.
   *
   * @param context the client's own way to the device; the core closes it after {@link #remove}
   */
  void add(Context context);

  /**
   * The device goes, or this client does. Nothing can be created any more but address handles, to say goodbye with;
   * the client stops its work, may drain and destroy what it made, and returns. What is left is destroyed afterwards.
   *
   * @param context the same as in {@link #add}
   */
  void remove(Context context);
}
