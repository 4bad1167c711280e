package org.rdma4j.rdma.cm.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.ib.core.verbs.Errno;
import org.rdma4j.ib.core.verbs.QpInitAttributes;
import org.rdma4j.ib.core.verbs.QpType;
import org.rdma4j.ib.core.verbs.VerbsException;
import org.rdma4j.rdma.cm.RdmaCm;
import org.rdma4j.rdma.cm.RdmaCmId;
import org.rdma4j.rdma.cm.verbs.AddressInfo.Flag;

/** Which calls make an endpoint, in which order, at a manager that notes them. */
class EndpointsTest {
  private static final InetSocketAddress HERE = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 7);
  private static final InetSocketAddress THERE = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.2"), 7);
  private static final AddressInfo ACTIVE = complete(AddressInfo.ANY.withSource(HERE).withDestination(THERE));
  private static final AddressInfo PASSIVE = complete(AddressInfo.ANY.withSource(HERE).with(Flag.PASSIVE));

  private final List<String> calls = new ArrayList<>();
  private final RdmaCm manager = noting(RdmaCm.class);
  private String failing = "none";

  @Test
  void activeOneIsResolvedAndHasItsQueuePair() {
    Endpoints.createEndpoint(manager, ACTIVE, null, new QpInitAttributes(QpType.RC));
    assertEquals(
        List.of(
            "createId[null, TCP, null]",
            "resolveAddress[/192.0.2.1:7, /192.0.2.2:7, PT2S]",
            "resolveRoute[PT2S]",
            "createQp[null, RC]"),
        calls);
  }

  @Test
  void withoutAttributesThereIsNoQueuePair() {
    Endpoints.createEndpoint(manager, ACTIVE, null, null);
    assertEquals("resolveRoute[PT2S]", calls.getLast());
  }

  @Test
  void passiveOneIsBoundAndKnowsTheQueuePairsToCome() {
    Endpoints.createEndpoint(manager, PASSIVE, null, new QpInitAttributes(QpType.RC));
    assertEquals(
        List.of("createId[null, TCP, null]", "bindAddress[/192.0.2.1:7]", "requestAttributes[null, RC]"), calls);
  }

  @Test
  void nothingIsLeftOfOneThatFails() {
    for (String step : List.of("resolveAddress", "resolveRoute", "createQp")) {
      failing = step;
      calls.clear();
      var e =
          assertThrows(
              VerbsException.class,
              () -> Endpoints.createEndpoint(manager, ACTIVE, null, new QpInitAttributes(QpType.RC)));
      assertEquals(Errno.ENODEV, e.errno());
      assertEquals("close[]", calls.getLast());
    }
  }

  @Test
  void whatCannotBeIsRefusedAtOnce() {
    AddressInfo nowhere = AddressInfo.ANY;
    assertRefused(() -> Endpoints.createEndpoint(manager, nowhere, null, null));
    assertRefused(() -> Endpoints.createEndpoint(manager, PASSIVE.withSource(null), null, null));
    assertRefused(() -> Endpoints.createEndpoint(manager, ACTIVE, null, new QpInitAttributes(QpType.UD)));
    assertEquals(List.of(), calls);
  }

  private static void assertRefused(Runnable call) {
    assertEquals(Errno.EINVAL, assertThrows(VerbsException.class, call::run).errno());
  }

  private static AddressInfo complete(AddressInfo hints) {
    return AddressInfo.getAddressInfo(null, null, hints).getFirst();
  }

  private <T> T noting(Class<T> type) {
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          Object[] given = arguments == null ? new Object[0] : arguments;
          List<String> words =
              Arrays.stream(given)
                  .map(each -> each instanceof QpInitAttributes init ? init.type().name() : String.valueOf(each))
                  .toList();
          calls.add(method.getName() + words);
          if (method.getName().equals(failing)) {
            throw new VerbsException(Errno.ENODEV, failing);
          }
          return method.getReturnType() == RdmaCmId.class ? noting(RdmaCmId.class) : null;
        };
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
