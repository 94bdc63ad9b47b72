/** What may be wider or longer than its place. */
import type { ComponentChildren, Ref, VNode } from 'preact';

interface ScrollerProps {
  /** What is in it. */
  readonly label: string;
  readonly kind?: string;
  readonly box?: Ref<HTMLDivElement>;
  readonly children: ComponentChildren;
}

/** Scrolls by itself, and can be reached by the keyboard. */
export function Scroller({ label, kind = 'scroll', box, children }: ScrollerProps): VNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a set of fields is something else.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
    <div class={kind} ref={box ?? null} role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
