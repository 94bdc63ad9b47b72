/** Laws of clients that call at once. */
import type { Law } from '../mutants.ts';

export const LAWS: readonly Law[] = [
  {
    law: 'A worker that looked for work in vain is woken by the next task.',
    file: 'src/backends/redis/lua/lib/steps/lease-step.lua',
    find: `  F.saveLiving(worker, not isAgain and id)\n`,
    replace: `  if batch.n > 0 then F.saveLiving(worker, not isAgain and id) end\n`,
  },
];
