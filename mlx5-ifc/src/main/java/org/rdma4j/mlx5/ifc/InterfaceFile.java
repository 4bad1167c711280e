package org.rdma4j.mlx5.ifc;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads {@code mlx5.ifc}, which describes every structure once; its head tells the form. */
final class InterfaceFile {
  private static final InterfaceFile INSTANCE = load();

  private final Map<String, Layout> layouts = new LinkedHashMap<>();
  private final Map<Opcode, Command> commands = new EnumMap<>(Opcode.class);
  private final Map<String, Field> fields = new LinkedHashMap<>();
  private String open;
  private long size;
  private Opcode command;
  private Layout input;

  static InterfaceFile instance() {
    return INSTANCE;
  }

  private static InterfaceFile load() {
    InterfaceFile file = new InterfaceFile();
    try (var reader =
        new BufferedReader(
            new InputStreamReader(InterfaceFile.class.getResourceAsStream("mlx5.ifc"), StandardCharsets.US_ASCII))) {
      // Structures that others hold come first: the second reading finds them all.
      String[] lines = reader.lines().filter(line -> !line.isBlank() && !line.startsWith("#")).toArray(String[]::new);
      for (int pass = 0; pass < 2; pass++) {
        for (String line : lines) {
          file.take(line.strip().split(" "));
        }
        file.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return file;
  }

  private void take(String[] words) {
    switch (words[0]) {
      case "layout" -> {
        close();
        open(words[1], words[2]);
      }
      case "command" -> {
        close();
        command = Opcode.of(Integer.decode(words[1]));
        if (command == null || !command.text().equals(words[2])) {
          throw new IllegalArgumentException("no opcode " + words[1] + " " + words[2]);
        }
      }
      case "in" -> open(command.text() + " input", words[1]);
      case "out" -> {
        input = closed();
        open(command.text() + " output", words[1]);
      }
      default -> fields.put(words[0], field(words));
    }
  }

  private void open(String name, String bytes) {
    open = name;
    size = Long.parseLong(bytes);
    fields.clear();
  }

  private Layout closed() {
    return new Layout(open, size, fields);
  }

  private void close() {
    if (command != null) {
      commands.put(command, new Command(command, input, closed()));
      command = null;
    } else if (open != null) {
      layouts.put(open, closed());
    }
    open = null;
  }

  private Field field(String[] words) {
    long offset = Long.decode(words[1]);
    String shape = words[2];
    if (shape.equals("list")) {
      return Field.ofBytes(words[0], offset, 0, null);
    }
    if (shape.endsWith("B")) {
      long length = Long.parseLong(shape.substring(0, shape.length() - 1));
      return Field.ofBytes(words[0], offset, length, words.length > 3 ? layouts.get(words[3]) : null);
    }
    int colon = shape.indexOf(':');
    return Field.ofBits(
        words[0], offset, Integer.parseInt(shape.substring(0, colon)), Integer.parseInt(shape.substring(colon + 1)));
  }

  Layout layout(String name) {
    Layout found = layouts.get(name);
    if (found == null) {
      throw new IllegalArgumentException("no structure " + name + " among " + layouts.keySet());
    }
    return found;
  }

  Map<Opcode, Command> commands() {
    return commands;
  }
}
