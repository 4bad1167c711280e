package org.rdma4j.ib.core.verbs;

/**
 * Who makes an object: the first frame of the stack outside the core. The text is made when somebody reads it, so that
 * noting costs a walk along a few frames and no more. Holds the caller's class until then.
 */
final class CreationSite {
  private static final StackWalker WALKER = StackWalker.getInstance();
  private static final String VERBS = CreationSite.class.getPackageName() + ".";

  private final StackWalker.StackFrame frame;

  private CreationSite(StackWalker.StackFrame frame) {
    this.frame = frame;
  }

  /** {@return the caller of the core, or null where there is none} */
  static CreationSite find() {
    return WALKER.walk(
        frames ->
            frames
                .filter(each -> !each.getClassName().startsWith(VERBS))
                .findFirst()
                .map(CreationSite::new)
                .orElse(null));
  }

  /** Such as {@code org.example.App.run(App.java:12)}. */
  @Override
  public String toString() {
    return frame.toString();
  }
}
