/** Laws of bulk changes, error groups and debounce windows. */
import type { Law } from '../mutants.ts';

export const LAWS: readonly Law[] = [
  {
    law: 'A bulk change of a dry run changes nothing.',
    file: 'src/bulk/bulk-drive.ts',
    first: 'bulk/bulk.test.ts',
    find: 'this.#page = this.#spec.dryRun === true ? [] : page;',
    replace: 'this.#page = page;',
  },
  {
    law: 'A bulk change keeps its rate.',
    file: 'src/bulk/bulk-drive.ts',
    first: 'bulk/bulk.test.ts',
    find: 'new Pace(rate, this.#tools.clock, reserved)',
    replace: 'new Pace(rate, this.#tools.clock)',
  },
  {
    law: 'A bulk redrive puts back only what had failed when it began.',
    file: 'src/bulk/bulk-targets.ts',
    first: 'bulk/bulk.test.ts',
    find: 'if (isEnd(state)) return (endedAt ?? 0) <= this.#startedBy;',
    replace: 'if (isEnd(state)) return (endedAt ?? 0) >= 0;',
  },
  {
    law: 'Error groups go with their last task.',
    file: 'src/backends/redis/lua/lib/ends/failures.lua',
    find: `  if redis.call('EXISTS', K.failedOf(group)) == 0 then Failures.forget(group) end\n`,
    replace: '',
  },
  {
    law: 'The window of a debounce ends at its longest wait.',
    file: 'src/domain/task/window.ts',
    find: 'now + debounced(spec, from, now) };',
    replace: 'now + debounced(spec, now, now) };',
  },
];
