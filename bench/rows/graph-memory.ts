import { Redis } from 'ioredis';
import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { HUNDRED_BYTES } from '../kit/payload.ts';
import { chain, openRuns } from '../sides/fairloom-runs.ts';

type Form = 'fairloom' | 'fairloom-copies';

const RUNS = 100;
/** Of the workflow. */
const STEPS = 100;
/** Bytes of the changing numbers, at the front of a record's facts: every record has them sooner or later. */
const STATE_BYTES = 34;
const FORMS: readonly Form[] = ['fairloom', 'fairloom-copies'];

export const graphMemory: Bench = {
  name: 'graph-memory',
  about:
    '100 driven runs of a workflow of 100 steps, or of 100 workflows that differ in nothing but ' +
    'their names, so that each has a graph of its own: `MEMORY USAGE` of all keys of the graphs, ' +
    'the lists of what needs them included. The reference is what the record of the first node of ' +
    'a dispatched run, and that of a driven run with all its options, hold more than a plain task ' +
    'of the same payload.',
  sides: FORMS.map((name) => ({ name, run: (context) => memoryRound(context, name) })),
  rows: [
    {
      table: 'workflows',
      measure: 'graphs of 100 runs on Redis',
      metrics: ['bytes'],
      unit: 'bytes',
      better: 'less',
      goals: [{ kind: 'times', side: 'fairloom-copies', times: 10 }],
    },
    {
      table: 'workflows',
      measure: 'graphs stored for 100 runs',
      metrics: ['graphs'],
      unit: '',
      better: 'less',
      goals: [{ kind: 'most', metric: 'graphs', value: 1 }],
    },
    {
      table: 'workflows',
      measure: 'reference in a record: of a node / of a driven run',
      metrics: ['nodeBytes', 'runBytes'],
      unit: 'bytes',
      better: 'less',
      goals: [
        // A workflow has many nodes, but a run has one record of its own.
        { kind: 'most', metric: 'nodeBytes', value: 160, of: 'node' },
      ],
    },
  ],
};

async function memoryRound(context: BenchContext, form: Form): Promise<Figures> {
  const server = await context.redis();
  const admin = new Redis(server.url);
  try {
    await storeRuns(server.url, form);
    const keys = await admin.keys('fq:graph*');
    const sizes = await Promise.all(keys.map((key) => admin.memory('USAGE', key, 'SAMPLES', 0)));
    const bytes = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
    const graphs = keys.filter((key) => key.startsWith('fq:graph:')).length;
    if (form === 'fairloom-copies') return { bytes, graphs };
    return { bytes, graphs, ...(await references(server.url, admin)) };
  } finally {
    admin.disconnect();
  }
}

async function storeRuns(url: string, form: Form): Promise<void> {
  const { loom } = await openRuns(url);
  const shared = await chain('report-000', STEPS);
  for (let at = 0; at < RUNS; at++) {
    const name = `report-${String(at).padStart(3, '0')}`;
    const workflow = form === 'fairloom' ? shared : await chain(name, STEPS);
    await loom.enqueue(workflow, undefined, { form: 'driven' });
  }
  await loom.close();
}

/** Bytes that records hold because of their graph. */
async function references(url: string, admin: Redis): Promise<Figures> {
  const { loom, job } = await openRuns(url);
  const pair = job.as('step0').pipe(job.as('step1')).as('report');
  const usual = await loom.enqueue(job, HUNDRED_BYTES);
  const dispatched = await loom.enqueue(pair, HUNDRED_BYTES, { form: 'dispatched' });
  const nodes = (await loom.runs.get(dispatched.id))?.nodes ?? [];
  const first = nodes.find(({ node }) => node === 'step0')?.taskId ?? '';
  const driven = await loom.enqueue(pair, HUNDRED_BYTES, { form: 'driven' });
  await loom.close();
  const alone = await recordBytes(admin, usual.id);
  return {
    nodeBytes: (await recordBytes(admin, first)) - alone,
    runBytes: (await recordBytes(admin, driven.id)) - alone,
  };
}

/** Bytes stored for a task, without its state. */
async function recordBytes(admin: Redis, id: string): Promise<number> {
  const stored = async (key: string): Promise<number> => {
    return (await admin.hgetBuffer(`fq:${key}`, id))?.length ?? 0;
  };
  const facts = await stored('facts');
  return (await stored('tasks')) + (await stored('payloads')) + Math.max(facts - STATE_BYTES, 0);
}
