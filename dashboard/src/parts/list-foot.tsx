/** Below a list and above it: more of it, and since when it stands still. */
import type { VNode } from 'preact';
import { now } from '../state/clock.ts';
import { momentText } from '../words/lengths.ts';
import { Button } from './button.tsx';

/** What a list says of its pages. */
interface Paged {
  readonly more: (() => void) | undefined;
  readonly again: () => void;
  readonly stoodAt: number | undefined;
}

/** Nothing when all is there. */
export function ListFoot({ pages }: { readonly pages: Paged }): VNode | null {
  if (pages.more === undefined) return null;
  return (
    <footer class="more">
      <Button onPress={pages.more}>Show more</Button>
    </footer>
  );
}

/** Says that rows stand still while later pages are read; nothing while the list is kept fresh. */
export function StandsStill({
  pages: { stoodAt, again },
}: {
  readonly pages: Paged;
}): VNode | null {
  if (stoodAt === undefined) return null;
  return (
    <span class="push line">
      <span class="dim">as of {momentText(stoodAt, now.value)}</span>
      <Button small={true} icon="again" onPress={again}>
        Read again
      </Button>
    </span>
  );
}
