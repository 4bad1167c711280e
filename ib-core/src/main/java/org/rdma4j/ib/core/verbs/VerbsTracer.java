package org.rdma4j.ib.core.verbs;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Sees the verbs of every device, as a service of whoever wants to look; the first one counts. Without one it costs
 * nothing but the look at a field. The core tells of the control path and of the steps of a removal, providers that
 * can of work and completion queues. Called by whoever uses the device, also several threads at once; must not block,
 * throw, or use verbs itself.
 */
@ConsumerType
public interface VerbsTracer {
  /**
   * A device.
   *
   * @param name its name, such as {@code mlx5_0}
   * @param parent what it is a device of, as {@link RdmaDevice#PROPERTY_PARENT}; null where it is of nothing
   */
  record Source(String name, String parent) {}

  /**
   * A verb begins on the calling thread.
   *
   * @param device the device
   * @param verb its name in the kernel's operations, such as {@code create_qp}
   * @param subject what it is about: an object, or what is to be made
   */
  default void begins(Source device, String verb, String subject) {}

  /**
   * The verb that began last on the calling thread ends.
   *
   * @param device the device
   * @param verb its name
   * @param result what was made, the errno of a failure, or an empty text
   */
  default void ends(Source device, String verb, String result) {}

  /**
   * A request was written into a work queue; the device has not been told yet.
   *
   * @param device the device
   * @param queue the queue pair or shared receive queue
   * @param receive whether it is a receive
   * @param entry the request as the device reads it; only to be looked at during the call
   */
  default void posted(Source device, VerbsObject queue, boolean receive, MemorySegment entry) {}

  /**
   * A completion was taken from the queue that the device writes.
   *
   * @param device the device
   * @param queue the completion queue
   * @param entry the completion as the device wrote it; only to be looked at during the call
   */
  default void completed(Source device, VerbsObject queue, MemorySegment entry) {}
}
