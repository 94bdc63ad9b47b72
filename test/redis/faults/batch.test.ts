/**
 * A batch that takes several scripts, from a client that dies after any one of them: nothing of it
 * is leased before the seal, the same call of another client stores all of it once, and what
 * is not sent again is gone after a minute.
 */
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { redisForTests } from '../../../src/backends/redis/manual-time.ts';
import { Kit } from '../../../src/conformance/kit.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { NewTask } from '../../../src/domain/task/task.ts';
import type { FaultProxy } from '../../support/redis/fault-proxy.ts';
import { isScript } from '../../support/redis/scripts.ts';
import { rounds } from '../../support/rounds.ts';
import { adminOf, atEnd, codeOf, freshPrefix, proxyTo, RETENTION, teach } from './kit.ts';

const SIZE = 2_000;

/** Tasks 0–499 wait for a later one, 1,500–1,999 for an earlier one, both in other parts. */
const FORWARD = 1_000;
const BACK = 1_500;

/** What a namespace keeps for ever, and what its workers keep while they live. */
const LASTING =
  /:(clock|clock-by-hand|meta|queues|names|fair|series-totals|workers?(:.*)?|state:listed-workers)$/;

beforeAll(() => teach());

function batchOf(kit: Kit): readonly NewTask[] {
  const id = (at: number): string => `t${String(at).padStart(4, '0')}`;
  return Array.from({ length: SIZE }, (_, at) => {
    const upstream = at < 500 ? [id(at + FORWARD)] : at >= BACK ? [id(at - BACK)] : [];
    return kit.task({ id: id(at), dependsOn: upstream });
  });
}

/** A client that will die, another on the same namespace, and the clock of both. */
interface Pair {
  readonly proxy: FaultProxy;
  readonly victim: Kit;
  readonly other: Kit;
  readonly prefix: string;
}

async function pair(): Promise<Pair> {
  const prefix = freshPrefix();
  const proxy = await proxyTo();
  const one = redisForTests(proxy.url, { prefix });
  const two = redisForTests(inject('redisPlace'), { prefix });
  atEnd(() => two.dispose());
  atEnd(() => one.backend.close());
  let now = Date.UTC(2026, 0, 5, 12);
  const advance = async (ms: number): Promise<void> => {
    now += ms;
    await two.setTime(now);
  };
  await advance(0);
  const kitOf = async ({ backend }: typeof one): Promise<Kit> => {
    await backend.open({ retention: RETENTION });
    return new Kit({ backend, now: () => now, advance, close: () => backend.close() }, expect);
  };
  return { proxy, victim: await kitOf(one), other: await kitOf(two), prefix };
}

/** Numbers of scripts: the parts of a batch, then the steps of its seal. */
const PARTS = 12;
const STEPS = Math.ceil(SIZE / LIMITS.scriptUnits);

/**
 * Sends the batch from a client that is cut off for good when it sends its nth script: before the
 * server sees it, or after it ran. Answers how many it sent.
 */
async function dieAt(
  nth: number,
  when: 'before' | 'after',
  { proxy, victim }: Pair,
): Promise<{ readonly code: string; readonly scripts: number }> {
  let scripts = 0;
  proxy.setRule(([name]) => {
    if (!isScript(name)) return undefined;
    scripts += 1;
    if (scripts < nth) return undefined;
    proxy.refuse(true);
    return { type: when === 'before' ? 'lose-request' : 'lose-reply', cut: true };
  });
  const batch = batchOf(victim);
  const code = await codeOf(victim.backend.tasks.enqueue(batch, { atomic: true }));
  return { code, scripts };
}

async function cutOff(nth: number, when: 'before' | 'after'): Promise<Pair> {
  const clients = await pair();
  expect(await dieAt(nth, when, clients)).toEqual({ code: 'BACKEND_UNAVAILABLE', scripts: nth });
  return clients;
}

