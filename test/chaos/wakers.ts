/** What ends the waits of a run, or hears what it tells, and what that has seen. */
import {
  AskClosedError,
  type AskInfo,
  type Fairloom,
  type StreamItem,
  type TaskInfo,
} from 'fairloom';
import { pause } from './chaos-harness.ts';
import { SIGNALED } from './run-shapes.ts';

/** One run whose waits are to be ended. */
export interface Waking {
  readonly id: string;
  readonly user: string;
  readonly loom: Fairloom;
  /** Sends a call again until an outage is over. */
  readonly insist: <T>(operation: string, send: () => Promise<T>) => Promise<T>;
  /** The run has ended, or is not waited for any more. */
  readonly isOver: () => Promise<boolean>;
  /** By chance, up to so many ms. */
  readonly chance: (most: number) => number;
}

/** What a waker has seen. */
export interface Witness {
  /** What came with the waits: it is in the sum that the run gives. */
  readonly worth: number;
  /** What should not have been. */
  readonly problems: readonly string[];
  /** What there was, by kind. */
  readonly counts: Readonly<Record<string, number>>;
}

/** How much each answer adds; `run-worker.mjs` knows the same. */
const CHOICES: Readonly<Record<string, number>> = { one: 1_000, two: 2_000 };
/** … and a question that was not answered in time. */
export const UNANSWERED = 5_000;
/** How long `doubt` waits for an answer, in ms. */
const DOUBT_MS = 700;
/** How many chunks `speak` writes. */
export const WORDS = 20;

const LOOK_MS = 50;
const ENDS: ReadonlySet<string | undefined> = new Set(['finished', 'failed', 'canceled']);
/** An event is published this long after its run was accepted at most, in ms. */
const EVENT_MS = 2_500;

/** One event for all members of the run; a member that waits late looks back. */
export async function publishOnce({ id, user, loom, insist, chance }: Waking): Promise<Witness> {
  await pause(chance(EVENT_MS));
  const options = { user, eventId: `e ${id}` };
  await insist('publish', () => loom.publish('news', id, { v: SIGNALED, mark: id }, options));
  return { worth: 0, problems: [], counts: { events: 1 } };
}

/** The event starts a task, too: one, however often it is published. */
export async function publishStarting(waking: Waking): Promise<Witness> {
  const { id, user, loom, insist, isOver } = waking;
  const schedule = `at-${id}`;
  const options = { event: 'news', key: id, name: 'add', user, retries: 4 };
  await insist('schedules.on', () => loom.schedules.onByName(schedule, options));
  const witness = await publishOnce(waking);
  const fired = await insist('schedules.get', () => loom.schedules.get(schedule));
  const taskId = fired?.lastTaskId ?? 'never started';
  const look = (): Promise<TaskInfo | undefined> => insist('get', () => loom.tasks.get(taskId));
  let started = await look();
  while (!ENDS.has(started?.state) && !(await isOver())) {
    await pause(LOOK_MS);
    started = await look();
  }
  await insist('schedules.remove', () => loom.schedules.remove(schedule));
  const problems = judgeStarted(fired?.fired ?? 0, started);
  return { ...witness, problems, counts: { ...witness.counts, started: fired?.fired ?? 0 } };
}

/** One event has started one task, with what was published. */
export function judgeStarted(
  fired: number,
  started: Pick<TaskInfo, 'state' | 'result'> | undefined,
): readonly string[] {
  if (fired !== 1 || started === undefined) return [`one event has started ${fired} tasks`];
  if (started.state !== 'finished') return [];
  const { v } = started.result as { readonly v?: unknown };
  return v === SIGNALED + 1 ? [] : [`an event of ${SIGNALED} has started a task that gave ${v}`];
}

/** Two people answer otherwise, at the same moment: one counts, and hears so. */
export async function answerTwice(waking: Waking): Promise<Witness> {
  const open = await openAsk(waking);
  if (open === undefined) return judgeAsk(waking, undefined, []);
  const told = await Promise.all([answer(waking, open, 'one'), answer(waking, open, 'two')]);
  return judgeAsk(waking, open.id, told);
}

/** An answer comes when the time of the question is just over, or about to be. */
export async function answerWhenOver(waking: Waking): Promise<Witness> {
  const open = await openAsk(waking);
  // In an outage its time may be over before any worker could look.
  if (open === undefined) {
    return { ...(await judgeAsk(waking, undefined, [])), worth: UNANSWERED };
  }
  await pause(Math.max(0, open.askedAt + DOUBT_MS - 250 - Date.now() + waking.chance(500)));
  return judgeAsk(waking, open.id, [await answer(waking, open, 'two')]);
}

