/** Short words for what the cases of schedules do all the time. */
import type {
  DueReply,
  FireOutcome,
  FireReply,
  FireRequest,
  ScheduleChange,
  ScheduleRecord,
} from '../domain/port/backend.ts';
import { firedTaskId } from '../domain/port/schedule.ts';
import type { Kit, TaskFields } from './kit.ts';

/** Between two slots of the schedules here, in ms. */
export const PERIOD = 60_000;

/** Stores a schedule whose first slot is `inMs` from now; the slot. */
export async function store(
  kit: Kit,
  id: string,
  change: Partial<ScheduleChange> = {},
  inMs = 0,
): Promise<number> {
  const slot = kit.now() + inMs;
  const whole: ScheduleChange = {
    id,
    revision: 0,
    spec: '{"é":1}',
    paused: false,
    overlap: 'allow',
    next: { slot, dueAt: slot },
    ...change,
  };
  kit.expect(await kit.backend.schedules.set(whole)).toMatchObject({ kind: 'ok' });
  return slot;
}

/** The schedule of this id; fails the test when there is none. */
export async function demand(kit: Kit, id: string): Promise<ScheduleRecord> {
  const { record } = await kit.backend.schedules.get(id);
  if (record === undefined) throw new TypeError(`there is no schedule ${id}`);
  return record;
}

/** What is due is given to this scheduler; fails the test when another one holds the lock. */
export async function granted(
  kit: Kit,
  owner = 's1',
): Promise<Extract<DueReply, { readonly kind: 'granted' }>> {
  const reply = await kit.backend.schedules.due({ owner, limit: 10 });
  if (reply.kind !== 'granted') throw new TypeError('the lock is held');
  return reply;
}

interface Fire extends Partial<FireRequest> {
  readonly task?: TaskFields;
}

/** Fires the slot that the schedule stands at, one period before the next. */
export async function fire(
  kit: Kit,
  id: string,
  { task, ...request }: Fire = {},
): Promise<FireReply> {
  const { revision, next } = await demand(kit, id);
  const slot = request.slot ?? next?.slot ?? 0;
  const { fence } = await granted(kit);
  return kit.backend.schedules.fire({
    id,
    revision,
    slot,
    fence,
    firings: [{ slot, task: kit.task({ id: firedTaskId(id, slot), ...task }) }],
    passed: 0,
    next: { slot: slot + PERIOD, dueAt: slot + PERIOD },
    ...request,
  });
}

/** The only outcome of a firing that counted. */
export async function outcome(kit: Kit, id: string, request: Fire = {}): Promise<FireOutcome> {
  const reply = await fire(kit, id, request);
  const [only] = reply.kind === 'fired' ? reply.outcomes : [];
  if (only === undefined) throw new TypeError(`it was not fired: ${reply.kind}`);
  return only;
}

/** The outcome of a slot that stored its task and canceled nothing. */
export const CREATED: FireOutcome = { kind: 'created', canceled: [] };
