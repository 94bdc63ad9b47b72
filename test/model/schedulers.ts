/** The schedulers of a history: what each of them was told, and what it makes of that. */
import type {
  DueReply,
  EventStart,
  FireRequest,
  ScheduleRecord,
} from '../../src/domain/port/backend.ts';
import { eventTaskId } from '../../src/domain/port/event-start.ts';
import type { ScheduleChange } from '../../src/domain/port/schedule.ts';
import { graphOf, newTask } from './items.ts';
import { firingAt } from './oracle/schedules.ts';
import type { World } from './oracle/world.ts';
import type { FireStep, SetScheduleStep, Step } from './steps.ts';

/** The names of the schedules; of one another begins. */
const NAMES: readonly string[] = ['a', 'a.1', 'B'];

/** At whose events schedules fire. */
const EVENT = 'go';

export function scheduleName(at: number): string {
  return NAMES[at % NAMES.length] ?? '';
}

export function ownerName(at: number): string {
  return `s${at}`;
}

/** Some changes give up slots; a few of them take the schedule to stand elsewhere. */
function passedIn(
  { inMs, jitterMs, overlap }: SetScheduleStep,
  at: number | undefined,
): Pick<ScheduleChange, 'passed'> {
  if (inMs !== -5_000 && inMs !== 5_000) return {};
  const isBehind = jitterMs > 0 && overlap === 'allow';
  const from = isBehind ? (at ?? 0) - 1 : at;
  return {
    passed: { slots: overlap === 'skip' ? 7 : 1, ...(from === undefined ? {} : { at: from }) },
  };
}

interface Told {
  readonly fence: number;
  readonly schedules: readonly ScheduleRecord[];
}

export class Schedulers {
  /** By name; an old reply is as good as a new one, until it is used. */
  readonly #told = new Map<string, Told>();
  /** Its answer may have been lost. */
  lastFire: FireRequest | undefined;

  change(step: SetScheduleStep, world: World): ScheduleChange {
    const id = scheduleName(step.schedule);
    const known = world.schedules.get(id);
    const slot = world.now + step.inMs;
    const stands = {
      kept: known === undefined ? { slot, dueAt: slot } : known.next,
      new: { slot, dueAt: slot + step.jitterMs },
      none: undefined,
    }[step.next];
    const next = step.paused || step.on !== undefined ? undefined : stands;
    return {
      id,
      revision: Math.max(0, (known?.revision ?? 0) + step.revision),
      spec: step.spec,
      paused: step.paused,
      overlap: step.overlap,
      ...(step.limit === undefined ? {} : { limit: step.limit }),
      ...(step.graph === undefined ? {} : { graph: graphOf(step.graph).hash }),
      ...(next === undefined ? {} : { next }),
      ...passedIn(step, known?.next?.slot),
      ...(step.on === undefined ? {} : { on: { user: step.on, event: EVENT } }),
    };
  }

  /** What a publisher names of those that fire at its event. */
  starts(
    { user, event, starts: step }: Extract<Step, { readonly type: 'publish' }>,
    ids: readonly string[],
    world: World,
  ): readonly EventStart[] {
    const { knows, item, without = 0 } = step ?? {};
    if (item === undefined || knows === 'none') return [];
    return firingAt(world, user, event.name).map(({ id, revision }, at): EventStart => {
      const known = { schedule: id, revision: knows === 'old' ? revision - 1 : revision };
      if (at < without) return known;
      const taskId = eventTaskId(id, event.eventId);
      const around = { id: taskId, others: [], batch: [], ids, world, atomic: true };
      return { ...known, task: newTask({ ...item, user }, around) };
    });
  }

  told(owner: string, reply: DueReply): void {
    if (reply.kind === 'granted') this.#told.set(owner, reply);
  }

  /** What this scheduler does about one of those that it was told. */
  request(step: FireStep, ids: readonly string[], world: World): FireRequest | undefined {
    const { fence = 0, schedules = [] } = this.#told.get(ownerName(step.owner)) ?? {};
    const known = schedules[step.pick % Math.max(1, schedules.length)];
    if (known?.next === undefined) return undefined;
    const { id, revision } = known;
    const { slot } = known.next;
    const slots = Array.from({ length: step.firings }, (_, at) => {
      return slot + (step.passed + at) * step.periodMs;
    });
    const firings = slots.map((at) => {
      const taskId = `~s.${id}.${at}`;
      const around = { id: taskId, others: [], batch: [], ids, world, atomic: false };
      return { slot: at, task: newTask(step.item, around) };
    });
    const following = slot + (step.passed + step.firings) * step.periodMs;
    const next = { slot: following, dueAt: following + step.jitterMs };
    // The slot that it stands at is over in any case.
    const goesOn = !step.ends && following > slot;
    return {
      ...{ id, revision, slot, fence, firings, passed: step.passed },
      ...(goesOn ? { next } : {}),
      ...(step.catchUp === true ? { catchUp: true } : {}),
    };
  }
}
