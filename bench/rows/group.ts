import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { type Fleet, openFleet } from '../kit/fleet.ts';
import { now } from '../kit/now.ts';
import { HUNDRED_BYTES, type Payload } from '../kit/payload.ts';
import { median, percentile, rounded } from '../kit/statistics.ts';
import { groupOf, openRuns } from '../sides/fairloom-runs.ts';

type Form = 'fairloom' | 'fairloom-plain';

/** Of all groups together. */
const MEMBERS = 20_000;
/** Of one group. */
const GROUP = 1_000;
/** Of one small group, and how many of them. */
const SMALL = { members: 10, groups: 200 };
const SLOTS = 100;
const USER = 'user-0';
const FORMS: readonly Form[] = ['fairloom', 'fairloom-plain'];

export const group: Bench = {
  name: 'group',
  about:
    '20 times, one after the other: a driven run of a strict `parallel` of 1,000 tasks that do ' +
    'nothing, input 100 bytes, beside `enqueueMany` of the same tasks. Two worker processes with 100 slots each. ' +
    'Plain tasks count from the call to the start of the last one; a group from the call until the ' +
    'caller has its result. What lies between the start of its last member and that is the second ' +
    'row: the arrival, the waking of the run, and its end. The third row is the same of 200 groups of ' +
    'ten members.',
  sides: FORMS.map((name) => ({ name, run: (context) => groupRound(context, name) })),
  rows: [
    {
      table: 'workflows',
      measure: 'group of 1,000, two worker processes',
      metrics: ['perSecond'],
      unit: 'members/s',
      better: 'more',
      goals: [
        { kind: 'times', side: 'fairloom-plain', times: 0.5 },
        // Five times the measurement of another library for such groups.
        { kind: 'least', metric: 'perSecond', value: 2_450 },
      ],
    },
    {
      table: 'workflows',
      measure: '– from its last member to its result, p50 / p99',
      metrics: ['resume50', 'resume99'],
      unit: 'ms',
      better: 'less',
      goals: [{ kind: 'most', metric: 'resume99', value: 10, of: 'p99' }],
    },
    {
      table: 'workflows',
      measure: '– the same of a group of 10, p50 / p99',
      metrics: ['small50', 'small99'],
      unit: 'ms',
      better: 'less',
      goals: [{ kind: 'most', metric: 'small99', value: 10, of: 'p99' }],
    },
  ],
};

interface Order extends Awaited<ReturnType<typeof openRuns>> {
  readonly members: Awaited<ReturnType<typeof groupOf>>;
  readonly size: number;
  /** Of each member or task. */
  readonly payload: Payload;
}

/** One batch: the time of the call, and the time when the caller knew that it was done. */
interface Batch {
  readonly name: string;
  readonly from: number;
  readonly till: number;
}

async function groupRound(context: BenchContext, form: Form): Promise<Figures> {
  const redis = await context.redis();
  const all = context.size(MEMBERS);
  const size = Math.min(GROUP, all);
  const runs = await openRuns(redis.url);
  const members = await groupOf(size);
  const few = await groupOf(SMALL.members);
  const work = { slots: SLOTS, handlerMs: 0, delayed: false, keepStarts: true } as const;
  const fleet = await openFleet({ ...work, side: 'fairloom', url: redis.url, processes: 2 });
  try {
    await fleet.start();
    const batches: Batch[] = [];
    for (let at = 0; at < Math.floor(all / size); at++) {
      const name = `batch-${at}`;
      const order = { ...runs, members, size, payload: { ...HUNDRED_BYTES, u: name } };
      const from = now();
      const till = await (form === 'fairloom' ? asGroup : asTasks)(order);
      await fleet.handled((at + 1) * size);
      batches.push({ name, from, till });
    }
    const groups = form === 'fairloom' ? context.size(SMALL.groups) : 0;
    const small: Batch[] = [];
    for (let at = 0; at < groups; at++) {
      const name = `small-${at}`;
      const order = {
        ...runs,
        members: few,
        size: SMALL.members,
        payload: { ...HUNDRED_BYTES, u: name },
      };
      small.push({ name, from: now(), till: await asGroup(order) });
    }
    await fleet.handled(Math.floor(all / size) * size + groups * SMALL.members);
    return figuresOf(form, { batches, small, size, starts: await startsOf(fleet) });
  } finally {
    await runs.loom.close();
    fleet.kill();
  }
}

async function asGroup({ loom, members, payload }: Order): Promise<number> {
  const run = await loom.enqueue(members, payload, { user: USER, form: 'driven' });
  await run.result();
  return now();
}

async function asTasks({ loom, job, payload, size }: Order): Promise<number> {
  await loom.enqueueMany(job, new Array<Payload>(size).fill(payload), { user: USER });
  return now();
}

/** When the last task of each batch started. */
async function startsOf(fleet: Fleet): Promise<ReadonlyMap<string, number>> {
  const { starts } = await fleet.finish();
  const last = new Map<string, number>();
  for (const [name, at] of starts) last.set(name, Math.max(at, last.get(name) ?? 0));
  return last;
}

function figuresOf(
  form: Form,
  {
    batches,
    small,
    size,
    starts,
  }: {
    readonly batches: readonly Batch[];
    readonly small: readonly Batch[];
    readonly size: number;
    readonly starts: ReadonlyMap<string, number>;
  },
): Figures {
  const lastStart = ({ name }: Batch): number => starts.get(name) ?? Number.NaN;
  const perSecond = (ms: readonly number[]): number => rounded((size / median(ms)) * 1_000);
  if (form === 'fairloom-plain') {
    return { perSecond: perSecond(batches.map((batch) => lastStart(batch) - batch.from)) };
  }
  const sinceLast = (all: readonly Batch[]): readonly number[] =>
    all.map((batch) => batch.till - lastStart(batch));
  const resumes = sinceLast(batches);
  const few = sinceLast(small);
  return {
    perSecond: perSecond(batches.map(({ from, till }) => till - from)),
    resume50: rounded(percentile(resumes, 50)),
    resume99: rounded(percentile(resumes, 99)),
    small50: rounded(percentile(few, 50)),
    small99: rounded(percentile(few, 99)),
  };
}
