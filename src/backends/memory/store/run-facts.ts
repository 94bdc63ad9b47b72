import type { AskRecord } from '../../../domain/task/ask.ts';
import type { ChannelValues } from '../../../domain/task/channel.ts';
import type { RunPause } from '../../../domain/task/pause.ts';
import type { Wait } from '../../../domain/task/wait.ts';
import type { SignalBox } from './signal-box.ts';

/** Relations of a task to a workflow. */
export interface RunFacts {
  /** It ends when nothing blocks it, instead of being queued. */
  readonly isJoin: boolean;
  /** The run that it is a member of. */
  readonly owner: string | undefined;
  /** The snapshot that it needs. */
  readonly graph: string | undefined;
  /** Tasks of its latest suspension; it reads those that have ended. */
  waitFor: readonly string[];
  wakeOn: 'all' | 'failure';
  /** When it is woken, even if tasks have not ended. */
  wakeAt: number | undefined;
  /** Token of the lease of its suspension, while its handler may use it. */
  attendedBy: string | undefined;
  /** With `attendedBy`: remaining time of its handler. */
  timeLeft: string | undefined;
  /** Token of a suspension to decide: a pause does not stop it until the next settlement. */
  decidesAfter: string | undefined;
  /** While it is suspended: its wait. */
  wait: Wait | undefined;
  /** Kept signals; created by the first. */
  signals: SignalBox | undefined;
  /** Its questions by mark; created by the first. */
  asks: Map<string, AskEntry> | undefined;
  /** Its journal. */
  readonly journal: Map<string, string>;
  /** Channels of the run; created by the first write. */
  channels: ChannelValues | undefined;
  /** Token and key of the latest checkpoint that wrote to channels. */
  newestWrites: string | undefined;
  /** Its pause, if it is a paused run. */
  pause: RunPause | undefined;
  /** The run whose pauses stop it, for a task stored without `owner`. */
  pausedBy: string | undefined;
  /** It is set aside: the run whose pause stops it. */
  asideFor: string | undefined;
  /** Ids of tasks that its pause has set aside; created by the first. */
  aside: Set<string> | undefined;
}

/** A question of a task. */
export interface AskEntry {
  /** The question. */
  readonly record: AskRecord;
  /** See `readClosing`; absent while it is open. */
  closing: string | undefined;
}

/** Facts of a task outside of workflows. */
export function noRun(): RunFacts {
  return {
    isJoin: false,
    owner: undefined,
    graph: undefined,
    waitFor: [],
    wakeOn: 'all',
    wakeAt: undefined,
    attendedBy: undefined,
    timeLeft: undefined,
    decidesAfter: undefined,
    wait: undefined,
    signals: undefined,
    asks: undefined,
    journal: new Map(),
    channels: undefined,
    newestWrites: undefined,
    pause: undefined,
    pausedBy: undefined,
    asideFor: undefined,
    aside: undefined,
  };
}
