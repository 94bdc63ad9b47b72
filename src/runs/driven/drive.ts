/** Drives a run under one lease: continues from its journal and returns how the lease ends. */

import type { SubRunner } from '../../attempt/attempt-context.ts';
import { channelError } from '../../attempt/channels.ts';
import type { OwnEnd, OwnLease } from '../../attempt/own-lease.ts';
import { persist } from '../../attempt/persist.ts';
import { callUserCode } from '../../base/async-scope.ts';
import { inChunks } from '../../base/chunks.ts';
import { errorText } from '../../codec/task-error.ts';
import type { Outcome } from '../../domain/attempt/decider.ts';
import {
  InvalidOptionError,
  InvalidPayloadError,
  isFinalGroup,
  isOwn,
  waitAskedBy,
} from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import { refOf } from '../../domain/port/leasing.ts';
import { hasVersion } from '../../domain/task/task-name.ts';
import type { WalkSpec } from '../../graph/run-walk.ts';
import type { Registry } from '../../handlers/registry.ts';
import { drivenMemberOf, type RunPlace, runGivenOf, runPlaceOf, type Seed } from '../record.ts';
import type { EarlyEnd } from './journal-fields.ts';
import { memberBlock } from './members.ts';
import { Producer, type ProducerTools, type WalkMove } from './producer.ts';
import { JournalLost, RunJournal } from './run-journal.ts';
import { SubRuns } from './sub-runs.ts';

/** Parts of the worker that drive a run, without those of a single lease. */
export type DriveTools = Omit<ProducerTools, 'persist'>;

/** The tools of a worker, with its registered policies. */
export function driveToolsOf(
  parts: Omit<DriveTools, 'policy'> & { readonly registry: Registry },
): DriveTools {
  const policy: DriveTools['policy'] = (name) => {
    const known = parts.registry.policy(name);
    if (known !== undefined) return (members) => callUserCode(known.decide, members);
    throw new InvalidOptionError(`policy ${name}`, 'a policy that is registered here', undefined);
  };
  return { ...parts, policy };
}

/** Drives a run, or a member that is more than one task, as far as possible. */
export async function drive(tools: DriveTools, own: OwnLease): Promise<OwnEnd> {
  try {
    return await new Drive(tools, own).run();
  } catch (error) {
    if (error instanceof JournalLost) return { type: 'lost' };
    throw error;
  }
}

