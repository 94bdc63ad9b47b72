import type { SharedBackend } from '../../backends/shared-backend.ts';
import type { Logger } from '../../base/logger.ts';
import type { ValueCodec } from '../../codec/codec.ts';
import {
  BackendUnavailableError,
  InvalidOptionError,
  ScheduleNotFoundError,
} from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { checkName } from '../../domain/fairness/names.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Backend, Page, ScheduleRecord } from '../../domain/port/backend.ts';
import type { NewTask } from '../../domain/task/task.ts';
import type { TaskHandle } from '../../enqueue/handle.ts';
import type { TaskMaker } from '../../enqueue/task-maker.ts';
import type { GraphCache } from '../../runs/graph-cache.ts';
import { type BackfillReport, backfill } from '../../schedules/backfill.ts';
import { logDropped, type Replanned, replanned } from '../../schedules/replan.ts';
import { type ScheduleInfo, scheduleInfo } from '../../schedules/schedule-info.ts';
import {
  type AnyEventOptions,
  type AnyScheduleOptions,
  type MadeSchedule,
  makeEventSchedule,
  makeSchedule,
} from '../../schedules/schedule-maker.ts';
import {
  demandRepeatable,
  EVENT_SCHEDULE_KEYS,
  type EventScheduleOptions,
  momentOption,
  NAMED_EVENT_KEYS,
  NAMED_KEYS,
  type NamedEventOptions,
  type NamedScheduleOptions,
  SCHEDULE_KEYS,
  type ScheduleOptions,
} from '../../schedules/schedule-options.ts';
import { PATCH_KEYS, patchSchedule, type SchedulePatch } from '../../schedules/schedule-patch.ts';
import {
  type KnownSchedule,
  type ScheduleSpec,
  SpecCache,
  taskOf,
  unfiredText,
} from '../../schedules/spec.ts';
import { integerOption } from '../../workflow/task-options.ts';
import { listed } from './list-cursor.ts';
import { PAGE_KEYS, type PageOptions, pageRequest } from './page.ts';

interface SchedulesParts {
  readonly connection: SharedBackend;
  readonly log: Logger;
  readonly maker: TaskMaker;
  readonly codec: ValueCodec;
  readonly graphs: GraphCache;
  readonly timeZone: string;
  readonly newId: () => string;
  send(task: NewTask, options: undefined): Promise<TaskHandle<unknown>>;
}

/** Slots whose tasks are stored, whether or not they have fired. */
export interface BackfillOptions {
  /** The first moment: a Date, or ms since the epoch. */
  readonly from: Date | number;
  /** The last moment; not in the future. Default now. */
  readonly to?: Date | number | undefined;
}

const BACKFILL_KEYS: OptionKeys<BackfillOptions> = keysOf<BackfillOptions>()({
  from: true,
  to: true,
});

/** Most tries while others change a schedule. */
const TRIES = 20;

/** Default and maximum number of slots of `next`. */
const NEXT = 5;
const NEXT_MOST = 1_000;

/** Result of a try to write a schedule; `undefined`: read it again. */
type Tried = ScheduleInfo | undefined;

/** `loom.schedules`: tasks that start at given times or events. */
export class Schedules {
  readonly #parts: SchedulesParts;
  readonly #specs = new SpecCache();

  /** @internal */
  constructor(parts: SchedulesParts) {
    this.#parts = parts;
  }

  /**
   * Stores a schedule, or changes the stored one with this id. The same options again change
   * nothing, so every process may call it at its start. A change applies from the next slot on, and
   * a paused schedule stays paused. A due slot that has not fired is kept if the new pattern has it
   * too; else it counts as missed.
   *
   * @param id - Id of the schedule, a name.
   * @throws {@link InvalidOptionError} for an impossible pattern, an unknown zone, and all other
   * wrong options; {@link InvalidPayloadError}; what compiling a pipeline throws.
   */
  set<I, O, X>(id: string, options: ScheduleOptions<I, O, X>): Promise<ScheduleInfo> {
    return this.#set(id, options, SCHEDULE_KEYS);
  }

