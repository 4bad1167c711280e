package org.rdma4j.ib.core.verbs;

/** Finds who makes an object: the first frame of the stack outside the core, as text, so that it holds no class. */
final class CreationSite {
  private static final StackWalker WALKER = StackWalker.getInstance();
  private static final String VERBS = CreationSite.class.getPackageName() + ".";

  private CreationSite() {}

  /** {@return the caller of the core, such as {@code org.example.App.run(App.java:12)}} */
  static String find() {
    return WALKER.walk(
        frames ->
            frames
                .filter(each -> !each.getClassName().startsWith(VERBS))
                .findFirst()
                .map(StackWalker.StackFrame::toString)
                .orElse("nowhere"));
  }
}
