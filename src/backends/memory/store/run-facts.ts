import type { AskRecord } from '../../../domain/task/ask.ts';
import type { ChannelValues } from '../../../domain/task/channel.ts';
import type { RunPause } from '../../../domain/task/pause.ts';
import type { Wait } from '../../../domain/task/wait.ts';
import type { SignalBox } from './signal-box.ts';

/** What ties a task to a workflow. */
export interface RunFacts {
  /** It ends when nothing blocks it, instead of being queued. */
  readonly isJoin: boolean;
  /** The run whose member it is. */
  readonly owner: string | undefined;
  /** The snapshot that it needs. */
  readonly graph: string | undefined;
  /** Whom it waited for when it was suspended last, and reads since they have ended. */
  waitFor: readonly string[];
  wakeOn: 'all' | 'failure';
  /** When it is woken, even if tasks have not ended. */
  wakeAt: number | undefined;
  /** The token of the lease that it was suspended under, while its handler may speak by it. */
  attendedBy: string | undefined;
  /** With `attendedBy`: what its handler had left of its time. */
  timeLeft: string | undefined;
  /** The token that it was suspended under to decide: a pause does not hold it while nothing was settled since. */
  decidesAfter: string | undefined;
  /** While it is suspended: what it waits for that is no task. */
  wait: Wait | undefined;
  /** Sent to it; made by the first. */
  signals: SignalBox | undefined;
  /** What it has asked, by the mark of each; made by the first. */
  asks: Map<string, AskEntry> | undefined;
  /** What it has written down. */
  readonly journal: Map<string, string>;
  /** What its members share; made by the first write. */
  channels: ChannelValues | undefined;
  /** The token and the key of the newest checkpoint that wrote to channels. */
  newestWrites: string | undefined;
  /** It is a run, and paused. */
  pause: RunPause | undefined;
  /** The run whose pauses hold it, for one that was stored without `owner`. */
  pausedBy: string | undefined;
  /** It was set aside when its turn came: the run whose pause holds it. */
  asideFor: string | undefined;
  /** Ids of those that its pause has set aside; made by the first. */
  aside: Set<string> | undefined;
}

/** A question of a task. */
export interface AskEntry {
  /** As it was put. */
  readonly record: AskRecord;
  /** See `readClosing`; absent while it is open. */
  closing: string | undefined;
}

/** Of a task that has no part in any. */
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
