import type { Mutant } from '../mutants.ts';

const LEASE_STEP = 'src/backends/redis/lua/lib/steps/lease-step.lua';

/** Those that only clients notice that call at once: in a history of one after another nothing comes between the scripts of a call. */
export const AT_ONCE_MUTANTS: readonly Mutant[] = [
  {
    name: 'at once: who looks for work in vain is not heard of',
    file: LEASE_STEP,
    find: `  F.saveLiving(worker, not isAgain and id)
`,
    replace: `  if batch.n > 0 then F.saveLiving(worker, not isAgain and id) end
`,
  },
];
