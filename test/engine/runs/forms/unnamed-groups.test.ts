/**
 * Groups without a name are called in words wherever texts name nodes; their ids stand in fields only.
 *
 * | text | of |
 * |---|---|
 * | errors of results, of `loom.run` and of refused calls | {@link words} of what is thrown |
 * | explain: causes, obstacles, the command | `runs.explain` |
 * | log lines, names of spans | a logger and a tracer that keep them |
 * | dead letters and their groups | `dead.list`, `dead.groups` |
 * | every command about runs and tasks | the command line, as a table |
 */
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { causeText } from '../../../../src/domain/task/cause.ts';
import { shownNode } from '../../../../src/domain/task/node-name.ts';
import { logDeadLetters } from '../../../../src/logging/dead-letter-lines.ts';
import { each, parallel } from '../../../../src/workflow/parallel.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { everyBackend, type Harness, openRedis } from '../../../support/backends.ts';
import { fairloomHere } from '../../../support/cli-here.ts';
import { refusal, settled } from '../../../support/runs.ts';
import { spans } from '../../../support/spans.ts';

const bad = task('bad', { retries: 0 }, async (n: number, ctx) => {
  ctx.progress(0.5, 'half');
  ctx.log.info('here');
  throw new Error(`no ${n}`);
});
const good = task('good', async (n: number) => n);
const show = task('show', async (given: unknown) => given);
const list = task('list', async (n: number) => [n, n]);

const two = { bad, good };
/** Every kind of group, each without a name, and how often it is nested. */
const GROUPS = {
  strict: parallel(two).pipe(show),
  atLeast: parallel(two, { policy: { atLeast: 2 } }).pipe(show),
  critical: parallel(two, { policy: { critical: ['bad'] } }).pipe(show),
  failFast: parallel(two, { failFast: true }).pipe(show),
  each: list.pipe(each(bad)).pipe(show),
  nested: parallel({
    inner: parallel(two, { policy: { atLeast: 2 } }),
    good: good.as('fine'),
  }).pipe(show),
} as const;

/** All that an error says, and those behind it. */
function words(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)];
  return [error.message, ...(error.cause === undefined ? [] : words(error.cause))];
}

function telling(texts: readonly string[]): readonly string[] {
  return texts.filter((text) => /~(?:run|drive|group|join|end|empty|given|bulk)/.test(text));
}

function forms(kind: keyof typeof GROUPS): readonly ('driven' | 'dispatched')[] {
  return kind === 'failFast' || kind === 'each' ? ['driven'] : ['driven', 'dispatched'];
}

// F87
it('is called in words: the group after its first task, and what stands around it', () => {
  expect(
    [
      'a',
      '~group.a',
      '~group2.a.b',
      '~empty1',
      '~group.a/x',
      'whole/~group.a/x',
      '~join.~group.a',
    ].map(shownNode),
  ).toEqual([
    'a',
    'group of a',
    'group 2 of a.b',
    'empty group 1',
    'group of a/x',
    'whole/group of a/x',
    'start of group of a',
  ]);
});

