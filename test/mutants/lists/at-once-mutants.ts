import type { Mutant } from '../mutants.ts';

const LEASE_STEP = 'src/backends/redis/lua/lib/steps/lease-step.lua';

/** Those that only clients notice that call at once: no call comes between, and none comes late, in a history of one after another. */
export const AT_ONCE_MUTANTS: readonly Mutant[] = [
  {
    name: 'at once: an older request is taken for the latest',
    file: LEASE_STEP,
    find: `local isAgain = worker.last and string.sub(worker.last, -#id - 1) == '-' .. id`,
    replace: `local isAgain = worker.last and worker.last ~= '' and string.match(worker.last, '%-(.*)$') >= id`,
  },
  {
    name: 'at once: who looks for work in vain is not heard of',
    file: LEASE_STEP,
    find: `  F.saveLiving(worker, last)
  F.writeStep()`,
    replace: `  if not batch.isOther or batch.n > 0 then F.saveLiving(worker, last) end
  F.writeStep()`,
  },
];
