package org.rdma4j.it.container;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.inject.Inject;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.ops4j.pax.exam.Configuration;
import org.ops4j.pax.exam.Option;
import org.ops4j.pax.exam.junit.PaxExam;
import org.ops4j.pax.exam.spi.reactors.ExamReactorStrategy;
import org.ops4j.pax.exam.spi.reactors.PerClass;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.service.component.runtime.ServiceComponentRuntime;
import org.osgi.service.component.runtime.dto.ComponentConfigurationDTO;

/** The bundles of the product, as they are shipped. */
@RunWith(PaxExam.class)
@ExamReactorStrategy(PerClass.class)
public class ProductIT {
  @Rule public final LogWatch log = new LogWatch();

  @Inject BundleContext context;
  @Inject ServiceComponentRuntime components;

  @Configuration
  public Option[] config() throws Exception {
    return new Option[] {Installed.product()};
  }

  @Test
  public void allOurBundlesAreActive() {
    Set<String> ours =
        Arrays.stream(context.getBundles())
            .filter(bundle -> bundle.getSymbolicName().startsWith("org.rdma4j."))
            .filter(bundle -> bundle.getState() == Bundle.ACTIVE)
            .map(Bundle::getSymbolicName)
            .collect(Collectors.toSet());
    assertTrue(
        "only " + ours,
        ours.containsAll(
            Set.of(
                "org.rdma4j.pci", "org.rdma4j.mlx5.ifc", "org.rdma4j.mlx5.core", "org.rdma4j.mlx5.device",
                "org.rdma4j.mlx5.ib", "org.rdma4j.roce", "org.rdma4j.ib.core", "org.rdma4j.rxe",
                "org.rdma4j.rdma.cm", "org.rdma4j.tools")));
  }

  @Test
  public void noComponentFails() {
    List<String> failed =
        components.getComponentDescriptionDTOs().stream()
            .flatMap(description -> components.getComponentConfigurationDTOs(description).stream())
            .filter(component -> component.state == ComponentConfigurationDTO.FAILED_ACTIVATION)
            .map(component -> component.description.name + ": " + component.failure)
            .toList();
    assertEquals(List.of(), failed);
  }
}
