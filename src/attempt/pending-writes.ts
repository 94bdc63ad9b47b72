/** Writes of a handler besides its result, buffered until its end is stored. */

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

/** Writes to channels and to XCom. */
export interface HandlerWrites {
  readonly channel: readonly ChannelWrite[];
  readonly xcom: readonly XComWrite[];
}

const NO_XCOM: readonly XComWrite[] = [];

/** Writes of a handler that wrote nothing. */
export const NO_WRITES: HandlerWrites = { channel: NO_CHANNEL, xcom: NO_XCOM };

/** Whether a handler wrote neither to channels nor to XCom, so that nothing needs to be sent. */
export function isNothing({ channel, xcom }: HandlerWrites): boolean {
  return channel.length === 0 && xcom.length === 0;
}

/** Applies writes of a handler that ran without a store: channels last as long as the run, XCom longer. */
export async function applyHere(
  { xcom: values }: { readonly xcom: XComValues },
  channels: LocalChannels,
  { channel, xcom }: HandlerWrites,
): Promise<void> {
  channels.apply(channel);
  if (xcom.length > 0) await values.write(xcom);
}

/** Buffered writes of one attempt to channels and XCom; each part is made on first use. */
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

  /** Metadata, which is written at once. */
  get metadata(): RunMetadata {
    return new HandlerMetadata(this.#store);
  }

  get xcom(): PendingXComWrites {
    this.#xcom ??= new PendingXComWrites(this.#values, this.#user);
    return this.#xcom;
  }

  /** Returns the writes to apply; later writes are refused. */
  take(): HandlerWrites {
    return {
      channel: this.#channels?.take() ?? NO_CHANNEL,
      xcom: this.#xcom?.take() ?? NO_XCOM,
    };
  }
}

/** Fields of a settlement with writes. */
export type SettledWrites = Pick<Settlement, 'channel' | 'xcom'>;

/** The task that writes. */
interface TaskFacts {
  readonly taskId: string;
  /** Absent for a task outside a run, which is its own run. */
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

  /** The writes to apply with a settlement; absent without any. */
  settled(
    own: TaskFacts,
    pending: PendingWrites | undefined,
    { outcome, decision }: { readonly outcome: Outcome; readonly decision: Decision },
  ): SettledWrites | undefined {
    const written = pending?.take() ?? NO_WRITES;
    if (decision.type !== 'finish') return undefined;
    // A decider may turn a failure into a result: that counts, the writes of the handler do not.
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
