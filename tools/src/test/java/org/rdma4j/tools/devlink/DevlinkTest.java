package org.rdma4j.tools.devlink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.rdma4j.mlx5.core.DeviceParameter;
import org.rdma4j.mlx5.core.HealthReporter;
import org.rdma4j.mlx5.core.Mlx5Device;
import org.rdma4j.mlx5.core.Mlx5Errno;
import org.rdma4j.mlx5.core.Mlx5Exception;
import org.rdma4j.tools.Output;

/** The form is that of devlink of iproute2. */
class DevlinkTest {
  private final List<String> calls = new ArrayList<>();
  private final Map<DeviceParameter, Integer> parameters = new EnumMap<>(DeviceParameter.class);
  private final Devlink devlink = new Devlink(List.of(card("0000:05:00.0"), card("0000:03:00.0")));

  private Mlx5Device card(String name) {
    return (Mlx5Device)
        Proxy.newProxyInstance(
            Mlx5Device.class.getClassLoader(),
            new Class<?>[] {Mlx5Device.class},
            (proxy, method, arguments) -> call(name, method.getName(), arguments));
  }

  private Object call(String name, String method, Object[] arguments) {
    switch (method) {
      case "name":
        return name;
      case "firmwareVersion":
        return "16.35.1000";
      case "boardId":
        return "MT_0000000008";
      case "parameter":
        DeviceParameter parameter = (DeviceParameter) arguments[0];
        if (arguments.length == 1) {
          return parameters.getOrDefault(parameter, parameter.initial());
        }
        if ((int) arguments[1] > parameter.most()) {
          throw new Mlx5Exception(Mlx5Errno.EINVAL, parameter.text() + " is too large");
        }
        parameters.put(parameter, (int) arguments[1]);
        return null;
      case "healthReporters":
        return List.of(
            new HealthReporter("fw", true, 0, 0, null, null, 0, false),
            new HealthReporter("fw_fatal", false, 2, 1, Instant.EPOCH, "dump", 60_000, true));
      default:
        calls.add(method + (arguments == null ? "" : " " + arguments[0]));
        return null;
    }
  }

  @Test
  void cards() {
    assertEquals(new Output(0, "pci/0000:03:00.0\npci/0000:05:00.0\n", ""), Output.of(devlink, "dev"));
    assertEquals("pci/0000:05:00.0\n", Output.of(devlink, "dev", "show", "pci/0000:05:00.0").out());
    assertEquals(
        """
        pci/0000:03:00.0:
          driver mlx5_core
          versions:
              fixed:
                fw.psid MT_0000000008
              running:
                fw.version 16.35.1000
                fw 16.35.1000
        """,
        Output.of(devlink, "dev", "info", "pci/0000:03:00.0").out());
  }

  @Test
  void settings() {
    assertEquals(
        """
        pci/0000:03:00.0:
          name io_eq_size type generic
            values:
              cmode driverinit value 1024
        """,
        Output.of(devlink, "dev", "param", "show", "pci/0000:03:00.0", "name", "io_eq_size").out());
    assertEquals(new Output(0, "", ""), Output.of(devlink, set("enable_roce", "false")));
    assertEquals(0, parameters.get(DeviceParameter.ENABLE_ROCE));
    assertTrue(Output.of(devlink, "dev", "param").out().contains("value false\n"));
    assertEquals(
        new Output(0, "reload_actions_performed:\n    driver_reinit\n", ""),
        Output.of(devlink, "dev", "reload", "pci/0000:03:00.0"));
    assertEquals(List.of("reload"), calls);
  }

  @Test
  void health() {
    String shown = Output.of(devlink, "health", "show", "pci/0000:03:00.0").out();
    assertTrue(
        shown.matches(
            "pci/0000:03:00.0:\n  reporter fw\n    state healthy error 0 recover 0 auto_dump true\n"
                + "  reporter fw_fatal\n    state error error 2 recover 1 last_dump_date \\S+ last_dump_time \\S+"
                + " grace_period 60000 auto_recover true auto_dump true\n"),
        shown);
    Output.of(devlink, "health", "recover", "pci/0000:03:00.0", "reporter", "fw_fatal");
    Output.of(devlink, "health", "set", "pci/0000:03:00.0", "reporter", "fw_fatal", "grace_period", "500");
    assertEquals(List.of("recover", "gracePeriod 500"), calls);
  }

  @Test
  void mistakes() {
    fails("Object \"port\" not found", "port");
    fails("Command \"eject\" not found", "dev", "eject");
    fails("kernel answers: No such device", "dev", "show", "pci/0000:04:00.0");
    fails("Wrong identification string format.\nExpected \"bus_name/dev_name\".", "dev", "show", "mlx5_0");
    fails("Device identification (\"bus_name/dev_name\") is expected", "dev", "reload");
    fails("kernel answers: io_eq_size is too large", set("io_eq_size", "9999"));
    fails(
        "kernel answers: Operation not supported", "health", "recover", "pci/0000:03:00.0", "reporter", "fw");
    assertTrue(Output.of(devlink, "help").out().startsWith("Usage: devlink OBJECT"));
  }

  private static String[] set(String name, String value) {
    return ("dev param set pci/0000:03:00.0 name " + name + " value " + value + " cmode driverinit").split(" ");
  }

  private void fails(String message, String... arguments) {
    assertEquals(new Output(1, "", message + "\n"), Output.of(devlink, arguments));
  }
}
