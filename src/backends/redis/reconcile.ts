import { inChunks } from '../../base/chunks.ts';
import { isOwn } from '../../domain/errors.ts';
import type { ReconcileReport } from '../../domain/inspection.ts';
import { TASK_STATES, type TaskState } from '../../domain/task.ts';
import { flat, text } from './decode.ts';
import type { Session } from './session.ts';
import { type LaneTally, newTally, type Tally, tallyUser, type UserTally } from './tally.ts';

/** Lines of drift that a report holds. */
const REPORTED = 100;

/** Records that one script looks at. */
const STEP = 200;

/** How often the counts are compared anew when somebody works meanwhile. */
const TRIES = 3;

const INDEXES = ['scheduled', 'deferred', 'finished', 'failed', 'canceled'];

/** What one pass has found. */
interface Findings {
  readonly drift: string[];
  checked: number;
  repaired: number;
}

/**
 * Checks every record against its place, every place against its record, and every count against
 * both. The first two are exact at any time. Counts are compared only when nobody has changed
 * anything during the walk; on a busy store they are left out rather than reported wrongly.
 */
export async function reconcile(session: Session, repair: boolean): Promise<ReconcileReport> {
  const findings: Findings = { drift: [], checked: 0, repaired: 0 };
  const pass = new Pass(session, repair, findings);
  for (const name of [...INDEXES, 'deadlines', 'cascade']) await pass.index(name);
  await pass.lines();
  await pass.schedules();
  await pass.dependencies();
  for (let tries = 1; tries <= TRIES; tries++) {
    const { tally, moved } = await pass.records();
    if (!moved && (await pass.counts(tally))) break;
  }
  const { drift, checked, repaired } = findings;
  return { drift: [...new Set(drift)].slice(0, REPORTED), checked, repaired };
}

class Pass {
  readonly #session: Session;
  readonly #repair: '0' | '1';
  readonly #findings: Findings;

  constructor(session: Session, repair: boolean, findings: Findings) {
    this.#session = session;
    this.#repair = repair ? '1' : '0';
    this.#findings = findings;
  }

  /** Takes out of an index what does not belong there. */
  async index(name: string): Promise<void> {
    for (let rank = 0; rank >= 0; ) rank = this.#note(await this.#run('index', name, rank), rank);
  }

  /** Takes out of the users' lines what is not queued. */
  async lines(): Promise<void> {
    for (const queue of await this.#queues()) {
      for await (const { user } of this.#users(queue)) {
        for (let rank = 0; rank >= 0; ) {
          rank = this.#note(await this.#run('line', queue, user, rank), rank);
        }
      }
    }
  }

  /** Compares schedules with their list, and with those that are due. */
  async schedules(): Promise<void> {
    for (let rank = 0; rank >= 0; ) rank = this.#note(await this.#run('schedules', rank), rank);
  }

