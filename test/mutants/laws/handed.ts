/** Laws of a task that Redis hands to a worker that waits. */
import type { Law } from '../mutants.ts';

export const LAWS: readonly Law[] = [
  {
    law: 'A task that is handed over is of a worker that is alive.',
    file: 'src/backends/redis/lua/lib/steps/hand-over.lua',
    find: 'return head[1] and now - head[2] <= LIMIT.staleWaitMs and head[1] or nil',
    replace: 'return head[1]',
  },
  {
    law: 'A task that is handed over and not fetched goes to another worker.',
    file: 'src/backends/redis/lua/lib/steps/hot-leases.lua',
    find: 'return isHanded and math.min(till, leasedAt + LIMIT.handMs) or till',
    replace: 'return till',
  },
  {
    law: 'A task is handed over once.',
    file: 'src/worker/lease-loop.ts',
    find: `      if (leased.has(lease)) continue;\n`,
    replace: '',
  },
  {
    law: 'A worker is handed no more than it has slots.',
    file: 'src/worker/lease-loop.ts',
    find: `if (this.#freeSlots > 0) this.#take([lease]);\n      else `,
    replace: `this.#take([lease]);\n      if (false) `,
  },
  {
    law: 'A handed task that was taken back does not run.',
    file: 'src/backends/redis/workers.ts',
    find: 'if (requestOf(handed.token) === this.#request) this.#handed',
    replace: 'this.#handed',
  },
];
