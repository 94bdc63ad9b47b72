/** What workers decide about the tasks they hold. */

import type { Decision, Suspension } from '../../src/domain/port/backend.ts';
import type { Cause } from '../../src/domain/task/cause.ts';
import { ANSWER, type Wait, type WaitTarget } from '../../src/domain/task/wait.ts';
import { UNKNOWN } from './items.ts';
import { ended, type World } from './oracle/world.ts';
import { type AwaitedStep, CHOICES, type DecisionStep, type WaitStep } from './steps.ts';

const ERROR = '{"name":"Error","message":"no"}';

/** What a decision may refer to. */
export interface Around {
  readonly id: string;
  /** Of the lease. */
  readonly token: string;
  readonly ids: readonly string[];
  readonly world: World;
  /** Whom those wait for that are suspended earlier in the same call. */
  readonly pending: ReadonlyMap<string, readonly string[]>;
}

const RETRIED: Cause = { type: 'attempts', failure: 'error', made: 1, of: 2 };

/** Every other task has thrown something; what the others did, has no fingerprint. */
function fatal(id: string): Cause {
  const { length } = id;
  const fingerprint = `f${length}`;
  return { type: 'fatal', failure: 'error', ...(length % 2 === 0 ? { fingerprint } : {}) };
}

/** The decision that a step stands for, about the task with this id. */
export function decisionOf(step: DecisionStep, around: Around): Decision | Suspension {
  switch (step.type) {
    case 'finish':
      return { type: 'finish', result: '{"done":true}' };
    case 'retry':
      return { type: 'retry', delayMs: step.delayMs, cause: RETRIED, error: ERROR };
    case 'dead-letter':
      return { type: 'dead-letter', cause: fatal(around.id), error: ERROR };
    case 'cancel':
      return { type: 'cancel', cause: { type: 'decider', reason: 'the handler says so' } };
    case 'release':
      return {
        type: 'release',
        cause: { type: 'shutdown' },
        ...(step.delayMs === undefined ? {} : { delayMs: step.delayMs }),
      };
    case 'suspend': {
      const { wait } = step;
      const woken = wokenBy(step);
      // Nothing else would end a wait for time.
      const wakeAfterMs = step.wakeAfterMs ?? (wait?.for === 'time' ? 1_000 : undefined);
      if (wait !== undefined) {
        return {
          type: 'suspend',
          waitFor: [],
          wakeOn: step.wakeOn,
          wait: waitOf(wait, around),
          ...woken,
          ...(wakeAfterMs === undefined ? {} : { wakeAfterMs }),
        };
      }
      return {
        type: 'suspend',
        waitFor: [...new Set(step.waitFor.flatMap((awaited) => awaitedBy(awaited, around)))],
        wakeOn: step.wakeOn,
        ...woken,
        ...(wakeAfterMs === undefined ? {} : { wakeAfterMs }),
      };
    }
  }
}

/** Who goes on when it is woken. */
function wokenBy({
  attended,
  decides,
}: DecisionStep & { readonly type: 'suspend' }): Pick<Suspension, 'attended' | 'decides'> {
  if (attended === true) return { attended };
  return decides === true ? { decides } : {};
}

function waitOf(step: WaitStep, around: Around): Wait {
  const { entry, withinMs } = step;
  const looksBack = step.for === 'event' && withinMs !== undefined;
  return {
    for: targetOf(step, around),
    entry: `${ANSWER}${entry}`,
    ...(looksBack ? { withinMs } : {}),
  };
}

function targetOf(step: WaitStep, { id, token, world }: Around): WaitTarget {
  const { name, key = 'k', names = [] } = step;
  switch (step.for) {
    case 'time':
      return { kind: 'time' };
    case 'event':
      return { kind: 'event', name, key };
    case 'ask': {
      // As handlers do: no two leases of a task have one number.
      const mark = Number(token.split('-')[0]).toString(36);
      return {
        kind: 'ask',
        ask: { id: `${id}.${mark}`, choices: CHOICES, for: names, text: '{}' },
      };
    }
    default: {
      const owner = world.tasks.get(id)?.owner;
      const targets = step.for === 'both' && owner !== undefined ? [id, owner] : [id];
      return { kind: 'signal', name, targets };
    }
  }
}

/** None that waits for the run itself: that would be for ever. */
function awaitedBy({ of, pick }: AwaitedStep, around: Around): readonly string[] {
  const { id, ids, world } = around;
  if (of === 'unknown') return [`unknown${pick % UNKNOWN}`].filter(free);
  const from = {
    member: ids.filter((other) => world.tasks.get(other)?.owner === id),
    live: ids.filter((other) => isStored(other, false)),
    ended: ids.filter((other) => isStored(other, true)),
    dependency: [...(world.tasks.get(id)?.edges.keys() ?? [])],
  }[of].filter(free);
  const chosen = from[pick % Math.max(1, from.length)];
  return chosen === undefined ? [] : [chosen];

  function isStored(other: string, isEnded: boolean): boolean {
    const task = world.tasks.get(other);
    return task !== undefined && ended(task) === isEnded;
  }

  function free(other: string): boolean {
    return !reaches(around, other);
  }
}

/** Whether it waits for the run, or might after redrives: by any edge, however far away. */
function reaches({ id: to, world, pending }: Around, from: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === to) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    const task = world.tasks.get(id);
    if (task !== undefined) open.push(...task.edges.keys(), ...task.awaited.keys());
    open.push(...(pending.get(id) ?? []));
  }
  return false;
}