/** Everything is stored once, where it should be. */
async function isWhole(other: Kit): Promise<void> {
  const { counts, totals } = await other.stats();
  expect(totals.enqueued).toBe(SIZE);
  expect(counts).toMatchObject({ queued: 1_000, deferred: 1_000 });
  expect((await other.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
}

/** And all of it runs, in the order that it asked for. */
async function runsWhole(other: Kit): Promise<void> {
  await isWhole(other);
  const served = await other.serve(SIZE + 1, { batch: LIMITS.leaseBatch });
  const place = new Map(served.map(({ id }, at) => [id, at]));
  expect([served.length, place.size]).toEqual([SIZE, SIZE]);
  const early = batchOf(other).filter(({ id, dependsOn: [upstream] }) => {
    return upstream !== undefined && (place.get(upstream) ?? SIZE) > (place.get(id) ?? 0);
  });
  expect(early).toEqual([]);
}

/** No worker is given anything of it, and no count says that one could be. */
async function isHidden(other: Kit): Promise<void> {
  await other.rest();
  expect(await other.lease(LIMITS.leaseBatch)).toEqual([]);
  expect(await other.backend.inspect.runnable('default')).toBe(0);
  expect((await other.stats()).counts).toMatchObject({ queued: 0, started: 0 });
}

/** Sends the batch again; the kind of every reply, each with the id that was sent. */
async function sendAgain(other: Kit): Promise<readonly string[]> {
  const batch = batchOf(other);
  const replies = await other.backend.tasks.enqueue(batch, { atomic: true });
  expect(replies.map((reply) => reply.kind !== 'refused' && reply.id)).toEqual(
    batch.map(({ id }) => id),
  );
  return [...new Set(replies.map(({ kind }) => kind))];
}

/** Of so many batches one is run to its end: that takes longer than all the rest. */
const RUN_EVERY = 4;

const UNSEALED = [
  [1, 'before'] as const,
  // Parts are alike: every sixth of them, unless all are asked for.
  ...Array.from({ length: PARTS }, (_, at) => [at + 1, 'after'] as const).filter(
    (_, at) => at % rounds(1, 6) === 0,
  ),
  [PARTS + 1, 'before'] as const,
];
const SEALED = [
  [PARTS + 1, 'after'] as const,
  [PARTS + 2, 'before'] as const,
  [PARTS + STEPS, 'after'] as const,
];

it('a batch takes the scripts that these tests count on', async () => {
  const clients = await pair();
  const sent = await dieAt(Number.POSITIVE_INFINITY, 'after', clients);
  expect(sent).toEqual({ code: 'no error', scripts: PARTS + STEPS });
  await runsWhole(clients.other);
});

// O19
describe('a client that dies in the middle of a batch', () => {
  it.each(UNSEALED)('at script %i, %s it ran: sent again, it is stored once', async (nth, when) => {
    const { other } = await cutOff(nth, when);
    await isHidden(other);
    expect(await sendAgain(other)).toEqual(['created']);
    // What the dead client began is undone then, but for what the other has taken over.
    await other.advance(LIMITS.submissionMs);
    await (nth % RUN_EVERY === 1 ? runsWhole(other) : isWhole(other));
  });

  it.each(UNSEALED)(
    'at script %i, %s it ran: never sent again, it is gone after a minute',
    async (nth, when) => {
      const { other, prefix } = await cutOff(nth, when);
      await other.advance(LIMITS.submissionMs - 1);
      await isHidden(other);
      await other.advance(1);
      await isHidden(other);
      expect((await other.stats()).totals.enqueued).toBe(0);
      const ids = batchOf(other).map(({ id }) => id);
      expect((await other.backend.inspect.get(ids)).filter((record) => record)).toEqual([]);
      const keys = await adminOf().keys(`${prefix}:*`);
      expect(keys.filter((key) => !LASTING.test(key))).toEqual([]);
      expect(await sendAgain(other)).toEqual(['created']);
    },
  );

  it.each(SEALED)(
    'at script %i, %s it ran: sealed, it goes on without the client',
    async (nth, when) => {
      const { other } = await cutOff(nth, when);
      await other.rest();
      expect(await sendAgain(other)).toEqual(['existing']);
      await runsWhole(other);
    },
  );
});
