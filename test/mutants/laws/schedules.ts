/** Laws of schedules. */
import type { Law } from '../mutants.ts';

export const LAWS: readonly Law[] = [
  {
    law: 'A slot that clocks skip fires once, behind the gap.',
    file: 'src/schedules/timing/zone.ts',
    find: "  return { kind: 'gap', end: change };",
    replace: "  return { kind: 'gap', end: wall - before };",
  },
  {
    law: 'A time that clocks show twice fires once.',
    file: 'src/schedules/timing/cron-times.ts',
    find: "      const fires = found.kind === 'gap' ? found.end : found.at;",
    replace:
      "      const fires = found.kind === 'gap' ? found.end : found.kind === 'overlap' ? found.again : found.at;",
  },
  {
    law: 'A slot after the end does not fire.',
    file: 'src/schedules/timing/timing.ts',
    find: 'slot === undefined || slot > end ?',
    replace: 'slot === undefined ?',
  },
  {
    law: 'Missed slots are made up for as the schedule says.',
    file: 'src/schedules/timing/catch-up.ts',
    find: 'LIMITS.missedAfterMs) return each(',
    replace: 'Number.MAX_VALUE) return each(',
  },
  {
    law: 'A slot fires once.',
    file: 'src/backends/redis/lua/schedules/schedule-fire.lua',
    find: 'not s or s.slot ~= slot or ',
    replace: 'not s or ',
  },
  {
    law: 'Only the scheduler that has the lock fires.',
    file: 'src/backends/redis/lua/schedules/schedule-fire.lua',
    find: 'if fence < tonumber(',
    replace: 'if fence < -1 * tonumber(',
  },
  {
    law: 'The lock of a scheduler keeps others away.',
    file: 'src/backends/redis/lua/schedules/schedule-due.lua',
    find: "'%.0f', now + LIMIT.scheduleLockMs",
    replace: "'%.0f', now",
  },
  {
    law: 'Another scheduler takes over a slot that is overdue.',
    file: 'src/backends/memory/schedules.ts',
    find: 'first > now - LIMITS.scheduleOverdueMs',
    replace: 'first > 0',
  },
  {
    law: 'A change of an old revision of a schedule is refused.',
    file: 'src/backends/memory/schedules.ts',
    find: '(known?.change.revision ?? 0) !== change.revision',
    replace: '(known?.change.revision ?? 0) > change.revision + 1',
  },
  {
    law: 'A schedule with a limit fires so often.',
    file: 'src/backends/memory/fire.ts',
    find: `  if (entry.fired >= limit) return { kind: 'over' };\n`,
    replace: '',
  },
  {
    law: 'A paused schedule fires at no event.',
    file: 'src/backends/memory/rules/schedule-places.ts',
    find: '  if (on === undefined || paused) return;',
    replace: '  if (on === undefined || (paused && before === undefined)) return;',
  },
  {
    law: 'An event starts each task once.',
    file: 'src/backends/memory/publish.ts',
    find: "  if (isPublished(store, user, event)) return { kind: 'repeated' };",
    replace:
      "  if (isPublished(store, user, event) && starts.length === 0) return { kind: 'repeated' };",
  },
];
