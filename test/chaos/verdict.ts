import { LIMITS, type TaskInfo } from 'fairloom';
import type { Stats } from 'fairloom/backend';
import { causeText } from '../../src/domain/task/cause.ts';
import type { History, Run } from '../support/history.ts';
import type { Expected } from './producer.ts';

/** What became of the accepted tasks. */
export interface Verdict {
  readonly accepted: number;
  readonly finished: number;
  readonly failed: number;
  /** Of the failed: their lease ended three times. */
  readonly lost3: number;
  readonly canceled: number;
  /** Accepted, and not ended or not stored any more. */
  readonly lost: readonly string[];
  /** The backend took more than one completion, or another one than that of the newest start. */
  readonly doubles: readonly string[];
  /** Ended otherwise than they were to. */
  readonly surprises: readonly string[];
  readonly starts: number;
}

/** Records read at once. */
const PAGE = 100;

/** What is asked of the client. */
interface Records {
  readonly tasks: { get(id: string): Promise<TaskInfo | undefined> };
  stats(): Promise<Stats>;
}

interface VerdictParts {
  readonly loom: Records;
  readonly history: History;
  readonly accepted: ReadonlyMap<string, Expected>;
}

/** Holds every accepted task's record against what the ledger and the producer know. */
export async function judge({ loom, history, accepted }: VerdictParts): Promise<Verdict> {
  const counts = { finished: 0, failed: 0, lost3: 0, canceled: 0 };
  const lost: string[] = [];
  const doubles: string[] = [];
  const surprises: string[] = [];
  const ids = [...accepted.keys()];
  for (let from = 0; from < ids.length; from += PAGE) {
    const page = ids.slice(from, from + PAGE);
    const records = await Promise.all(page.map((id) => loom.tasks.get(id)));
    page.forEach((id, at) => {
      const record = records[at];
      if (record === undefined || !isEnded(record)) {
        lost.push(`${id}: ${record === undefined ? 'not stored' : record.state}`);
        return;
      }
      counts[record.state] += 1;
      if (record.failureType === 'lost') counts.lost3 += 1;
      const runs = history.runsOf(id);
      doubles.push(...doublesOf(record, runs));
      const surprise = surpriseOf(record, accepted.get(id) ?? 'any');
      if (surprise !== undefined) surprises.push(surprise);
    });
  }
  const { totals } = await loom.stats();
  if (totals.finished !== counts.finished) {
    doubles.push(`the backend counted ${totals.finished} ends of ${counts.finished} tasks`);
  }
  return { accepted: ids.length, ...counts, lost, doubles, surprises, starts: history.starts };
}

type Ended = TaskInfo & { readonly state: 'finished' | 'failed' | 'canceled' };

function isEnded(record: TaskInfo): record is Ended {
  return ['finished', 'failed', 'canceled'].includes(record.state);
}

/** More than one completion, or a completion that was not that of the newest start. */
function doublesOf(record: Ended, runs: readonly Run[]): readonly string[] {
  const found: string[] = [];
  const taken = runs.filter(({ outcome }) => outcome === 'finished');
  if (taken.length > 1) found.push(`${record.id}: ${taken.length} results were taken`);
  if (record.state !== 'finished') {
    if (taken.length > 0) found.push(`${record.id}: finished, and then ${record.state}`);
    return found;
  }
  const { fence } = resultOf(record);
  const newest = Math.max(...runs.map((run) => run.fence));
  if (fence !== newest) found.push(`${record.id}: the result of ${fence}, not of ${newest}`);
  if (taken.some((run) => run.fence !== fence)) {
    found.push(`${record.id}: another result was taken before`);
  }
  return found;
}

function surpriseOf(record: Ended, expected: Expected): string | undefined {
  const { id, state, failureType, cause, losses } = record;
  if (expected === 'any' || state === expected) return undefined;
  // Three deaths in a row are bad luck here; some of them come before the handler has begun.
  if (failureType === 'lost' && losses >= LIMITS.maxLost) return undefined;
  return `${id}: ${state} (${cause === undefined ? '' : causeText(cause)}) instead of ${expected}`;
}

/** What the handler of `work` returns. */
function resultOf({ result }: TaskInfo): { readonly fence?: number } {
  return typeof result === 'object' && result !== null ? result : {};
}
