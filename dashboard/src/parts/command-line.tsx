/** A command that does what can be clicked, to be copied. */
import type { VNode } from 'preact';
import { say } from '../state/overlay.ts';
import { Icon } from './icon.tsx';

/** One command, cut where it is too long, or `wide` over several lines. */
export function CommandLine({ text, wide = false }: { text: string; wide?: boolean }): VNode {
  return (
    <span class={wide ? 'cmd wide' : 'cmd'}>
      <code title={text}>{text}</code>
      <button
        type="button"
        aria-label={`Copy the command ${text}`}
        title="Copy"
        onClick={() => void copy(text)}
      >
        <Icon name="copy" size={14} />
      </button>
    </span>
  );
}

/** Into the clipboard, where the browser lets us. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say('Copied');
  } catch {
    say('The browser does not let this page copy', 'bad');
  }
}
