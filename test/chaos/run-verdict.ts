/** What became of the runs: their ends and outputs, and what the ledger says of their nodes. */
import type { LedgerEntry } from '../support/ledger.ts';
import type { AcceptedRun } from './run-producer.ts';

/** What became of all runs. */
export interface RunVerdict {
  readonly accepted: number;
  readonly finished: number;
  readonly failed: number;
  readonly canceled: number;
  /** Failed though they were to finish: a member's lease ended three times. */
  readonly lost3: number;
  /** Not ended, or not stored. */
  readonly lost: readonly string[];
  /** Ended otherwise than they were to, or with another output. */
  readonly wrong: readonly string[];
  /** Nodes with two results that were used, or that ran again after their result was taken. */
  readonly doubles: readonly string[];
  /** Nodes and members that ran. */
  readonly nodes: number;
  readonly starts: number;
  /** Results that others were given. */
  readonly results: number;
  /** What was waited for and told, by kind. */
  readonly waits: Readonly<Record<string, number>>;
}

/** How a run is found to have ended. */
export type RunEnd =
  | { readonly state: 'finished'; readonly output: unknown }
  | { readonly state: 'failed' | 'canceled'; readonly message: string }
  | { readonly state: 'open' };

/** What ends a task whose leases keep getting lost says so. */
const LOST = /its lease ended \d+ times|failed \(lost\)/;

interface RunVerdictParts {
  readonly runs: readonly Pick<AcceptedRun, 'id' | 'shape' | 'input' | 'isCanceled' | 'witness'>[];
  readonly ends: ReadonlyMap<string, RunEnd>;
  readonly lines: readonly LedgerEntry[];
}

/** Holds the ends of the runs against what they were to give, and the ledger against itself. */
export function judgeRuns({ runs, ends, lines }: RunVerdictParts): RunVerdict {
  const counts = { finished: 0, failed: 0, canceled: 0, lost3: 0 };
  const lost: string[] = [];
  const wrong: string[] = [];
  const outputs: string[] = [];
  const waits: Record<string, number> = {};
  for (const run of runs) {
    for (const [kind, count] of Object.entries(run.witness?.counts ?? {})) {
      waits[kind] = (waits[kind] ?? 0) + count;
    }
    for (const text of run.witness?.problems ?? []) wrong.push(`${run.id}: ${text}`);
    const end = ends.get(run.id) ?? { state: 'open' };
    if (end.state === 'open') {
      lost.push(`${run.id}, ${run.shape.name}`);
      continue;
    }
    counts[end.state] += 1;
    if (end.state === 'finished') outputs.push(...tokensIn(end.output).map(({ mark }) => mark));
    const problem = problemOf(run, end);
    if (problem === 'lost') counts.lost3 += 1;
    else if (problem !== undefined) wrong.push(`${run.id}, ${run.shape.name}: ${problem}`);
  }
  return { accepted: runs.length, ...counts, lost, wrong, waits, ...ledgerOf(lines, outputs) };
}

function problemOf(
  { shape, input, isCanceled, witness }: RunVerdictParts['runs'][number],
  end: Exclude<RunEnd, { state: 'open' }>,
): string | undefined {
  if ('message' in end) {
    const { fails } = shape;
    const isToFail = fails !== undefined && end.message.includes(fails);
    if (end.state === 'canceled' ? isCanceled : isToFail) return undefined;
    return LOST.test(end.message) ? 'lost' : `${end.state}: ${end.message}`;
  }
  const told = shape.sum?.(input);
  const expected = told === undefined ? undefined : told + (witness?.worth ?? 0);
  const sum = tokensIn(end.output).reduce((all, { v }) => all + v, 0);
  return sum === expected ? undefined : `gave ${sum} instead of ${expected}`;
}

interface NodeHistory {
  readonly starts: number[];
  /** Fencing tokens under which its results were made. */
  readonly made: Map<string, number>;
}

/** A node has one result, in all answers, and no newer lease runs it again after that. */
function ledgerOf(
  lines: readonly LedgerEntry[],
  outputs: readonly string[],
): Pick<RunVerdict, 'doubles' | 'nodes' | 'starts' | 'results'> {
  const nodes = new Map<string, NodeHistory>();
  const makers = new Map<string, string>();
  const used = new Set(outputs);
  for (const { event, task, fence, took = [], mark, under } of lines) {
    if (event !== 'start' && event !== 'end') continue;
    const node = nodes.get(task) ?? { starts: [], made: new Map<string, number>() };
    nodes.set(task, node);
    if (event === 'start') {
      node.starts.push(fence);
      for (const one of took) used.add(one);
    } else if (mark !== undefined) {
      node.made.set(mark, under ?? fence);
      makers.set(mark, task);
    }
  }
  const doubles: string[] = [];
  for (const [task, { starts, made }] of nodes) {
    const taken = [...made].filter(([mark]) => used.has(mark));
    if (taken.length > 1) doubles.push(`${task}: ${taken.length} of its results were used`);
    for (const [, fence] of taken) {
      const again = starts.filter((one) => one > fence);
      if (again.length > 0) doubles.push(`${task}: ran again after its result was taken`);
    }
  }
  const results = [...used].filter((mark) => makers.has(mark)).length;
  const starts = [...nodes.values()].reduce((sum, node) => sum + node.starts.length, 0);
  return { doubles, nodes: nodes.size, starts, results };
}

/** Every `{ v, mark }` in a value. */
function tokensIn(value: unknown): readonly { readonly v: number; readonly mark: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  const { v, mark } = value as { readonly v?: unknown; readonly mark?: unknown };
  if (typeof v === 'number' && typeof mark === 'string') return [{ v, mark }];
  return Object.values(value).flatMap(tokensIn);
}