  /**
   * Stores a schedule that fires at events of its user instead of by the clock: `loom.publish`
   * stores the event and the tasks of all such schedules in one step, or nothing. Otherwise as
   * `set`; it replaces a schedule of this id that fires by the clock.
   *
   * @param id - Id of the schedule, a name.
   * @throws {@link InvalidOptionError}, also when 16 others fire at these events; {@link InvalidPayloadError};
   * what compiling a pipeline throws.
   */
  on<I, O, X>(id: string, options: EventScheduleOptions<I, O, X>): Promise<ScheduleInfo> {
    return this.#on(id, options, EVENT_SCHEDULE_KEYS);
  }

  /** `on` for callers that only know the name of a task. */
  onByName(id: string, options: NamedEventOptions): Promise<ScheduleInfo> {
    return this.#on(id, options, NAMED_EVENT_KEYS);
  }

  /** `set` for callers that only know the name of a task; no schema checks the input. */
  setByName(id: string, options: NamedScheduleOptions): Promise<ScheduleInfo> {
    return this.#set(id, options, NAMED_KEYS);
  }

  /**
   * Changes the given fields only: the zone, the input and the task stay. Applies from the next
   * slot on; a slot of another pattern is computed anew, and a paused schedule stays paused. Safe
   * with concurrent changes.
   *
   * @throws {@link ScheduleNotFoundError}; {@link InvalidOptionError} for an unknown or
   * invalid field; {@link InvalidPayloadError}.
   */
  async update(id: string, patch: SchedulePatch): Promise<ScheduleInfo> {
    checkOptions('schedules.update', patch, PATCH_KEYS);
    return this.#tries(async (backend) => {
      const { record, now } = await this.#demand(id);
      const { spec } = this.#known(record);
      const made = patchSchedule(this.#parts, patch, { record, spec, now });
      return this.#store(backend, made, { id, record, now });
    });
  }

  /** One schedule; `undefined` if it does not exist. */
  async get(id: string): Promise<ScheduleInfo | undefined> {
    const { schedules } = await this.#open();
    const { record } = await schedules.get(checkName('id', id));
    return record === undefined ? undefined : this.#info(record);
  }

  /** One page of the schedules, by id. */
  async list(options: PageOptions = {}): Promise<Page<ScheduleInfo>> {
    checkOptions('schedules.list', options, PAGE_KEYS);
    const { schedules } = await this.#open();
    return listed({ list: 'schedules.list' }, pageRequest(options), async (request) => {
      const { items, ...rest } = await schedules.list(request);
      return { ...rest, items: items.map((record) => this.#info(record)) };
    });
  }

  /**
   * How late the latest due schedule is, in ms; 0 when none is due. More than some seconds mean
   * that no scheduler runs, or that it makes no progress.
   */
  async lag(): Promise<number> {
    const { schedules } = await this.#open();
    return schedules.lag();
  }

  /**
   * The next slots, at most 1,000; none for a schedule that is paused or over.
   *
   * @throws {@link ScheduleNotFoundError}.
   */
  async next(id: string, count: number = NEXT): Promise<readonly Date[]> {
    const most = integerOption('count', count, { least: 1, most: NEXT_MOST });
    const { record } = await this.#demand(id);
    const { table } = this.#known(record);
    const dates: Date[] = [];
    const { limit = Number.POSITIVE_INFINITY, fired } = record;
    for (let slot = record.next?.slot; slot !== undefined; slot = table.next(slot)) {
      if (dates.length >= Math.min(most, limit - fired)) break;
      dates.push(new Date(slot));
    }
    return dates;
  }

  /**
   * Starts its task once, now, regardless of its timing, pause and overlap policy. It counts as no
   * slot; the slot of the input is this moment.
   *
   * @throws {@link ScheduleNotFoundError}; {@link InvalidOptionError} when it fires at events; what `enqueue`
   * throws.
   */
  async run(id: string): Promise<TaskHandle<unknown>> {
    const { record, now } = await this.#demand(id);
    const { spec } = this.#known(record);
    demandClock(id, spec);
    return this.#parts.send(taskOf(id, spec, { slot: now, id: this.#parts.newId() }), undefined);
  }

  /**
   * Pauses a schedule until `resume`. Stored tasks stay.
   *
   * @throws {@link ScheduleNotFoundError}.
   */
  pause(id: string): Promise<ScheduleInfo> {
    return this.#turn(id, true);
  }

  /**
   * Ends the pause: it fires from the next slot on. Slots of the pause are skipped, see `backfill`; a slot
   * that was due before it and has not fired is fired now, or counts as missed, by the policy `missed`.
   *
   * @throws {@link ScheduleNotFoundError}.
   */
  resume(id: string): Promise<ScheduleInfo> {
    return this.#turn(id, false);
  }

  /** Removes a schedule; its tasks stay. False: it does not exist. */
  async remove(id: string): Promise<boolean> {
    return (await this.#open()).schedules.remove(checkName('id', id));
  }

  /**
   * Stores a task for every slot in a range, in order, at most 10,000; slots with a stored task are
   * skipped. Pause and overlap policy do not apply, and the schedule's next slot stays.
   *
   * @throws {@link ScheduleNotFoundError}; {@link InvalidOptionError} for a range that reaches
   * into the future, or has too many slots, and for one that fires at events: nothing is stored then.
   */
  async backfill(id: string, options: BackfillOptions): Promise<BackfillReport> {
    checkOptions('schedules.backfill', options, BACKFILL_KEYS);
    const { record, now } = await this.#demand(id);
    const from = momentOption('from', options.from);
    const to = momentOption('to', options.to) ?? now;
    if (from === undefined) throw new InvalidOptionError('from', 'a Date, or ms', from);
    if (to > now) throw new InvalidOptionError('to', 'a moment that has passed', options.to);
    const known = this.#known(record);
    demandClock(id, known.spec);
    return backfill(await this.#open(), { id, known, from, to });
  }

  async #set(
    id: string,
    options: AnyScheduleOptions,
    keys: typeof SCHEDULE_KEYS | typeof NAMED_KEYS,
  ): Promise<ScheduleInfo> {
    checkName('id', id);
    demandRepeatable(options);
    checkOptions('schedules.set', options, keys);
    return this.#tries(async (backend) => {
      const { record, now } = await backend.schedules.get(id);
      const before = record === undefined ? undefined : this.#known(record);
      const { timing } = before?.spec ?? {};
      const anchor = timing?.start === undefined ? timing?.anchor : undefined;
      const made = await makeSchedule(this.#parts, options, { id, now, anchor });
      return this.#store(backend, made, { id, record, now });
    });
  }

  async #on(
    id: string,
    options: AnyEventOptions,
    keys: typeof EVENT_SCHEDULE_KEYS | typeof NAMED_EVENT_KEYS,
  ): Promise<ScheduleInfo> {
    checkName('id', id);
    demandRepeatable(options);
    checkOptions('schedules.on', options, keys);
    const made = await makeEventSchedule(this.#parts, options);
    return this.#tries(async (backend) => {
      const { record, now } = await backend.schedules.get(id);
      return this.#store(backend, made, { id, record, now });
    });
  }

  /** Stores a schedule unless it is stored as it is. The next slot stays if the timing does. */
  async #store(
    backend: Backend,
    made: MadeSchedule,
    { id, record, now }: { id: string; record: ScheduleRecord | undefined; now: number },
  ): Promise<Tried> {
    if (record !== undefined && isSame(record, made)) return this.#info(record);
    if (made.graph !== undefined) await this.#parts.graphs.share(made.graph);
    const before = record === undefined ? undefined : this.#known(record);
    const { next: _old, limit: _limit, graph: _graph, on: _on, ...kept } = record ?? newRecord(id);
    const changed = { ...kept, ...made.change };
    const known = this.#known(changed);
    if (record?.next !== undefined && before !== undefined && hasSameTiming(before, known)) {
      const spec = unfiredText(changed.spec, before.spec.unfired);
      return this.#write(backend, { change: { ...changed, spec, next: record.next } }, made);
    }
    const stored = record && before && { record, known: before };
    return this.#write(backend, replanned({ before: stored, after: changed, known, now }), made);
  }

  /** Pauses or resumes it. */
  #turn(id: string, paused: boolean): Promise<ScheduleInfo> {
    return this.#tries(async (backend) => {
      const { record, now } = await this.#demand(id);
      if (record.paused === paused) return this.#info(record);
      const known = this.#known(record);
      const after = { ...record, paused };
      const plan = replanned({ before: { record, known }, after, known, now });
      return this.#write(backend, plan, undefined);
    });
  }

  async #tries(act: (backend: Backend) => Promise<Tried>): Promise<ScheduleInfo> {
    const backend = await this.#open();
    for (let tries = 0; tries < TRIES; tries++) {
      const info = await act(backend);
      if (info !== undefined) return info;
    }
    throw new BackendUnavailableError('schedules.set', 'the schedule changes too often');
  }

  async #write(
    backend: Backend,
    { change, missed }: Replanned,
    made: MadeSchedule | undefined,
  ): Promise<Tried> {
    const reply = await backend.schedules.set(change);
    switch (reply.kind) {
      case 'ok':
        if (missed !== undefined) logDropped(this.#parts.log, change.id, missed);
        return this.#info(reply.record);
      case 'graph-missing':
        if (made?.graph !== undefined) this.#parts.graphs.forgetStored(made.graph);
        return undefined;
      case 'changed':
        return undefined;
      case 'full':
        throw new InvalidOptionError(
          'event',
          `at most ${LIMITS.eventSchedules} schedules that fire at it`,
          change.on?.event,
        );
    }
  }

  async #demand(id: string): Promise<{ readonly record: ScheduleRecord; readonly now: number }> {
    const { schedules } = await this.#open();
    const { record, now } = await schedules.get(checkName('id', id));
    if (record === undefined) throw new ScheduleNotFoundError(id);
    return { record, now };
  }

  #open(): Promise<Backend> {
    return this.#parts.connection.open();
  }

  #known({ id, spec }: Pick<ScheduleRecord, 'id' | 'spec'>): KnownSchedule {
    return this.#specs.of(id, spec);
  }

  #info(record: ScheduleRecord): ScheduleInfo {
    return scheduleInfo(record, this.#known(record).spec, this.#parts.codec);
  }
}

/** @throws {@link InvalidOptionError} when it fires at events: it has no slots. */
function demandClock(id: string, { event }: ScheduleSpec): void {
  if (event === undefined) return;
  throw new InvalidOptionError(
    'id',
    `a schedule that fires by the clock; publish ${event.name} instead`,
    id,
  );
}

function newRecord(id: string): ScheduleRecord {
  const counts = { createdAt: 0, updatedAt: 0, fired: 0, missed: 0, overlapped: 0 };
  return { id, revision: 0, spec: '', paused: false, overlap: 'skip', ...counts };
}

function isSame(record: ScheduleRecord, { change }: MadeSchedule): boolean {
  return (
    unfiredText(record.spec, undefined) === change.spec &&
    record.on?.user === change.on?.user &&
    record.on?.event === change.on?.event &&
    record.overlap === change.overlap &&
    record.limit === change.limit &&
    record.graph === change.graph
  );
}

function hasSameTiming(before: KnownSchedule, after: KnownSchedule): boolean {
  return JSON.stringify(before.spec.timing) === JSON.stringify(after.spec.timing);
}
