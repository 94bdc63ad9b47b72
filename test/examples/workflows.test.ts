/**
 * The workflow examples as their users run them, on both backends: `examples/workflows/etl.mjs`
 * (with `examples/workflows/etl-steps.mjs`, and `examples/workflows/etl-worker.mjs` as processes of
 * its own), `examples/workflows/approval.mjs` (with `examples/workflows/approval-steps.mjs` and
 * `examples/workflows/approval-worker.mjs`), `examples/workflows/agent.mjs`, `examples/workflows/deploy.mjs`, `examples/workflows/deadlock.mjs`,
 * `examples/workflows/mapreduce.mjs` and `examples/workflows/stream.mjs` (with `examples/workflows/stream-task.mjs` and
 * `examples/workflows/stream-worker.mjs`); all share `examples/workflows/settings.mjs`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { ROOT, runProcess } from '../support/processes/run-process.ts';

/** Runs an example to its end, which must be a good one, and gives its lines. */
async function linesOf(file: string, args: readonly string[]): Promise<readonly string[]> {
  const path = join(ROOT, 'examples/workflows', file);
  const ended = await runProcess(process.execPath, [path, ...args]);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  return ended.stdout.trimEnd().split('\n');
}

const redis = (): readonly string[] => ['--redis', inject('redisUrl')];

describe.each([
  { name: 'embedded', where: (): readonly string[] => [] },
  { name: 'redis', where: redis },
])('examples of workflows, $name', ({ where }) => {
  it('etl executes each node once', async () => {
    const lines = await linesOf('etl.mjs', where());
    expect(lines.at(-1)).toBe('loaded 12 rows, 18600 cents; executions per node: all 1');
    expect(lines.slice(0, -1).sort()).toEqual(nodesOfEtl().map((node) => `${node}: 1`));
  });

  it('agent goes round until it knows the answer', async () => {
    const lines = await linesOf('agent.mjs', where());
    expect(lines.at(-1)).toBe('answer: the square root of 2 is 1.414, after 13 cycles');
    expect(lines.filter((line) => line.startsWith('tool: '))).toHaveLength(13);
  });

  it('deploy finishes old orders with old code, and says when that may go', async () => {
    expect((await linesOf('deploy.mjs', where())).slice(-4)).toEqual([
      'old workers may go: no',
      'shipped: a chair by post',
      'shipped: a lamp by courier',
      'old workers may go: yes',
    ]);
  });

  it('approval pays what is approved, and nothing without an answer', async () => {
    const lines = await linesOf('approval.mjs', where());
    const isApart = lines.some((line) => line.startsWith('fairloom asks answer: ann has answered'));
    const isKilled = lines.some((line) => /^killed process \d+, the only worker$/.test(line));
    expect([isApart, isKilled]).toEqual(where().length > 0 ? [true, true] : [false, false]);
    expect(lines.slice(-4)).toEqual([
      'trip: paid: ann approved',
      'chair: not paid: nobody answered',
      'kept: answered by ann, "enjoy"',
      'too late: ASK_CLOSED, timed-out',
    ]);
  });

  it('deadlock ends with one slot', async () => {
    const lines = await linesOf('deadlock.mjs', where());
    expect(lines.at(-1)).toBe('ended: 31 tasks, 4 levels of waiting, 1 slot');
  });

  it('mapreduce finds the words that a loop finds', async () => {
    const lines = await linesOf('mapreduce.mjs', ['--files', '25', ...where()]);
    const { words, different } = wordsOfDocs();
    expect(lines.at(-1)).toBe(`25 files: ${words} words, ${different} different; same as a loop`);
  });
});

it('two readers have the same words of a stream, one of which lost its connection', async () => {
  const lines = await linesOf('stream.mjs', []);
  expect(lines).toEqual([
    'a reader lost its connection, and goes on from 4',
    'You asked: what is a stream? An answer takes a while, and is read while it is made.',
    'both readers have the same words; begun anew: 0',
  ]);
});

it('and so they have although its worker is killed in the middle', async () => {
  const lines = await linesOf('stream.mjs', redis());
  expect(lines).toContainEqual(expect.stringMatching(/^killed process \d+ after 8 words$/));
  expect(lines.slice(-2)).toEqual([
    'You asked: what is a stream? An answer takes a while, and is read while it is made.',
    'both readers have the same words; begun anew: 1',
  ]);
});

it('etl executes each node once although its producer is killed', async () => {
  const lines = await linesOf('etl.mjs', ['--kill-producer', ...redis()]);
  const [, killed, row] = /^killed process (\d+), .* at row (\d+)$/.exec(lines[0] ?? '') ?? [];
  expect(Number(row)).toBeLessThan(12);
  expect(lines.at(-1)).toBe('loaded 12 rows, 18600 cents; executions per node: all 1');

  const nodes = lines.slice(1, -1).map((line) => /^(\S+): 1 \(process (\d+)\)$/.exec(line) ?? []);
  expect(nodes.map(([, node]) => node).sort()).toEqual(nodesOfEtl());
  const processOf = new Map(nodes.map(([, node, pid]) => [node, pid]));
  expect([processOf.get('extract'), processOf.get('clean')]).toEqual([killed, killed]);
  expect(processOf.get('load')).not.toBe(killed);
});

function nodesOfEtl(): readonly string[] {
  const rows = Array.from({ length: 12 }, (_none, at) => `transform[${at}]`);
  return ['extract', 'clean', ...rows, 'load'].sort();
}

/** The same by other means. */
function wordsOfDocs(): { readonly words: number; readonly different: number } {
  const docs = join(ROOT, 'docs');
  const words = readdirSync(docs)
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) =>
      readFileSync(join(docs, page), 'utf8')
        .toLowerCase()
        .split(/[^\p{L}]+/u),
    )
    .filter((word) => word !== '');
  return { words: words.length, different: new Set(words).size };
}