/** Hears all that the run tells while it does, and holds it against what is stored in the end. */
export async function readLive(waking: Waking): Promise<Witness> {
  const { id, loom, insist, isOver } = waking;
  const heard: StreamItem[] = [];
  const next = (): number => heard.at(-1)?.next ?? 0;
  const follow = async (): Promise<void> => {
    for await (const item of loom.streams.read(id, 'words', { from: next() })) heard.push(item);
  };
  await insist('streams.read', follow);
  while (!(await isOver())) await pause(LOOK_MS);
  // An attempt that is lost after it closed the stream ends a reader; the next one tells more.
  await insist('streams.read', follow);
  const stored: StreamItem[] = [];
  await insist('streams.read', async () => {
    stored.length = 0;
    for await (const item of loom.streams.read(id, 'words', { follow: false })) stored.push(item);
  });
  const record = await insist('get', () => loom.tasks.get(id));
  return judgeStream(heard, stored, record?.state === 'finished');
}

/** Holds what was heard against what is stored, and that against what was to be told. */
export function judgeStream(
  heard: readonly StreamItem[],
  stored: readonly StreamItem[],
  isWhole: boolean,
): Witness {
  const problems: string[] = [];
  const offsets = heard.map(({ offset, next }) => `${offset}-${next}`);
  const places = stored.map(({ offset, next }) => `${offset}-${next}`);
  if (offsets.join() !== places.slice(0, offsets.length).join()) {
    problems.push(`a reader heard ${offsets.join()} of ${places.join()}`);
  }
  if (isWhole && offsets.length < places.length) problems.push('a reader heard less than all');
  const resets = stored.filter(({ type }) => type === 'reset').length;
  const last = stored.map(({ type }) => type).lastIndexOf('reset');
  const words = stored
    .slice(last + 1)
    .flatMap((item) => (item.type === 'chunk' ? [item.value] : []));
  const wanted = Array.from({ length: WORDS }, (_, at) => at);
  const isPart = JSON.stringify(words) === JSON.stringify(wanted.slice(0, words.length));
  if (!isPart || (isWhole && words.length < WORDS)) problems.push(`it told ${words.join()}`);
  return { worth: 0, problems, counts: { streams: 1, chunks: stored.length, resets } };
}

/** What a person was told who answered. */
export interface Told {
  readonly choice: string;
  readonly by: string;
  readonly won: boolean;
}

/** Looks until the run asks, or has ended. */
async function openAsk({ id, loom, insist, isOver }: Waking): Promise<AskInfo | undefined> {
  for (;;) {
    const { items } = await insist('asks.list', () => loom.asks.list({ for: id }));
    if (items[0] !== undefined) return items[0];
    if (await isOver()) return undefined;
    await pause(LOOK_MS);
  }
}

/** The answer to a call that was sent again may be that it has been answered, by itself. */
async function answer({ loom, insist }: Waking, { id }: AskInfo, choice: string): Promise<Told> {
  const by = `who said ${choice}`;
  const send = async (): Promise<boolean> => {
    try {
      await loom.asks.answer(id, { choice, by });
      return true;
    } catch (error) {
      if (!(error instanceof AskClosedError)) throw error;
      return error.by === by;
    }
  };
  return { choice, by, won: await insist('asks.answer', send) };
}

async function judgeAsk(
  waking: Waking,
  askId: string | undefined,
  told: readonly Told[],
): Promise<Witness> {
  const { id, loom, insist, isOver } = waking;
  while (!(await isOver())) await pause(LOOK_MS);
  const { items } = await insist('asks.list', () => loom.asks.list({ for: id }));
  const ask =
    askId === undefined ? undefined : await insist('asks.get', () => loom.asks.get(askId));
  const witness = judgeAnswers(ask, told);
  if (items.length === 0) return witness;
  return { ...witness, problems: [...witness.problems, 'it has ended, and asks'] };
}

/** One answer counts, or none, and everybody hears the same of it. */
export function judgeAnswers(
  ask: Pick<AskInfo, 'state' | 'answer'> | undefined,
  told: readonly Told[],
): Witness {
  const winners = told.filter(({ won }) => won).map(({ by }) => by);
  const counted = ask?.state === 'answered' ? [ask.answer?.by] : [];
  const isSame = JSON.stringify(winners) === JSON.stringify(counted);
  const problems = isSame
    ? []
    : [`${winners.join()} were told to count, and ${counted.join()} did`];
  const worth = ask?.state === 'timed-out' ? UNANSWERED : (CHOICES[ask?.answer?.choice ?? ''] ?? 0);
  const state = ask?.state ?? 'never seen';
  return { worth, problems, counts: { asks: 1, [`asks ${state}`]: 1 } };
}