  /** Looks for sets of dependencies whose task is gone; an account that may not scan finds none. */
  async dependencies(): Promise<void> {
    const start = `${this.#session.keys.base}deps:`;
    try {
      for await (const keys of this.#session.scan('reconcile', patternOf(start), STEP)) {
        const names = keys.map((key) => key.slice(start.length));
        if (names.length === 0) continue;
        for (const problem of await this.#run('deps', ...names)) this.#found(text(problem));
      }
    } catch (error) {
      if (!isOwn(error, 'BACKEND_UNSUPPORTED')) throw error;
    }
  }

  /** Looks at every record; counts what is stored. `moved`: somebody changed something meanwhile. */
  async records(): Promise<{ readonly tally: Tally; readonly moved: boolean }> {
    const tally = newTally();
    const repairedBefore = this.#findings.repaired;
    const before = await this.#steps();
    this.#findings.checked = 0;
    for await (const ids of this.#ids()) {
      const reply = await this.#run('records', ...ids);
      for (let at = 0; at + 4 < reply.length; at += 5) {
        const [queue, user, state, level, problem] = reply.slice(at, at + 5).map(text);
        tallyUser(tally, queue ?? '', user ?? '').add(state as TaskState, Number(level));
        if (problem !== undefined && problem !== '') this.#found(problem);
        this.#findings.checked++;
      }
    }
    const mended = this.#findings.repaired > repairedBefore;
    return { tally, moved: mended || (await this.#steps()) !== before };
  }

  /** Compares the counts; false when somebody came between, and all must be counted anew. */
  async counts(tally: Tally): Promise<boolean> {
    const steps = await this.#steps();
    const problems: string[] = [];
    const mends: (() => Promise<boolean>)[] = [];
    for (const queue of await this.#queues()) {
      const lane = tally.get(queue) ?? { users: new Map<string, UserTally>() };
      let mended = false;
      for await (const stored of this.#users(queue)) {
        const counted = tallyUser(tally, queue, stored.user);
        if (counted.equals(stored)) continue;
        mended = true;
        problems.push(`queue ${queue}, user ${stored.user}: its counts are not those of its tasks`);
        mends.push(() => this.#mend('mend-user', [queue, stored.user], counted.toJson()));
      }
      const found = await this.#laneProblem(queue, lane);
      if (found === undefined || mended) continue;
      problems.push(found.problem);
      mends.push(() => this.#mend('mend-lane', [queue], found.counts));
    }
    if ((await this.#steps()) !== steps) return false;
    for (const problem of problems) this.#found(problem, false);
    if (this.#repair === '0' || mends.length === 0) return true;
    for (const mend of mends) if (await mend()) this.#findings.repaired++;
    // A user that was mended changes the sums of its queue: look again.
    return false;
  }

  async #laneProblem(
    queue: string,
    lane: LaneTally,
  ): Promise<{ readonly problem: string; readonly counts: string } | undefined> {
    const [, json] = await this.#run('lane', queue);
    const stored = JSON.parse(text(json)) as StoredLane;
    const sums = { w: 0, runnable: 0, ready: 0, parked: 0, classes: {} as Record<string, number> };
    for await (const user of this.#users(queue)) {
      sums.parked += user.parked;
      if (!user.ready) continue;
      sums.w += user.w;
      sums.runnable += user.room;
      sums.ready++;
      sums.classes[user.class] = (sums.classes[user.class] ?? 0) + 1;
    }
    const counts = Object.fromEntries(TASK_STATES.map((state) => [state, 0]));
    for (const user of lane.users.values()) {
      for (const state of TASK_STATES) counts[state] = (counts[state] ?? 0) + user.states[state];
    }
    const wrong: string[] = TASK_STATES.filter((state) => stored.counts[state] !== counts[state]);
    for (const sum of ['w', 'runnable', 'ready', 'parked'] as const) {
      if (stored[sum] !== sums[sum]) wrong.push(sum);
    }
    if (!sameCounts(stored.classes, sums.classes)) wrong.push('classes');
    if (wrong.length === 0) return undefined;
    return {
      problem: `queue ${queue}: wrong count of ${wrong.join(', ')}`,
      counts: JSON.stringify({ ...sums, counts }),
    };
  }

  async #mend(part: string, target: readonly string[], counts: string): Promise<boolean> {
    const [word] = await this.#run(part, ...target, await this.#steps(), counts);
    return word === 'ok';
  }

  #note(reply: readonly unknown[], rank: number): number {
    const problems = reply.slice(1).map(text);
    for (const problem of problems) this.#found(problem);
    const next = Number(reply[0]);
    // What was taken out has made room for others at this rank.
    return next >= 0 && this.#repair === '1' && problems.length > 0 ? rank : next;
  }

  #found(problem: string, mended = true): void {
    this.#findings.drift.push(problem);
    if (mended && this.#repair === '1') this.#findings.repaired++;
  }

  async #steps(): Promise<number> {
    const [steps] = await this.#run('lane', 'default');
    return Number(steps);
  }

  async #queues(): Promise<readonly string[]> {
    const key = `${this.#session.keys.base}queues`;
    const names = flat(await this.#session.command('reconcile', 'SMEMBERS', [key]));
    return names.map(text).sort();
  }

  /** Ids of all records, some at a time. */
  async *#ids(): AsyncGenerator<readonly string[]> {
    const seen = new Set<string>();
    let cursor = '0';
    do {
      const args = [this.#session.keys.tasks, cursor, 'COUNT', STEP];
      const [next, rows] = flat(await this.#session.command('reconcile', 'HSCAN', args));
      cursor = text(next);
      const fresh = flat(rows)
        .map(text)
        .filter((id, at) => at % 2 === 0 && !seen.has(id));
      for (const id of fresh) seen.add(id);
      yield* inChunks(fresh, STEP);
    } while (cursor !== '0');
  }

  async *#users(queue: string): AsyncGenerator<StoredUser> {
    let last = '';
    for (;;) {
      const page = (await this.#run('users', queue, last)).map((json) => {
        return JSON.parse(text(json)) as StoredUser;
      });
      yield* page;
      const end = page.at(-1);
      if (end === undefined) return;
      last = end.user;
    }
  }

  async #run(part: string, ...args: (string | number)[]): Promise<readonly unknown[]> {
    const repair = part === 'lane' || part === 'users' ? '0' : this.#repair;
    return flat(await this.#session.run('reconcile', [part, repair, ...args]));
  }
}

/** Of keys that begin so. */
function patternOf(start: string): string {
  return `${start.replace(/[?*[\]\\]/g, '\\$&')}*`;
}

interface StoredUser {
  readonly user: string;
  readonly levels: readonly number[];
  readonly running: number;
  readonly live: number;
  readonly parked: number;
  readonly ready: boolean;
  readonly w: number;
  readonly room: number;
  readonly class: string;
}

interface StoredLane {
  readonly counts: Readonly<Record<TaskState, number>>;
  readonly w: number;
  readonly runnable: number;
  readonly ready: number;
  readonly parked: number;
  readonly classes: Readonly<Record<string, number>>;
}

function sameCounts(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => (a[name] ?? 0) === (b[name] ?? 0));
}
