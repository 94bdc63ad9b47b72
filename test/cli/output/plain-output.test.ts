/** What others wrote reaches no terminal as anything but text: every command, every form, both streams. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { redis } from '../../../src/backends/redis/redis-backend.ts';
import { Fairloom } from '../../../src/client/client.ts';
import { Fatal } from '../../../src/domain/errors/errors.ts';
import { suggestion } from '../../../src/domain/explain/suggestion.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { fairloomHere } from '../../support/cli-here.ts';
import { PRINTED } from '../../support/docs/documented-output.ts';

/** Colors, a title, the bell, lines of one's own, C1, another direction, hidden characters. */
const NASTY =
  'x\u001b[31m\u001b]0;owned\u0007\r\n\u009b2J\u0085\u2028\u202e\u2066\u200f\u061c\ufeff';

/** Ids that are words of the command line, or hold what a terminal obeys. */
const IDS = ['--all', `-${NASTY}`, NASTY] as const;

/** All that may be seen: text, ends of lines, and our own colors. */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060\ufeff]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how a color begins.
const OURS = /\u001b\[(?:1|2|22|31|32|33|39)m/g;

const prefix = `plain-${process.pid}`;
const where = ['--redis', inject('redisUrl'), '--prefix', prefix];

const fine = task('fine', { xcom: true }, async () => NASTY);
const other = task('other', async (_: string) => NASTY);
const broken = task('broken', { retries: 0 }, async (_: string, ctx): Promise<string> => {
  ctx.log.warn(NASTY, { [NASTY]: NASTY });
  throw new Fatal(NASTY);
});
const pipeline = fine.pipe(parallel({ [`k${NASTY}`]: broken, b: other })).as('line');
const loom = new Fairloom({
  backend: redis(inject('redisUrl'), { prefix }),
  tasks: [pipeline],
  log: silentLogger,
});

async function run(args: readonly string[], env = {}): Promise<{ out: string; err: string }> {
  const { stdout: out, stderr: err } = await fairloomHere(args, { env });
  return { out, err };
}

beforeAll(async () => {
  const options = { user: NASTY };
  const ending: Promise<unknown>[] = [];
  for (const [at, id] of IDS.entries()) {
    ending.push((await loom.enqueue(broken, NASTY, { ...options, id })).result());
    await loom.enqueue(fine, undefined, { ...options, id: `${id}-delayed`, delay: '1h' });
    const dependsOn = [`${id}-delayed`];
    await loom.enqueue(fine, undefined, { ...options, id: `${id}-waits`, dependsOn });
    const handle = await loom.enqueue(pipeline, undefined, { ...options, id: `${id}-run` });
    ending.push(handle.result());
    await loom.tasks.cancel(`${id}-waits`, { reason: NASTY });
    await loom.users.set(`${NASTY}${at}`, { weight: 2, maxRunning: 1 });
  }
  await loom.xcom.push(NASTY, NASTY, options);
  const worker = loom.worker({ concurrency: 4, id: 'w' });
  await worker.start();
  await Promise.allSettled(ending);
  const input = NASTY;
  await loom.schedules.set('often', { every: '1h', task: fine, user: NASTY, input } as never);
});
afterAll(() => loom.close());

/** Lists that may be empty here, and show nothing then. */
const EMPTY = ['tasks dependents', 'streams list', 'asks list'];

/** Command lines that show what is stored; ids stand behind `--`. */
const READING: readonly (readonly string[])[] = [
  ['tasks', 'list', '--all'],
  ...IDS.flatMap((id) => [
    ['tasks', 'get', '--', id],
    ['tasks', 'get', '--', `${id}-waits`],
    ['tasks', 'explain', '--', id],
    ['tasks', 'logs', '--', id],
    ['tasks', 'dependents', '--', `${id}-delayed`],
    ['tasks', 'explain', '--', `${id}-delayed`],
    ['tasks', 'explain', '--', `${id}-waits`],
    ['runs', 'get', '--', `${id}-run`],
    ['runs', 'graph', '--', `${id}-run`],
    ['runs', 'explain', '--', `${id}-run`],
    ['runs', 'export', '--', `${id}-run`],
    ['tasks', 'cancel', '--dry-run', '--', `${id}-delayed`],
    ['tasks', 'redrive', '--', `${id}-nobody`],
    ['tasks', 'run-now', '--', `${id}-nobody`],
    ['tasks', 'remove', '--yes', '--', `${id}-nobody`],
    ['runs', 'cancel', '--yes', '--', `${id}-nobody`],
    ['runs', 'pause', '--reason', NASTY, '--', id],
    ['runs', 'resume', '--', `${id}-nobody`],
    ['schedules', 'get', '--', `${id}-nobody`],
    ['users', 'get', '--', id],
    ['signal', '--', `${id}-delayed`, 'go', '1'],
    ['asks', 'get', '--', `${id}-nobody`],
    ['asks', 'answer', '--by', 'ann', '--', `${id}-nobody`, 'yes'],
    ['streams', 'list', '--', id],
    ['streams', 'read', '--', `${id}-nobody`, 'tokens'],
    ['queues', 'pause', '--', id],
    ['enqueue', 'fine', '--wait', '1ms', '--id', `${id}-timely`],
  ]),
  ['bulk', 'start', 'cancel', '--where', 'user:nobody', '--by', NASTY, '--reason', NASTY],
  ['bulk', 'list'],
  ['bulk', 'get', NASTY],
  ['bulk', 'cancel', NASTY],
  ['bulk', 'start', 'cancel', '--dry-run', '--where', NASTY],
  ['dead', 'groups'],
  ['dead', 'list', '--all'],
  ['dead', 'remove', '--all', '--dry-run'],
  ['runs', 'list'],
  ['asks', 'list'],
  ['publish', 'paid', NASTY, '1'],
  ['versions'],
  ['series'],
  ['users', 'list'],
  ['users', 'get', NASTY],
  ['users', 'pause', `${NASTY}0`],
  ['xcom', 'list', '--user', NASTY],
  ['xcom', 'get', NASTY, '--user', NASTY],
  ['xcom', 'namespaces', '--user', NASTY],
  ['schedules', 'list'],
  ['schedules', 'get', 'often'],
  ['queues', 'list'],
  ['queues', 'get', 'default'],
  ['workers', 'list'],
  ['status'],
  ['health'],
  ['doctor'],
  ['copy', '--from', NASTY, '--to', NASTY],
  ['top'],
  ['config', 'show'],
  [`--${NASTY}`],
  ['tasks', NASTY],
  ['worker', NASTY],
  ['run', NASTY, '--module', NASTY],
  ['tasks', 'list', '--queue', NASTY],
];

const FORMS = ['table', 'json', 'jsonl', 'id'] as const;

// F65
it.each(FORMS)('no command prints what a terminal obeys, as %s', async (form) => {
  for (const args of READING) {
    const [first = '', ...rest] = args;
    for (const env of [{}, { FORCE_COLOR: '1' }]) {
      const { out, err } = await run([first, '-o', form, ...where, ...rest], env);
      const shown = `${out}${err}`.replaceAll(OURS, '').replaceAll('\n', '');
      expect(FORBIDDEN.exec(shown), `${JSON.stringify(args)}: ${JSON.stringify(shown)}`).toBeNull();
      if (!EMPTY.includes(args.slice(0, 2).join(' ')))
        expect(out + err, JSON.stringify(args)).not.toBe('');
      if (form === 'json' && out !== '') JSON.parse(out);
    }
  }
});

// F65
it('JSON says what the text was, and a line of ids is one id', async () => {
  const { out } = await run(['tasks', 'get', '-o', 'json', ...where, '--', NASTY]);
  expect(JSON.parse(out)).toMatchObject({ id: NASTY, user: NASTY });
  const ids = await run(['dead', 'list', '-o', 'id', ...where]);
  expect(ids.out.split('\n').filter((line) => line !== '').length).toBeGreaterThanOrEqual(3);
});

// F65
it('colors are ours alone', async () => {
  const { out } = await run(['tasks', 'list', ...where], { FORCE_COLOR: '1' });
  expect(out).toContain('\u001b[31mfailed\u001b[39m');
  expect((await run(['tasks', 'list', ...where])).out).not.toContain('\u001b');
});

// F65
it('every command that prints is among them', () => {
  const seen = new Set(READING.flatMap(([noun = '', verb = '']) => [noun, `${noun} ${verb}`]));
  // What is left shows nothing that others wrote, or what the commands above show.
  const others = [
    ...[
      'demo',
      'graphs show',
      'runs rerun',
      'runs fork',
      'runs import',
      'dead redrive',
      'schedules next',
    ],
    ...['schedules set', 'schedules on', 'schedules run', 'schedules pause', 'schedules resume'],
    ...['schedules remove', 'schedules backfill', 'schedules update'],
  ];
  const missing = [...PRINTED.keys()].filter((one) => !seen.has(one) && !others.includes(one));
  expect(missing).toEqual([]);
});

// F65
it('a suggested command is what was meant, for any id', () => {
  const id = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }).map((text) => text.replaceAll('\0', '')),
    fc.constantFrom(...IDS, "it's", '$(id)', '`id`', '"', '\\', '\\u0041', '*', '~', '!', 'a b'),
  );
  const words = fc.sample(
    id.filter((text) => text !== ''),
    300,
  );
  const lines = words.map((word) =>
    suggestion('tasks get', word).replace('fairloom tasks get', 'say'),
  );
  const script = `say() { [ "$1" = -- ] && shift; printf '%s\\0' "$1"; }\n${lines.join('\n')}\n`;
  const said = execFileSync('bash', ['--norc'], {
    input: script,
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  });
  expect(said.toString('utf8').split('\0').slice(0, -1)).toEqual(words);
  for (const line of lines) expect(FORBIDDEN.exec(line)).toBeNull();
});

// F65
it('`explain` of an id like an option suggests commands that take it as an id', async () => {
  const { obstacles } = await loom.tasks.explain('--all');
  expect(obstacles.map(({ command }) => command)).toEqual([
    expect.stringMatching(/^fairloom \S+ \S+ -- '?--all'?$/),
  ]);
});
