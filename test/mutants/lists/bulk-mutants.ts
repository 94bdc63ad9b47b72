/** Mutants of searches, and of bulk actions. */
import type { Mutant } from '../mutants.ts';

const BULK = 'bulk/bulk.test.ts';
const FAULTS = 'bulk/bulk-faults.test.ts';
const SEARCH = 'search/search.test.ts';
const DRIVE = 'src/bulk/bulk-drive.ts';
const TARGETS = 'src/bulk/bulk-targets.ts';

export const BULK_MUTANTS: readonly Mutant[] = [
  {
    name: 'bulk: what failed later is put back too',
    file: TARGETS,
    find: `if (isEnd(state)) return (endedAt ?? 0) <= this.#startedBy;`,
    replace: `if (isEnd(state)) return (endedAt ?? 0) >= 0;`,
    first: BULK,
  },
  {
    name: 'bulk: a late call puts back what has failed again',
    file: 'src/backends/memory/admin.ts',
    find: `return endedBy !== undefined && endedAt > endedBy;`,
    replace: `return endedBy !== undefined && endedAt < 0;`,
    first: FAULTS,
  },
  {
    name: 'bulk: a run that has failed again is put back by a late call',
    file: 'src/runs/calls/resume.ts',
    find: `    this.#failedBy = failedBy;\n`,
    replace: `    this.#failedBy = failedBy === undefined ? undefined : Infinity;\n`,
    first: FAULTS,
  },
  {
    name: 'bulk: what may have been changed before is not looked at',
    file: DRIVE,
    find: `if (begun.length > 0) this.#known`,
    replace: `if (begun.length < 0) this.#known`,
    first: FAULTS,
  },
  {
    name: 'bulk: after a death a task is taken for the one that had its id before',
    file: TARGETS,
    find: `if (record === undefined || record.createdAt > this.#startedBy) {`,
    replace: `if (record === undefined) {`,
    first: FAULTS,
  },
  {
    name: 'bulk: a call whose answer was lost counts as skipped',
    file: DRIVE,
    find: `const known = isAgain ? await`,
    replace: `const known = isAgain && !isAgain ? await`,
    first: FAULTS,
  },
  {
    name: 'bulk: its rate begins anew with every chunk',
    file: DRIVE,
    find: `new Pace(rate, this.#tools.clock, reserved)`,
    replace: `new Pace(rate, this.#tools.clock)`,
    first: BULK,
  },
  {
    name: 'bulk: a cancel leaves no word of what was done',
    file: DRIVE,
    find: `    await backend.runs.writeChannel(lease, { run: lease.id, writes });\n`,
    replace: `    void writes;\n`,
    first: BULK,
  },
  {
    name: 'bulk: a dry run is none',
    file: DRIVE,
    find: `this.#page = this.#spec.dryRun === true ? [] : page;`,
    replace: `this.#page = page;`,
    first: BULK,
  },
  {
    name: 'bulk: parts of runs are put back alone',
    file: TARGETS,
    find: `if (this.#spec.action === 'redrive') return this.#wholes(meant);`,
    replace: `if (this.#spec.action !== 'redrive') return this.#wholes(meant);`,
    first: FAULTS,
  },
  {
    name: 'search: free text looks at no error',
    file: 'src/search/match.ts',
    find: `[id, name, user, queue, error?.name, error?.message]`,
    replace: `[id, name, user, queue, error?.name]`,
    first: SEARCH,
  },
  {
    name: 'search: a page goes on behind what it has read, and not behind what it has given',
    file: 'src/search/search.ts',
    find: `const behind = await walk.behind(from, step, at + 1);`,
    replace: `const behind = await walk.behind(from, step, step.rows.length);`,
    first: SEARCH,
  },
  {
    name: 'search: it has no bound',
    file: 'src/search/search.ts',
    find: `searched >= LIMITS.searchScan`,
    replace: `searched < 0`,
    first: SEARCH,
  },
];
