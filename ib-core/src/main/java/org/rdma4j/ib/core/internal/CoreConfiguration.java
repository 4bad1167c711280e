package org.rdma4j.ib.core.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** Configuration {@code org.rdma4j.ib.core}. */
@ObjectClassDefinition(
    name = "InfiniBand core",
    description = "Patience with clients, users and providers of devices that come and go")
@interface CoreConfiguration {
  @AttributeDefinition(
      name = "Client warning (ms)",
      description = "After how long a client that does not return is named in the log, with its stack",
      min = "1")
  long client_warn_millis() default 5_000;

  @AttributeDefinition(
      name = "Client limit (ms)",
      description = "After how long such a client is left behind and the device goes on without it",
      min = "1")
  long client_limit_millis() default 30_000;

  @AttributeDefinition(
      name = "Provider warning (ms)",
      description = "After how long a provider that does not end an object is named in the log, with its stack",
      min = "1")
  long provider_warn_millis() default 5_000;

  @AttributeDefinition(
      name = "Provider limit (ms)",
      description = "After how long such a provider is left behind and its device goes without it",
      min = "1")
  long provider_limit_millis() default 30_000;

  @AttributeDefinition(
      name = "Creation sites",
      description =
          "Whether contexts and objects remember who made them, so that the log can tell it of a bundle that stops and"
              + " leaves some; costs about a microsecond an object")
  boolean creation_sites() default true;
}
