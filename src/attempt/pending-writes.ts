/** What a handler writes beside its result, pending until its end is written down. */

import type { Outcome } from '../domain/attempt/decider.ts';
import type { Backend, Decision, LeaseRef, RunStore, Settlement } from '../domain/port/backend.ts';
import type { ChannelWrite } from '../domain/task/channel.ts';
import type { XComWrite } from '../domain/task/xcom.ts';
import type { RunMetadata } from '../workflow/metadata.ts';
import type { TaskDefinition } from '../workflow/task-definition.ts';
import {
  type ChannelStore,
  type LocalChannels,
  NO_WRITES as NO_CHANNEL,
  PendingChannelWrites,
  StoredChannels,
} from './channels.ts';
import { HandlerMetadata } from './metadata.ts';
import { PendingXComWrites, type XComValues } from './xcom.ts';

/** What was written to channels, and to XCom. */
export interface HandlerWrites {
  readonly channel: readonly ChannelWrite[];
  readonly xcom: readonly XComWrite[];
}

const NO_XCOM: readonly XComWrite[] = [];

/** Of a handler that wrote nothing. */
export const NO_WRITES: HandlerWrites = { channel: NO_CHANNEL, xcom: NO_XCOM };

/** Whether a handler wrote neither to channels nor values, so that nothing is to be sent for it. */
export function isNothing({ channel, xcom }: HandlerWrites): boolean {
  return channel.length === 0 && xcom.length === 0;
}

/** What a handler wrote that ran here and has succeeded: its channels end with the run, its values stay. */
export async function applyHere(
  { xcom: values }: { readonly xcom: XComValues },
  channels: LocalChannels,
  { channel, xcom }: HandlerWrites,
): Promise<void> {
  channels.apply(channel);
  if (xcom.length > 0) await values.write(xcom);
}

/** What one attempt writes to channels and to XCom; each is kept from when its handler first asks for it. */
export class PendingWrites {
  readonly #store: ChannelStore;
  readonly #values: XComValues;
  readonly #user: string;
  #channels: PendingChannelWrites | undefined;
  #xcom: PendingXComWrites | undefined;

  constructor(store: ChannelStore, values: XComValues, user: string) {
    this.#store = store;
    this.#values = values;
    this.#user = user;
  }

  get channels(): PendingChannelWrites {
    this.#channels ??= new PendingChannelWrites(this.#store);
    return this.#channels;
  }

  /** Written at once. */
  get metadata(): RunMetadata {
    return new HandlerMetadata(this.#store);
  }

  get xcom(): PendingXComWrites {
    this.#xcom ??= new PendingXComWrites(this.#values, this.#user);
    return this.#xcom;
  }

  /** What is to be applied; nothing can be written any more. */
  take(): HandlerWrites {
    return {
      channel: this.#channels?.take() ?? NO_CHANNEL,
      xcom: this.#xcom?.take() ?? NO_XCOM,
    };
  }
}

/** What goes with a settlement. */
export type SettledWrites = Pick<Settlement, 'channel' | 'xcom'>;

/** Whose writes they are. */
interface TaskFacts {
  readonly taskId: string;
  /** Absent for a task that stands alone, and is its own run. */
  readonly runId: string | undefined;
  readonly user: string;
  readonly lease: LeaseRef;
  readonly definition: TaskDefinition;
}

/** Makes the pending writes of stored tasks. */
export class TaskWrites {
  readonly #runs: RunStore;
  readonly #values: XComValues;

  constructor({ backend, xcom }: { readonly backend: Backend; readonly xcom: XComValues }) {
    this.#runs = backend.runs;
    this.#values = xcom;
  }

  newFor(own: TaskFacts): PendingWrites {
    const store = new StoredChannels(this.#runs, runOf(own), own);
    return new PendingWrites(store, this.#values, own.user);
  }

  /** What is to be applied when a task is settled; absent when nothing is. */
  settled(
    own: TaskFacts,
    pending: PendingWrites | undefined,
    { outcome, decision }: { readonly outcome: Outcome; readonly decision: Decision },
  ): SettledWrites | undefined {
    const written = pending?.take() ?? NO_WRITES;
    if (decision.type !== 'finish') return undefined;
    // A decider may let a failure pass: its result counts, what the handler wrote does not.
    const { channel, xcom } = outcome.type === 'succeeded' ? written : NO_WRITES;
    const result = this.#values.resultOf(own.definition, own.user, decision.result);
    const values = result === undefined ? xcom : [...xcom, result];
    if (isNothing({ channel, xcom: values })) return undefined;
    return {
      ...(channel.length === 0 ? {} : { channel: { run: runOf(own), writes: channel } }),
      ...(values.length === 0 ? {} : { xcom: values }),
    };
  }
}

function runOf({ runId, taskId }: TaskFacts): string {
  return runId ?? taskId;
}
