/** Waits of suspended tasks for signals, events, people and times, and the answers to them. */
import type { AskSpec } from './ask.ts';

/** What ends a wait before its timeout. */
export type WaitTarget =
  /** Only its timeout, which is required. */
  | { readonly kind: 'time' }
  | {
      readonly kind: 'signal';
      /** Name of the signal. */
      readonly name: string;
      /** Ids whose signals it takes, in this order: its own, that of its run. */
      readonly targets: readonly string[];
    }
  | {
      readonly kind: 'ask';
      /** The question. */
      readonly ask: AskSpec;
    }
  | {
      readonly kind: 'event';
      /** Name of the event. */
      readonly name: string;
      /** Key of the event. */
      readonly key: string;
    };

/** Kinds of waits, in the order of their display. */
export const WAIT_KINDS: readonly WaitTarget['kind'][] = ['time', 'signal', 'ask', 'event'];

/** Number of waits of one kind. */
export interface WaitFigure {
  /** Kind of the wait. */
  readonly kind: WaitTarget['kind'];
  /** Number of waiting tasks. */
  readonly count: number;
  /** Start of the longest wait, in ms since the epoch; absent without one. */
  readonly since?: number;
}

/** A wait of a suspended task. */
export interface Wait {
  /** What ends it. */
  readonly for: WaitTarget;
  /** Field of its journal for the answer; begins with `=`. */
  readonly entry: string;
  /** Event: one published at most this many ms ago also ends the wait; the newest does. */
  readonly withinMs?: number;
}

/** The answer to a wait. */
export interface WaitAnswer {
  /** What ended the wait; `time`: its timeout. */
  readonly by: WaitTarget['kind'];
  /** Moment of the answer, in ms since the epoch, by the backend's clock. */
  readonly at: number;
  /** JSON text of its data; empty for `time`. */
  readonly payload: string;
}

/** A signal to a task or run. */
export interface SignalMessage {
  /** Name of the signal. */
  readonly name: string;
  /** JSON text. */
  readonly payload: string;
  /** Id of the signal: a repeated one changes nothing. */
  readonly signalId?: string | undefined;
}

/** An event for the tasks that wait for it. */
export interface WaitEvent {
  /** Name of the event. */
  readonly name: string;
  /** Key of the event. */
  readonly key: string;
  /** JSON text. */
  readonly payload: string;
  /** Id of the event: a repeated one changes nothing. */
  readonly eventId: string;
  /** How long it is kept for waits that look back, in ms. */
  readonly keepMs: number;
}

/** Result of a signal. */
export type SignalReply =
  /** `delivered`: it ended a wait. `buffered`: it is kept for the next one. `repeated`: it was sent before. */
  | { readonly kind: 'delivered' | 'buffered' | 'repeated' | 'not-found' }
  /** The task has ended. */
  | { readonly kind: 'ended'; readonly state: 'finished' | 'failed' | 'canceled' }
  /** The task has as many kept signals, or as many bytes of them, as it may have. */
  | { readonly kind: 'full'; readonly limit: 'signals' | 'signalBytes' };

/** First character of journal fields that the store writes: answers of waits. */
export const ANSWER = '=';

/** Text of an answer in its journal field. */
export function answerText({ by, at, payload }: WaitAnswer): string {
  return `${at} ${by} ${payload}`;
}

/** Parses the text of {@link answerText}, which the store may have written. */
export function readAnswer(text: string): WaitAnswer {
  const [at = '', by = ''] = text.split(' ', 2);
  return {
    by: by === 'signal' || by === 'ask' || by === 'event' ? by : 'time',
    at: Number(at),
    payload: text.slice(at.length + by.length + 2),
  };
}