everyBackend((open) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness.close());

  // F87
  it('no error, explanation, log line, span or dead letter has the id of such a group', async () => {
    const texts: string[] = [];
    const keep = (message: string): void => void texts.push(message);
    const log = { debug: keep, info: keep, warn: keep, error: keep };
    const seen = spans();
    const tasks = Object.values(GROUPS);
    const loom = harness.loom([...tasks], { log, tracer: seen.tracer });
    await loom.worker({ concurrency: 5 }).start();
    for (const [kind, step] of entries()) {
      texts.push(...words(await refusal(loom.run(step, 1))));
      for (const form of forms(kind)) {
        const run = await loom.enqueue(step, 1, { form });
        texts.push(...words(await refusal(settled(harness, run.result()))));
        const { causes, waitsFor, command } = await loom.runs.explain(run.id);
        texts.push(
          ...causes.flatMap(({ cause }) => (cause === undefined ? [] : [causeText(cause)])),
        );
        texts.push(...waitsFor.flatMap(({ why }) => why.obstacles.map(({ text }) => text)));
        texts.push(command ?? '');
        const details = await loom.runs.get(run.id);
        texts.push(...(details?.nodes ?? []).flatMap(({ error }) => [error?.message ?? '']));
      }
      const wrong = { startAt: 'nowhere' };
      texts.push(...words(await refusal(loom.enqueue(step, 1, wrong))));
      if (!forms(kind).includes('dispatched')) {
        texts.push(...words(await refusal(loom.enqueue(step, 1, { form: 'dispatched' }))));
      }
    }
    texts.push(...(await loom.dead.list()).items.map(({ error }) => error?.message ?? ''));
    texts.push(...(await loom.dead.groups()).items.map(({ message }) => message ?? ''));
    texts.push(...seen.started.map(({ name }) => name));
    seen.close();
    expect(telling(texts)).toEqual([]);
    expect(texts.some((text) => text.includes('group of bad'))).toBe(true);
  });

  // F87
  it('no line about long values, late groups and dead letters of the store has such a name', async () => {
    const texts: string[] = [];
    const keep = (message: string): void => void texts.push(message);
    const log = { debug: keep, info: keep, warn: keep, error: keep };
    const long = task('long', async (_: number) => 'x'.repeat(LIMITS.payloadWarnBytes));
    const slow = task('slow', (_: number, ctx) => ctx.sleep('1h'));
    const lenient = parallel({ long, good }, { policy: { atLeast: 1 } }).pipe(show);
    const late = parallel({ slow, good }, { timeout: '1s', policy: { atLeast: 2 } });
    const apart = parallel({ inner: parallel({ long, good }), list }, { failFast: true });
    const loom = harness.loom([lenient, late, apart], { log });
    await loom.worker({ concurrency: 5 }).start();
    for (const form of ['driven', 'dispatched'] as const) {
      await settled(harness, (await loom.enqueue(lenient, 1, { form })).result());
    }
    await settled(harness, (await loom.enqueue(apart, 1)).result());
    texts.push(...words(await refusal(settled(harness, loom.run(late, 1)))));
    const run = await loom.enqueue(late, 1);
    texts.push(...words(await refusal(settled(harness, run.result()))));
    for (const name of ['~drive', '~drive@long@1', '~group', '~bulk']) {
      const cause = { type: 'lost', leases: 3 } as const;
      const letter = {
        id: '1',
        name,
        user: 'ann',
        queue: 'main',
        attempt: 1,
        cause,
      };
      logDeadLetters(log, { listed: [letter], more: 0 });
    }
    expect(telling(texts)).toEqual([]);
    // Of a member that was too late none says what its task is stored under.
    expect(texts.filter((text) => /~\S+ ran longer/.test(text))).toEqual([]);
    for (const said of [
      'result of group',
      'result of part of a run',
      'task group of good ran',
      'group (1)',
    ]) {
      expect(texts.filter((text) => text.includes(said))).not.toEqual([]);
    }
  });

  // F87
  it('the name that texts have for it is taken where nodes are named', async () => {
    const loom = harness.loom([GROUPS.atLeast]);
    await loom.worker({ concurrency: 5 }).start();
    for (const form of ['driven', 'dispatched'] as const) {
      const run = await loom.enqueue(GROUPS.atLeast, 1, { form });
      await refusal(settled(harness, run.result()));
      const again = await loom.runs.rerun(run.id, { from: 'group of bad' });
      const begun = await loom.enqueue(GROUPS.atLeast, 1, { form, startAt: 'group of bad' });
      for (const one of [again, begun]) {
        expect(await refusal(settled(harness, one.result()))).toMatchObject({ node: '~group.bad' });
      }
    }
  });
});

describe('commands', () => {
  const prefix = `unnamed-${process.pid}`;
  let harness: Harness;
  beforeEach(async () => {
    harness = await openRedis(prefix);
  });
  afterEach(() => harness.close());

  // F87
  it('name such a group in words, in every table and line', async () => {
    const loom = harness.loom(Object.values(GROUPS));
    await loom.worker({ concurrency: 5 }).start();
    const place = ['--redis', inject('redisUrl'), '--prefix', prefix];
    const lines: string[] = [];
    const told = async (...args: readonly string[]): Promise<void> => {
      const { stdout, stderr } = await fairloomHere([...args, ...place]);
      lines.push(
        ...`${stdout}\n${stderr}`.split('\n').map((line) => `${args[0]} ${args[1]}: ${line}`),
      );
    };
    for (const [kind, step] of entries()) {
      for (const form of forms(kind)) {
        const run = await loom.enqueue(step, 1, { form });
        const { id } = run;
        await told('runs', 'cancel', id);
        await told('runs', 'explain', id);
        await refusal(settled(harness, run.result()));
        for (const verb of ['get', 'explain', 'graph', 'resume']) await told('runs', verb, id);
        for (const verb of ['get', 'explain', 'logs']) await told('tasks', verb, id);
      }
    }
    await told('runs', 'list');
    await told('tasks', 'list');
    await told('dead', 'list');
    await told('dead', 'groups');
    await told('tasks', 'counts');
    for (const verb of ['stats', 'versions', 'overview', 'series']) await told(verb);
    expect(telling(lines)).toEqual([]);
    expect(lines.some((line) => line.includes('group of bad'))).toBe(true);
  });
});

/** Each takes a number. */
function entries(): readonly (readonly [keyof typeof GROUPS, (typeof GROUPS)['strict']])[] {
  return Object.entries(GROUPS) as never;
}
