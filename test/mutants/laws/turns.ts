/** Laws of turns: who is served next, and what each limit lets start. */
import type { Law } from '../mutants.ts';

export const LAWS: readonly Law[] = [
  {
    law: 'Users take turns by weight, not one after the other.',
    file: 'src/domain/fairness/fair-share.ts',
    find: '    const finish = head.start + head.step;',
    replace: '    const finish = head.start;',
  },
  {
    law: 'Users take turns by weight, not one after the other.',
    file: 'src/backends/redis/lua/lib/turns/choose.lua',
    find: `      local finish = start + step\n      if not best or finish < bestFinish\n`,
    replace: `      local finish = start\n      if not best or finish < bestFinish\n`,
  },
  {
    law: 'A user that is ahead of its share waits until the others have caught up.',
    file: 'src/backends/redis/lua/lib/turns/choose.lua',
    find: '    if start and start <= v + step * GRAINS.slack then',
    replace: '    if start then',
  },
  {
    law: 'A newcomer starts at the present turn: time without tasks earns no turns.',
    file: 'src/domain/fairness/fair-share.ts',
    find: '  const floor = Math.ceil(v * scaleOf(weight));',
    replace: '  const floor = Math.ceil(v * 0 * scaleOf(weight));',
  },
  {
    law: 'A user that comes back keeps what it was ahead.',
    file: 'src/backends/redis/lua/lib/turns/fair.lua',
    find: '(u.ready or F.startOf(u) > queue.virtual) then kept = u.startTag end',
    replace: 'u.ready then kept = u.startTag end',
  },
  {
    law: 'A turn costs what its task costs.',
    file: 'src/backends/redis/lua/lib/steps/dispatch.lua',
    find: `      if not c or string.sub(text, b + 1, c - 1) ~= '1' then return i end\n`,
    replace: '',
  },
  {
    law: 'What was charged too much is given back.',
    file: 'src/domain/fairness/fair-share.ts',
    find: '  return turn(actualS) - turn(chargedS);',
    replace: '  return Math.max(0, turn(actualS) - turn(chargedS));',
  },
  {
    law: 'A turn is charged where it is taken.',
    file: 'src/backends/memory/store/ready-index.ts',
    find: `  user.tag += turn(cost);\n`,
    replace: '',
  },
  {
    law: 'A turn is charged where it is taken.',
    file: 'src/backends/redis/lua/lib/records/lease.lua',
    find: `  u.startTag = u.startTag + Tag.turn(cost)\n`,
    replace: '',
  },
  {
    law: 'Virtual time goes on with the turns that are taken.',
    file: 'src/backends/redis/lua/lib/records/lease.lua',
    find: `  Fluid.advance(queue, cost, weights)\n`,
    replace: '',
  },
  {
    law: 'A tie goes to the higher priority.',
    file: 'src/domain/fairness/priority-shares.ts',
    find: '    if (best === 0 || left < least) {',
    replace: '    if (best === 0 || left <= least) {',
  },
  {
    law: 'A lower priority is served too: critical tasks do not starve it.',
    file: 'src/domain/fairness/priority-shares.ts',
    find: '    if (best === 0 || left < least) {',
    replace: '    if (best === 0) {',
  },
  {
    law: 'A rate allows its burst and no more, also after a pause.',
    file: 'src/domain/fairness/rate-limit.ts',
    find: '(tat > now ? tat : now) + rate',
    replace: 'tat + rate',
  },
  {
    law: 'A user with a rate starts no more than that at once.',
    file: 'src/backends/redis/lua/lib/steps/dispatch-general.lua',
    find: `  if set.rate then headroom = Dispatch.startsOf(u, headroom) end\n`,
    replace: '',
  },
  {
    law: 'Workers are woken when a rate lets a task start.',
    file: 'src/backends/memory/tick.ts',
    find: `    store.throttled.first()?.throttledUntil,\n`,
    replace: '',
  },
  {
    law: '`maxRunning` of a user counts its running tasks.',
    file: 'src/backends/redis/lua/lib/steps/dispatch-general.lua',
    find: 'math.min(u.queued, set.maxRunning - u.running, most + 1)',
    replace: 'math.min(u.queued, most + 1)',
  },
  {
    law: '`maxRunning` of a queue holds for a lease of many tasks.',
    file: 'src/backends/redis/lua/lib/steps/dispatch.lua',
    find: `    if config.maxRunning then most = math.min(most, config.maxRunning - share.queue.counts.started) end\n`,
    replace: '',
  },
  {
    law: '`maxQueued` is the most that a user may have waiting.',
    file: 'src/backends/memory/enqueue.ts',
    find: '  if (size >= limit) return',
    replace: '  if (size > limit) return',
  },
  {
    law: 'A paused user starts no task.',
    file: 'src/backends/redis/lua/lib/turns/fair.lua',
    find: '  if queued > 0 and not set.paused then',
    replace: '  if queued > 0 then',
  },
  {
    law: 'Queues take turns by weight.',
    file: 'src/backends/memory/lease.ts',
    find: 'step: 1 / weight, pass }',
    replace: 'step: 1, pass }',
  },
  {
    law: 'A queue that charges time corrects the charge when the task ends.',
    file: 'src/backends/redis/lua/lib/turns/places.lua',
    find: `      if u.queue.timed then Timed.settle(t, u) end\n`,
    replace: '',
  },
  {
    law: 'A task that is put back after a release keeps its place; a delayed one does not.',
    file: 'src/backends/redis/lua/lib/turns/places.lua',
    find: '  t.seq = anew and 0 or F.placeOf(t)',
    replace: '  t.seq = F.placeOf(t)',
  },
  {
    law: 'A worker gets tasks of names that it knows, and no others.',
    file: 'src/backends/redis/lua/lib/steps/dispatch.lua',
    find: `      if request.names and not string.find(request.names, ',' .. name .. ',', 1, true) then return i end\n`,
    replace: '',
  },
];
