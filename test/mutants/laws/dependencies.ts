/** Laws of dependencies. */
import type { Law } from '../mutants.ts';

export const LAWS: readonly Law[] = [
  {
    law: 'A task starts when all its dependencies have ended.',
    file: 'src/backends/memory/rules/end.ts',
    find: '  if (dependent.optional.blocked === undefined || dependent.optional.blocked.size > 0) return;',
    replace: '  if (dependent.optional.blocked === undefined) return;',
  },
  {
    law: 'A task starts when all its dependencies have ended.',
    file: 'src/backends/redis/lua/lib/ends/cascade.lua',
    find: " == 0 or redis.call('EXISTS', key) == 1 then return end",
    replace: ' == 0 then return end',
  },
  {
    law: 'The end of a task reaches each task that depends on it.',
    file: 'src/backends/memory/rules/end.ts',
    find: '  if (hasWaiting || entry.upstreamIds.length > 0 || ',
    replace: '  if (entry.upstreamIds.length > 0 || ',
  },
  {
    law: 'The end of a task reaches each task that depends on it.',
    file: 'src/backends/redis/lua/lib/ends/end.lua',
    find: '  if reads or t.dependents or ',
    replace: '  if reads or ',
  },
  {
    law: 'A task that depends on a failed one fails.',
    file: 'src/backends/memory/rules/end.ts',
    find: `  dependent.own().waitUntil ??= store.now + LIMITS.waitMaxMs;\n`,
    replace: '',
  },
  {
    law: 'A canceled dependency counts as canceled, not as failed.',
    file: 'src/backends/redis/lua/lib/ends/cascade.lua',
    find: "  if upstream.state == 'canceled' then return dependent.optional.policies[2] end",
    replace: "  if upstream.state == 'canceled' then return dependent.optional.policies[1] end",
  },
  {
    law: 'A redrive takes back the tasks that the failure held.',
    file: 'src/backends/memory/admin.ts',
    find: `  awaitEndAgain(store, id);\n`,
    replace: '',
  },
];
