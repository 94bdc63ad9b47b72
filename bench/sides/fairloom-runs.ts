/** Workflows of Fairloom, made of the task that the workers of `fairloom.ts` know. */
import { loadFairloom, loadFairloomRedis } from '../kit/fairloom-package.ts';
import { HUNDRED_BYTES, type Payload } from '../kit/payload.ts';
import type { FlowCaller } from '../kit/side.ts';
import { ERRORS, JOB } from './fairloom.ts';

/** A client that starts runs and has no worker. */
export async function openRuns(url: string) {
  const [{ Fairloom }, { redis }, job] = await Promise.all([
    loadFairloom(),
    loadFairloomRedis(),
    noop(),
  ]);
  return { loom: new Fairloom({ backend: redis(url), tasks: [job], log: ERRORS }), job };
}

let made: ReturnType<typeof makeNoop> | undefined;

/** Accepts any input; the worker has the handler. There is one task of this name. */
function noop(): ReturnType<typeof makeNoop> {
  made ??= makeNoop();
  return made;
}

async function makeNoop() {
  const { task } = await loadFairloom();
  return task(JOB, async (_input: unknown): Promise<void> => {});
}

/** A workflow of this many steps, one after the other, each with the same small input. */
export async function chain(name: string, steps: number) {
  const { flow } = await loadFairloom();
  const job = await noop();
  const input: Payload = { d: '' };
  return flow(name, (f) => {
    let last = f.step(job, input, { as: 'step0' });
    for (let at = 1; at < steps; at++) {
      last = f.step(job, input, { as: `step${at}`, after: [last] });
    }
    return last;
  });
}

/** A group of this many members, which all get the input of the group. */
export async function groupOf(members: number) {
  const { parallel } = await loadFairloom();
  const job = await noop();
  const names = Array.from({ length: members }, (_, at) => `member${at}`);
  return parallel(Object.fromEntries(names.map((name) => [name, job.as(name)])));
}

/** The same shape as a flow of BullMQ: members of a group, and a task after all of them. */
export async function fairloomFlows(url: string, children: number): Promise<FlowCaller> {
  const { loom, job } = await openRuns(url);
  // A caller makes a workflow once; each run of it has its own input and records.
  const family = (await groupOf(children)).pipe(job.as('parent')).as('family');
  return {
    add: async (user) => {
      await loom.enqueue(family, HUNDRED_BYTES, { user, form: 'dispatched' });
    },
    close: () => loom.close(),
  };
}
