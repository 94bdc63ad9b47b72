/** A state: a colour, a symbol and a word, never one of them alone. */
import type { ComponentChildren, VNode } from 'preact';
import { Icon, type IconName } from './icon.tsx';

/** A colour that says something: states of tasks, and how well a thing is. */
export type Tone =
  | 'bad'
  | 'canceled'
  | 'deferred'
  | 'failed'
  | 'finished'
  | 'gone'
  | 'ok'
  | 'pending'
  | 'queued'
  | 'scheduled'
  | 'skipped'
  | 'started'
  | 'warn';

/** How other words of the server look: outcomes of attempts, states of asks, schedules and bulk actions. */
const LOOKS: Readonly<Record<string, readonly [Tone, IconName]>> = {
  canceled: ['canceled', 'canceled'],
  deferred: ['deferred', 'deferred'],
  failed: ['failed', 'failed'],
  finished: ['finished', 'finished'],
  queued: ['queued', 'queued'],
  scheduled: ['scheduled', 'scheduled'],
  started: ['started', 'started'],
  pending: ['pending', 'pending'],
  skipped: ['skipped', 'skipped'],
  gone: ['gone', 'gone'],
  succeeded: ['finished', 'finished'],
  lost: ['warn', 'lost'],
  released: ['queued', 'again'],
  answered: ['finished', 'finished'],
  open: ['started', 'asks'],
  'timed-out': ['failed', 'schedules'],
  ended: ['canceled', 'canceled'],
  active: ['finished', 'ok'],
  paused: ['warn', 'paused'],
  over: ['canceled', 'idle'],
  running: ['started', 'started'],
  refused: ['failed', 'lock'],
  done: ['finished', 'finished'],
};

interface Props {
  /** A word of the server. */
  readonly state: string;
  /** On a ground of its colour. */
  readonly chip?: boolean;
  readonly children?: ComponentChildren;
}

/** A state as the server calls it, or with other words. */
export function StateLabel({ state, chip = false, children = state }: Props): VNode {
  const [tone, icon] = LOOKS[state] ?? ['queued', 'idle'];
  return (
    <span class={`state t-${tone}${chip ? ' chip' : ''}`}>
      <Icon name={icon} />
      <span>{children}</span>
    </span>
  );
}

/** The colour of a state. */
export function toneOf(state: string): Tone {
  return LOOKS[state]?.[0] ?? 'queued';
}

/** The symbol of a state. */
export function iconOf(state: string): IconName {
  return LOOKS[state]?.[1] ?? 'idle';
}
