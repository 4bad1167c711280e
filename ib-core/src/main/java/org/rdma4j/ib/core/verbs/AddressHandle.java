package org.rdma4j.ib.core.verbs;

import org.osgi.annotation.versioning.ProviderType;

/** The way to a peer of a datagram queue pair ({@code struct ib_ah}, {@code ibv_create_ah}). Safe for any thread. */
@ProviderType
public abstract class AddressHandle extends VerbsObject {
  /**
   * For providers.
   *
   * @param owner what {@link IbDevice#createAh} was given
   */
  protected AddressHandle(ObjectContext owner) {
    super(owner, ObjectKind.ADDRESS_HANDLE);
  }

  /** {@return the way, with the source GID filled in} */
  public final AhAttributes attributes() {
    return owner().ah();
  }

  /** {@return the protection domain} */
  public final ProtectionDomain protectionDomain() {
    return owner().protectionDomain();
  }

  /**
   * Provider: ends the handle; sends posted before may still use what it stands for.
   *
   * @throws VerbsException where the device refuses; the handle stays
   */
  protected abstract void doDestroy();

  @Override
  final void providerDestroy() {
    doDestroy();
  }

  @Override
  final void released() {
    owner().source().release();
  }
}
