import { inChunks } from '../../base/chunks.ts';
import { isOwn } from '../../domain/errors/errors.ts';
import type { ReconcileReport } from '../../domain/port/inspection.ts';
import { TASK_STATES } from '../../domain/task/task.ts';
import { isBrokenOff } from './connection/failures.ts';
import type { Session } from './connection/session.ts';
import { flat, stateOf, text } from './wire/decode.ts';
import { ENDS, FIXED, INDEXED } from './wire/fixed-keys.ts';
import {
  newTally,
  type QueueTally,
  type StoredQueue,
  type StoredUser,
  sameCounts,
  type Tally,
  tallyUser,
  type UserTally,
} from './wire/tally.ts';

/** Most lines of drift in a report. */
const REPORTED = 100;

/** Records per script. */
const STEP = 200;

/** Keys per script. */
const KEYS_STEP = 50;

/** Prefix of the families of leases. */
const HOT = 'hot:';
const DEPENDENCIES = 'deps:';

/** Most comparisons of the counts when other calls change the store meanwhile. */
const TRIES = 6;

/** Findings of one pass. */
interface Findings {
  readonly drift: string[];
  checked: number;
  repaired: number;
}

/**
 * Checks every record against its indexes, every index against its records, and every count against
 * both; repairs start from the records. `forget`: deletes what was set aside. The first two are
 * exact at any time. Counts are compared only if no call has changed the store during the scan; on
 * a busy store they are left out rather than reported wrongly.
 */
export async function reconcile(
  session: Session,
  repair: boolean,
  forget: boolean = repair,
): Promise<ReconcileReport> {
  const findings: Findings = { drift: [], checked: 0, repaired: 0 };
  const pass = new Pass(session, repair, findings);
  await pass.keys();
  for (const name of [...INDEXED, ...ENDS, 'deadlines', 'cascade']) await pass.index(name);
  for (const state of ENDS) await pass.holes(state);
  await pass.schedules();
  await pass.dependencies();
  for (let tries = 1; tries <= TRIES; tries++) {
    const { tally, steps } = await pass.records();
    // Faults of a line are repaired at any time; counts only if nothing has changed since.
    if (tries === 1) await pass.lines(tally);
    if (await pass.counts(tally, steps)) break;
  }
  await pass.pieces();
  await pass.leftBehind();
  await pass.clock();
  await pass.damage(forget);
  const { drift, checked, repaired } = findings;
  const report = { drift: [...new Set(drift)].slice(0, REPORTED), checked, repaired };
  const others = await session.otherLibraries(repair && forget);
  return others.length === 0 ? report : { ...report, otherLibraries: others };
}

class Pass {
  readonly #session: Session;
  readonly #repair: '0' | '1';
  readonly #findings: Findings;
  /** Keys of leases that were found. */
  readonly #hot = new Set<string>();
  /** Tasks that could not be read. */
  readonly #unreadable = new Set<string>();

  constructor(session: Session, repair: boolean, findings: Findings) {
    this.#session = session;
    this.#repair = repair ? '1' : '0';
    this.#findings = findings;
  }

  /**
   * Checks every key of the namespace: its type, whether it can be read, and whether the listings
   * contain it. An account that may not scan only checks keys with known names.
   */
  async keys(): Promise<void> {
    await this.#keys(FIXED);
    const { base } = this.#session.keys;
    try {
      for await (const keys of this.#session.scan('reconcile', patternOf(base), STEP)) {
        await this.#keys(keys.map((key) => key.slice(base.length)));
      }
    } catch (error) {
      if (!isOwn(error, 'BACKEND_UNSUPPORTED') || isBrokenOff(error)) throw error;
    }
  }

  async #keys(names: readonly string[]): Promise<void> {
    // They lead to leases, which must be known before tasks are checked.
    for (const some of inChunks(
      names.filter((name) => !isAside(name)),
      KEYS_STEP,
    )) {
      for (const problem of await this.#run('keys', ...some)) this.#found(text(problem));
      for (const name of some) if (name.startsWith(HOT)) this.#hot.add(name);
    }
  }

