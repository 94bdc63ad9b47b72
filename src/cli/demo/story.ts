/** What the demo shows beside the shares: a retry, a cancel, a diamond, a pipeline with a group. */

import { setTimeout as pause } from 'node:timers/promises';
import { errorSaying } from '../../base/thrown.ts';
import type { Fairloom } from '../../client/client.ts';
import { parallel } from '../../workflow/parallel.ts';
import type { AnyStep, Task } from '../../workflow/step.ts';
import { task } from '../../workflow/task-definition.ts';

/** What became of the four; part of the demo's JSON line. */
export interface Story {
  /** Attempts that the failing task took, and how it ended. */
  readonly retried: { readonly user: string; readonly attempts: number };
  /** How the running task ended after its cancel. */
  readonly canceled: { readonly user: string; readonly state: string };
  /** Tasks of the diamond in the order in which they ran. */
  readonly diamond: { readonly user: string; readonly order: readonly string[] };
  /** What the pipeline made, and how its nodes ended. */
  readonly pipeline: {
    readonly user: string;
    readonly result: string;
    readonly nodes: Readonly<Record<string, string>>;
  };
}

/** The wait before the second attempt of the failing task, in ms: long enough to be seen. */
const BACKOFF_MS = 300;
/** How long the task that is canceled would take, in ms. */
const LONG_MS = 60_000;
/** How long one corner of the diamond takes, in ms. */
const CORNER_MS = 20;

/** The work of every other task: so many milliseconds of waiting for something. */
export const work: Task<number, void> = task('work', async (ms: number, ctx) => {
  await pause(ms, undefined, { signal: ctx.signal });
});

const flaky = task(
  'flaky',
  { retries: 1, backoff: { kind: 'fixed', base: BACKOFF_MS, jitter: 'none' } },
  (_input: undefined, ctx) => {
    if (ctx.attempt === 1) throw errorSaying('the first attempt always fails');
    return ctx.attempt;
  },
);

const endless = task('endless', async (_input: undefined, ctx) => {
  await pause(LONG_MS, undefined, { signal: ctx.signal });
});

const corner = task('corner', async (name: string, ctx) => {
  await pause(CORNER_MS, undefined, { signal: ctx.signal });
  const before = ctx.upstream.all.flatMap((one) =>
    one.state === 'finished' && Array.isArray(one.result) ? one.result.map(String) : [],
  );
  return [...new Set([...before, name])];
});

const measure = task('measure', async (days: number, ctx) => {
  await pause(CORNER_MS, undefined, { signal: ctx.signal });
  return Array.from({ length: days }, (_, day) => (day * day) % 23);
});
const mean = task('mean', async (values: readonly number[]) =>
  Math.round(values.reduce((sum, value) => sum + value, 0) / values.length),
);
const peak = task('peak', async (values: readonly number[]) => Math.max(...values));
const publish = task(
  'publish',
  async (found: { readonly mean: number; readonly peak: number }) =>
    `mean ${found.mean}, peak ${found.peak}`,
);
const report = measure.pipe(parallel({ mean, peak })).pipe(publish).as('report');

/** Definitions of the story, to be registered. */
export const STORY_TASKS: readonly AnyStep[] = [flaky, endless, corner, report];

/** Of all tasks of the demo, those of the pipeline too. */
export const DEMO_NAMES: ReadonlySet<string> = new Set(
  [work, flaky, endless, corner, report, measure, mean, peak, publish].map(({ name }) => name),
);

/** Days that the pipeline reports on. */
const DAYS = 30;

/** Urgent within their user, so that they need not wait behind its other tasks. */
const URGENT = { priority: 'critical' } as const;

/** A task that fails once and is run again. */
export async function retryOnce(
  loom: Fairloom,
  user: string,
  news: (text: string) => void,
): Promise<Story['retried']> {
  const handle = await loom.enqueue(flaky, undefined, { ...URGENT, user });
  const attempts = await handle.result();
  news(`retry: ${user}'s task failed, waited ${BACKOFF_MS} ms and finished at attempt ${attempts}`);
  return { user, attempts };
}

/** A task that runs, and is canceled while it does. */
export async function cancelOne(
  loom: Fairloom,
  user: string,
  news: (text: string) => void,
): Promise<Story['canceled']> {
  const handle = await loom.enqueue(endless, undefined, { ...URGENT, user });
  for (;;) {
    const found = await loom.tasks.get(handle.id);
    if (found === undefined || found.state === 'started') break;
    await pause(CORNER_MS);
  }
  const { kind } = await loom.tasks.cancel(handle.id);
  await handle.result().catch(() => undefined);
  const state = (await loom.tasks.get(handle.id))?.state ?? 'gone';
  news(`cancel: ${user}'s running task was asked to stop (${kind}) and ended as ${state}`);
  return { user, state };
}

/** Four tasks: the first, two that wait for it, and one that waits for both. */
export async function diamond(
  loom: Fairloom,
  user: string,
  news: (text: string) => void,
): Promise<Story['diamond']> {
  const top = await loom.enqueue(corner, 'top', { ...URGENT, user });
  const [left, right] = await Promise.all(
    ['left', 'right'].map((name) =>
      loom.enqueue(corner, name, { ...URGENT, user, dependsOn: [top] }),
    ),
  );
  const sides = [left, right].flatMap((side) => side ?? []);
  const bottom = await loom.enqueue(corner, 'bottom', { ...URGENT, user, dependsOn: sides });
  const order = await bottom.result();
  news(`diamond: ${user}'s ${order.join(' → ')}, each after what it depends on`);
  return { user, order };
}

/** A run of four tasks, two of which are a group that the last one waits for. */
export async function runPipeline(
  loom: Fairloom,
  user: string,
  news: (text: string) => void,
): Promise<Story['pipeline']> {
  const run = await loom.enqueue(report, DAYS, { ...URGENT, user });
  const result = await run.result();
  const found = await loom.runs.get(run.id);
  const nodes = Object.fromEntries((found?.nodes ?? []).map(({ node, state }) => [node, state]));
  news(`pipeline: ${user}'s measure → (mean | peak) → publish gave "${result}"`);
  return { user, result, nodes };
}
