/** What a suspended task waits for that is no task, and what such a wait comes to. */
import type { AskSpec } from './ask.ts';

/** What ends a wait before its time is over. */
export type WaitTarget =
  /** Nothing but its time, which it has to have. */
  | { readonly kind: 'time' }
  | {
      readonly kind: 'signal';
      /** Of the signal. */
      readonly name: string;
      /** Whose signals it takes, in this order: its own, those of its run. */
      readonly targets: readonly string[];
    }
  | {
      readonly kind: 'ask';
      /** What is asked. */
      readonly ask: AskSpec;
    }
  | {
      readonly kind: 'event';
      /** Of the event. */
      readonly name: string;
      /** What it is about. */
      readonly key: string;
    };

/** Kinds of waits, in the order in which they are shown. */
export const WAIT_KINDS: readonly WaitTarget['kind'][] = ['time', 'signal', 'ask', 'event'];

/** How many tasks wait for one kind of thing. */
export interface WaitFigure {
  /** What they wait for. */
  readonly kind: WaitTarget['kind'];
  /** How many. */
  readonly count: number;
  /** Since when the one that has waited longest does, in ms since the epoch; absent when none waits. */
  readonly since?: number;
}

/** A wait of a suspended task. */
export interface Wait {
  /** What it waits for. */
  readonly for: WaitTarget;
  /** The field of its journal that the answer is written to; begins with `=`. */
  readonly entry: string;
  /** An event: one that was published up to so long ago will do, the newest. */
  readonly withinMs?: number;
}

/** What a wait came to. */
export interface WaitAnswer {
  /** What ended it; `time`: nothing else came before. */
  readonly by: WaitTarget['kind'];
  /** When, in ms since the epoch, by the backend's clock. */
  readonly at: number;
  /** JSON text that came with it; empty for `time`. */
  readonly payload: string;
}

/** A signal on its way to a task or run. */
export interface SignalMessage {
  /** What it is waited for by. */
  readonly name: string;
  /** JSON text. */
  readonly payload: string;
  /** Names it: sent again under this id it changes nothing. */
  readonly signalId?: string | undefined;
}

/** An event on its way to the tasks that wait for it. */
export interface WaitEvent {
  /** What it is waited for by, with `key`. */
  readonly name: string;
  /** What it is about. */
  readonly key: string;
  /** JSON text. */
  readonly payload: string;
  /** Names it: published again under this id it changes nothing. */
  readonly eventId: string;
  /** How long it is kept for waits that look back. */
  readonly keepMs: number;
}

/** What became of a signal. */
export type SignalReply =
  /** `delivered`: it has ended a wait. `buffered`: it is kept for the next one. `repeated`: it was sent before. */
  | { readonly kind: 'delivered' | 'buffered' | 'repeated' | 'not-found' }
  /** The task has ended: it waits for no signal any more. */
  | { readonly kind: 'ended'; readonly state: 'finished' | 'failed' | 'canceled' }
  /** So much is kept for it already that nothing more is. */
  | { readonly kind: 'full'; readonly limit: 'signals' | 'signalBytes' };

/** Begins the fields of a journal that the store writes: answers of waits. */
export const ANSWER = '=';

/** An answer as its field holds it. */
export function answerText({ by, at, payload }: WaitAnswer): string {
  return `${at} ${by} ${payload}`;
}

/** Reads what {@link answerText} wrote, or the store. */
export function readAnswer(text: string): WaitAnswer {
  const [at = '', by = ''] = text.split(' ', 2);
  return {
    by: by === 'signal' || by === 'ask' || by === 'event' ? by : 'time',
    at: Number(at),
    payload: text.slice(at.length + by.length + 2),
  };
}