  /** Searches for remains of removed tasks, and checks the ends of leases. */
  async pieces(): Promise<void> {
    for (const name of ['facts', 'ends', 'errors', 'payloads', 'ears', ...this.#hot]) {
      let cursor = '0';
      do {
        const [next, ...problems] = (await this.#run('pieces', name, cursor)).map(text);
        for (const problem of problems) this.#found(problem);
        cursor = next ?? '0';
      } while (cursor !== '0');
    }
  }

  /** Removes remains of tasks that were set aside in this pass, after the check of all keys. */
  async leftBehind(): Promise<void> {
    if (this.#repair === '0') return;
    await this.#keys([...this.#unreadable].flatMap((id) => [`channel:${id}`, `streams:${id}`]));
  }

  /** Checks the state of the clock; only a repair rebuilds it. */
  async clock(): Promise<void> {
    if (this.#repair === '0') return;
    for (const problem of await this.#run('clock')) this.#found(text(problem));
  }

  /** Reports what was set aside, and deletes it on request. */
  async damage(forget: boolean): Promise<void> {
    const { damaged } = this.#session.keys;
    let cursor = '0';
    do {
      const args = [damaged, cursor, 'COUNT', STEP];
      const [next, found] = flat(await this.#session.command('reconcile', 'HSCAN', args));
      cursor = text(next);
      const rows = flat(found).map(text);
      for (const [at, name] of rows.entries()) {
        if (at % 2 === 1) continue;
        this.#found(`${name}: set aside, ${(rows[at + 1] ?? '').split('\0', 1)[0]}`);
        if (!forget) continue;
        const key = /^key (.*)$/s.exec(name)?.[1];
        const drop = (command: string, ...args: string[]): Promise<unknown> =>
          this.#session.command('reconcile', command, args);
        if (key !== undefined) await drop('UNLINK', this.#session.keys.setAside(key));
        await drop('HDEL', damaged, name);
      }
    } while (cursor !== '0');
  }

  /** Removes wrong members of an index. */
  async index(name: string): Promise<void> {
    for (let rank = 0; rank >= 0; ) rank = this.#note(await this.#run('index', name, rank), rank);
  }

  /** Counts the holes in a list of ended tasks, unless another call changes the store meanwhile. */
  async holes(state: string): Promise<void> {
    const steps = await this.#steps();
    let found = 0;
    for (let rank = 0; rank >= 0; ) {
      const [next, holes] = (await this.#run('holes', state, rank)).map(Number);
      found += holes ?? 0;
      rank = next ?? -1;
    }
    const problems = await this.#run('holes', state, 0, steps, found);
    for (const problem of problems) this.#found(text(problem));
  }

  /** Removes tasks that are not queued from the users' lines, and corrects the users' places. */
  async lines(tally: Tally): Promise<void> {
    for (const queue of await this.#queues(tally)) {
      for await (const { user } of this.#allUsers(queue, tally)) {
        for (let rank = 0; rank >= 0; ) {
          rank = this.#note(await this.#run('line', queue, user, rank), rank);
        }
      }
      for (const problem of await this.#run('sums', queue)) this.#found(text(problem));
    }
  }

  /** Compares schedules with their list, and with the due ones. */
  async schedules(): Promise<void> {
    for (let rank = 0; rank >= 0; ) rank = this.#note(await this.#run('schedules', rank), rank);
  }

  /** Searches for sets of dependencies without a task; an account that may not scan finds none. */
  async dependencies(): Promise<void> {
    const start = `${this.#session.keys.base}${DEPENDENCIES}`;
    try {
      for await (const keys of this.#session.scan('reconcile', patternOf(start), STEP)) {
        const names = keys.map((key) => key.slice(start.length));
        if (names.length === 0) continue;
        for (const problem of await this.#run('deps', ...names)) this.#found(text(problem));
      }
    } catch (error) {
      if (!isOwn(error, 'BACKEND_UNSUPPORTED') || isBrokenOff(error)) throw error;
    }
  }

  /** Checks every record, and counts them. `steps`: number of steps before. */
  async records(): Promise<{ readonly tally: Tally; readonly steps: number }> {
    const tally = newTally();
    const steps = await this.#steps();
    this.#findings.checked = 0;
    for await (const ids of this.#ids()) {
      const reply = await this.#run('records', ...ids);
      for (let at = 0; at + 4 < reply.length; at += 5) {
        const [queue, user, state, level, problem] = reply.slice(at, at + 5).map(text);
        tallyUser(tally, queue ?? '', user ?? '').add(stateOf(state), Number(level));
        if (problem !== undefined && problem !== '') this.#found(problem);
        this.#findings.checked++;
      }
    }
    return { tally, steps };
  }

  /** Compares the counts; false if another call came between, and all must be counted again. */
  async counts(tally: Tally, steps: number): Promise<boolean> {
    if ((await this.#steps()) !== steps) return false;
    const problems: string[] = [];
    const repairs: ((steps: number) => Promise<boolean>)[] = [];
    for (const queueName of await this.#queues(tally)) {
      const queue = tally.get(queueName) ?? { users: new Map<string, UserTally>() };
      let isRepaired = false;
      for await (const stored of this.#allUsers(queueName, tally)) {
        const counted = tallyUser(tally, queueName, stored.user);
        if (counted.equals(stored) && stored.indexed) continue;
        isRepaired = true;
        const what = counted.equals(stored)
          ? 'ready, but in no index'
          : 'its counts are not those of its tasks';
        problems.push(`queue ${queueName}, user ${stored.user}: ${what}`);
        repairs.push((now) =>
          this.#repairOne('repair-user', [queueName, stored.user, now], counted.toJson()),
        );
      }
      const found = await this.#queueProblem(queueName, queue);
      if (found === undefined) continue;
      // The state of a user depends on counts of its queue, which follow from counts of users.
      repairs.unshift((now) => this.#repairOne('repair-queue', [queueName, now], found.counts));
      if (!isRepaired) problems.push(found.problem);
    }
    if ((await this.#steps()) !== steps) return false;
    for (const problem of problems) this.#found(problem, false);
    if (this.#repair === '0' || repairs.length === 0) return true;
    // Each is one step; if another call comes between, all must be counted again.
    for (const [at, repair] of repairs.entries()) {
      if (!(await repair(steps + at))) break;
      this.#findings.repaired++;
    }
    // A repaired user changes the sums of its queue: check again.
    return false;
  }

  async #queueProblem(
    queueName: string,
    queue: QueueTally,
  ): Promise<{ readonly problem: string; readonly counts: string } | undefined> {
    const [, json] = await this.#run('queue', queueName);
    const stored = JSON.parse(text(json)) as StoredQueue;
    const classes: Record<string, number> = {};
    const sums = { w: 0, runnable: 0, ready: 0, parked: 0, classes };
    for await (const user of this.#users(queueName)) {
      sums.parked += user.parked;
      if (!user.ready) continue;
      sums.w += user.w;
      sums.runnable += user.headroom;
      sums.ready++;
      sums.classes[user.class] = (sums.classes[user.class] ?? 0) + 1;
    }
    const counts = Object.fromEntries(TASK_STATES.map((state) => [state, 0]));
    for (const user of queue.users.values()) {
      for (const state of TASK_STATES) counts[state] = (counts[state] ?? 0) + user.states[state];
    }
    const wrong: string[] = TASK_STATES.filter((state) => stored.counts[state] !== counts[state]);
    for (const sum of ['w', 'runnable', 'ready', 'parked'] as const) {
      if (stored[sum] !== sums[sum]) wrong.push(sum);
    }
    if (stored.tags !== stored.kept) wrong.push('tags');
    if (stored.leaving !== stored.left) wrong.push('leavers');
    if (!sameCounts(stored.classes, sums.classes)) wrong.push('classes');
    if (wrong.length === 0) return undefined;
    return {
      problem: `queue ${queueName}: wrong count of ${wrong.join(', ')}`,
      counts: JSON.stringify({ ...sums, counts }),
    };
  }

  async #repairOne(
    part: string,
    target: readonly (string | number)[],
    counts: string,
  ): Promise<boolean> {
    const [word] = await this.#run(part, ...target, counts);
    return word === 'ok';
  }

  #note(reply: readonly unknown[], rank: number): number {
    const problems = reply.slice(1).map(text);
    for (const problem of problems) this.#found(problem);
    const next = Number(reply[0]);
    // Removed members have moved others to this rank.
    return next >= 0 && this.#repair === '1' && problems.length > 0 ? rank : next;
  }

  #found(problem: string, isRepaired = true): void {
    this.#findings.drift.push(problem);
    if (isRepaired && this.#repair === '1') this.#findings.repaired++;
  }

  async #steps(): Promise<number> {
    const [steps] = await this.#run('queue', 'default');
    return Number(steps);
  }

  /** All queues that are listed, or have tasks. */
  async #queues(tally: Tally): Promise<readonly string[]> {
    const { queues: key } = this.#session.keys;
    const names = flat(await this.#session.command('reconcile', 'SMEMBERS', [key]));
    return [...new Set([...names.map(text), ...tally.keys()])].sort();
  }

  /** All users of a queue that are listed, or have tasks. */
  async *#allUsers(queue: string, tally: Tally): AsyncGenerator<StoredUser> {
    const known = new Set<string>();
    for await (const user of this.#users(queue)) {
      known.add(user.user);
      yield user;
    }
    for (const user of tally.get(queue)?.users.keys() ?? []) {
      if (known.has(user)) continue;
      const [, json] = await this.#run('users', queue, '', '0', user);
      yield JSON.parse(text(json)) as StoredUser;
    }
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
    let place = '';
    do {
      const [next, ...page] = (await this.#run('users', queue, place, this.#repair)).map(text);
      for (const json of page) yield JSON.parse(json) as StoredUser;
      place = next ?? '';
    } while (place !== '');
  }

  async #run(part: string, ...args: (string | number)[]): Promise<readonly unknown[]> {
    const repair = part === 'queue' || part === 'users' ? '0' : this.#repair;
    const look = this.#repair === '0';
    const reply = flat(await this.#session.guarded('reconcile', [part, repair, ...args], look));
    const [lines, damage] = [flat(reply[0]), flat(reply[1])];
    // What a repair sets aside is reported at its end, with earlier ones.
    for (const problem of damage.map(text)) {
      const id = /^task (.*): [^:]*$/s.exec(problem)?.[1];
      if (look) this.#found(problem);
      else if (id !== undefined) this.#unreadable.add(id);
    }
    return lines;
  }
}

/** Whether a name is that of the keys set aside or of the clock, which no part scans. */
function isAside(name: string): boolean {
  return name === 'damaged' || name.startsWith('set-aside:') || name.startsWith('clock-');
}

/** Pattern of keys with this prefix. */
function patternOf(start: string): string {
  return `${start.replace(/[?*[\]\\]/g, '\\$&')}*`;
}