/** Runs steps for the handler of a plain task; its journal is read at the first step. */
export function subRunnerOf(
  tools: DriveTools,
  own: OwnLease,
  version: string | undefined,
): SubRunner {
  let opened: Promise<RunJournal> | undefined;
  const { backend, graphs } = tools;
  const again = <T>(call: () => Promise<T>): Promise<T> => persist(tools, own.signal, call);
  const open = async (): Promise<RunJournal> => {
    const fields = await again(() => backend.runs.load(own.lease.id));
    const parts = { backend, holder: own, graphs, prefix: '', persist: again };
    const journal = RunJournal.of(parts, fields);
    const { edited } = runPlaceOf(own.lease.options) ?? {};
    if (edited !== undefined) journal.begin(EDITED, edited, STEPS);
    return journal;
  };
  const journal = (): Promise<RunJournal> => {
    // A failure is not kept: the handler may try again.
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const runs = new SubRuns({ ...tools, persist: again }, own, {
    journal,
    prefix: STEPS,
    within: '',
    code: { version, isKept: hasVersion(own.lease.name) },
  });
  const { attempt, releases } = own.lease;
  return runs.runnerFor({ failures: attempt - 1, releases });
}

class Drive {
  readonly #tools: ProducerTools;
  readonly #own: OwnLease;

  constructor(tools: DriveTools, own: OwnLease) {
    this.#own = own;
    const { signal } = own;
    this.#tools = { ...tools, persist: (call) => persist(tools, signal, call) };
  }

  async run(): Promise<OwnEnd> {
    const { lease, signal, trace } = this.#own;
    const { backend, graphs, codec } = this.#tools;
    const fields = await this.#tools.persist(() => backend.runs.load(lease.id));
    const parts = { backend, holder: this.#own, graphs, prefix: '', persist: this.#tools.persist };
    const journal = RunJournal.of(parts, fields);
    const early = journal.earlyEnd;
    if (early !== undefined) return ENDED;
    const place = runPlaceOf(lease.options);
    if (place === undefined) throw new InvalidPayloadError('$', 'has no run');
    const given = runGivenOf(codec, lease.payload);
    await this.#seed(journal, place.id, given.seed);
    const spec = await this.#specOf(place, given.input);
    const { id: taskId, user, queue } = lease;
    const producer = new Producer(this.#tools, {
      facts: {
        ...{ taskId, runId: place.id, user, queue, level: lease.level, codec },
        said: place.said,
      },
      holder: this.#own,
      journal,
      prefix: '',
      signal,
      trace,
      checkpoint: checkpointOf(lease.options),
      edits: given.edits,
      maxWaitMs: LIMITS.nodeWaitMs,
      runnersOf: (prefix, code) => {
        const place = { journal: async () => journal, prefix, within: '', code };
        return new SubRuns(this.#tools, this.#own, place).runnerFor;
      },
    });
    return this.#endOf(await producer.walk(spec), journal, spec.isMember);
  }

  /** Stores the run's seed before it starts anything. */
  async #seed(journal: RunJournal, run: string, seed: Seed | undefined): Promise<void> {
    const { backend, persist: again } = this.#tools;
    if (seed === undefined || journal.text(SEEDED) !== undefined) return;
    const writes = Object.entries(seed.channels ?? {}).map(
      ([field, text]) => ({ type: 'set', field, text }) as const,
    );
    // Repeatable after a crash: nothing else writes before these values are stored.
    for (const some of inChunks(writes, LIMITS.channelWrites)) {
      const call = { run, writes: some };
      const lease = refOf(this.#own.lease);
      const answer = await again(() => backend.runs.writeChannel(lease, call));
      if (answer === 'lost') throw new JournalLost();
      if (answer !== 'ok') throw channelError(answer);
    }
    journal.adopt({ ...seed.fields, [SEEDED]: '1' });
    await journal.flush();
  }

  async #specOf({ graph: hash, said }: RunPlace, input: unknown): Promise<WalkSpec> {
    const { lease } = this.#own;
    const { graphs, codec, persist: again } = this.#tools;
    const { graph } = await again(() => graphs.get(hash));
    const { maxSteps } = said ?? {};
    const member = drivenMemberOf(codec, lease.payload);
    if (member === undefined) {
      return { graph, block: graph, input, isMember: false, maxSteps };
    }
    const block = memberBlock(graph, member.path);
    if (block === undefined) throw new InvalidPayloadError('$.path', 'has no member');
    return { graph, block, input, isMember: true, maxSteps };
  }

  async #endOf(move: WalkMove, journal: RunJournal, isMember: boolean): Promise<OwnEnd> {
    // No handler would continue: the end of a member may end the run, even while it is paused.
    if (move.type === 'wait') {
      return { type: 'settle', decision: { ...move.suspension, decides: true } };
    }
    if (move.type === 'paused') {
      await journal.flush();
      return PAUSED;
    }
    if (move.type === 'left') {
      const { delayMs, cause } = move;
      return {
        type: 'settle',
        decision: { type: 'release', delayMs: Math.max(delayMs, LIMITS.releaseMinMs), cause },
      };
    }
    const { ending, failureType, node, task } = move;
    switch (ending.type) {
      case 'finished':
        return this.#finished(ending.value);
      case 'terminated':
        if (!isMember) return this.#finished(ending.value);
        return this.#endRun(journal, ending.value);
      case 'canceled':
        return { type: 'settle', decision: { type: 'cancel', cause: ending.cause } };
      case 'failed': {
        // Finished steps do not run again when the run is repeated.
        await journal.flush();
        const error = errorText(ending.error);
        const outcome = {
          ...failed(error, failureType, isRetryable(ending.error)),
          ...askedWait(ending.error),
          ...(node === undefined ? {} : { node }),
          ...(task === undefined ? {} : { task }),
        };
        return { type: 'outcome', outcome };
      }
    }
  }

  #finished(value: unknown): OwnEnd {
    try {
      const result = this.#tools.codec.result(this.#own.lease.name, value);
      return { type: 'settle', decision: { type: 'finish', result } };
    } catch (error) {
      return { type: 'outcome', outcome: failed(errorText(error), 'invalid-result', false) };
    }
  }

  /** Stores how a member ended its run, for its producer: a canceled task has no result. */
  async #endRun(journal: RunJournal, value: unknown): Promise<OwnEnd> {
    let end: EarlyEnd;
    try {
      end = { text: this.#tools.codec.result('terminate', value) };
    } catch (error) {
      return { type: 'outcome', outcome: failed(errorText(error), 'invalid-result', false) };
    }
    journal.noteEarlyEnd(end);
    await journal.flush();
    return ENDED;
  }
}

/** Prefix of a handler's runs in the journal of its own task. */
const STEPS = 's:';

/** Field with the mark of the edited input. */
const EDITED = 'e:';

/** Field that marks a stored seed. */
const SEEDED = 'seeded';

const ENDED: OwnEnd = {
  type: 'settle',
  decision: { type: 'cancel', cause: { type: 'terminate' } },
};

/** It continues from its journal after the pause; this is no attempt. */
const PAUSED: OwnEnd = {
  type: 'settle',
  decision: { type: 'release', cause: { type: 'paused' } },
};

type Failed = Outcome & { readonly type: 'failed' };

function failed(error: string, failureType: Failed['failureType'], retryable: boolean): Failed {
  return { type: 'failed', failureType, retryable, error };
}

/** Errors of the engine have a flag for that; errors of handlers are retryable. */
function isRetryable(error: unknown): boolean {
  if (isOwn(error, 'GROUP_FAILED')) return !isFinalGroup(error);
  return !isOwn(error) || error.retryable;
}

/** The delay that a node or a member of a group requested on its last attempt. */
function askedWait(error: unknown): { readonly afterMs?: number } {
  const asked = waitAskedBy(error);
  return asked === undefined ? {} : { afterMs: asked.delayMs };
}

/** When the run stores its progress. */
function checkpointOf(storedOptions: string): 'node' | 'group' {
  const options: unknown = JSON.parse(storedOptions);
  const isObject = typeof options === 'object' && options !== null;
  return isObject && Reflect.get(options, 'checkpoint') === 'group' ? 'group' : 'node';
}
