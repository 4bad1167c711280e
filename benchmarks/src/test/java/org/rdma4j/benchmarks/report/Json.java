package org.rdma4j.benchmarks.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads JSON strictly, into maps, lists, strings, doubles, booleans and null. */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value();
    json.skip();
    json.require(json.at == text.length());
    return value;
  }

  private Object value() {
    skip();
    char c = text.charAt(at);
    if (c == '{') {
      return object();
    }
    if (c == '[') {
      return array();
    }
    if (c == '"') {
      return string();
    }
    int start = at;
    while (at < text.length() && ",]} \n".indexOf(text.charAt(at)) < 0) {
      at++;
    }
    String word = text.substring(start, at);
    return switch (word) {
      case "true" -> true;
      case "false" -> false;
      case "null" -> null;
      default -> Double.parseDouble(word);
    };
  }

  private Map<String, Object> object() {
    Map<String, Object> members = new LinkedHashMap<>();
    expect('{');
    while (!accept('}')) {
      if (!members.isEmpty()) {
        expect(',');
      }
      skip();
      String name = string();
      expect(':');
      require(!members.containsKey(name));
      members.put(name, value());
    }
    return members;
  }

  private List<Object> array() {
    List<Object> elements = new ArrayList<>();
    expect('[');
    while (!accept(']')) {
      if (!elements.isEmpty()) {
        expect(',');
      }
      elements.add(value());
    }
    return elements;
  }

  private String string() {
    StringBuilder string = new StringBuilder();
    require(text.charAt(at++) == '"');
    while (text.charAt(at) != '"') {
      char c = text.charAt(at++);
      if (c == '\\') {
        c = text.charAt(at++);
        require(c == '"' || c == '\\');
      }
      string.append(c);
    }
    at++;
    return string.toString();
  }

  private void skip() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private boolean accept(char c) {
    skip();
    if (text.charAt(at) != c) {
      return false;
    }
    at++;
    return true;
  }

  private void expect(char c) {
    require(accept(c));
  }

  private void require(boolean holds) {
    if (!holds) {
      throw new IllegalArgumentException("no JSON at " + at + ": " + text.substring(Math.min(at, text.length())));
    }
  }
}
