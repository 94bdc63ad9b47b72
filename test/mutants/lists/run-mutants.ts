/** Mutants of what workflows stand on: joins, suspension, fences, journals, snapshots. */
import type { Mutant } from '../mutants.ts';

const IN_MEMORY: readonly Mutant[] = [
  {
    name: 'runs: a join is put in line',
    file: 'src/backends/memory/rules/end.ts',
    find: `  if (state === 'queued') {`,
    replace: `  if (entry.optional.blocked === undefined) {`,
  },
  {
    name: 'runs: a join lets go of what it joined',
    file: 'src/backends/memory/rules/end.ts',
    find: `  const readsOn = entry.state === 'failed' || own.run?.isJoin === true;`,
    replace: `  const readsOn = entry.state === 'failed';`,
  },
  {
    name: 'runs: a failure does not wake a run that asked for it',
    file: 'src/backends/memory/rules/end.ts',
    find: `upstream.state === 'finished' || run.optional.run?.wakeOn === 'all'`,
    replace: `upstream.state !== 'queued'`,
  },
  {
    name: 'runs: an earlier failure does not wake a run',
    file: 'src/backends/memory/rules/suspend.ts',
    find: `next === 'queued' || (anyFailed && wakeOn === 'failure')`,
    replace: `next === 'queued'`,
  },
  {
    name: 'runs: a suspension has no time',
    file: 'src/backends/memory/rules/suspend.ts',
    find: `  if (wakeAfterMs !== undefined) facts.wakeAt = store.now + wakeAfterMs;\n`,
    replace: '',
  },
  {
    name: 'runs: a suspension forgives no losses',
    file: 'src/backends/memory/rules/suspend.ts',
    find: `  if (entry.optional.losses > 0) entry.own().losses = 0;\n`,
    replace: '',
  },
  {
    name: 'runs: whom an earlier suspension waited for is read on',
    file: 'src/backends/memory/rules/suspend.ts',
    find: `  leaveEarlier(store, entry);\n`,
    replace: '',
  },
  {
    name: 'runs: a woken run still hears of those that it waited for',
    file: 'src/backends/memory/rules/end.ts',
    find: `    store.records.get(id)?.optional.waiting?.delete(entry);\n    blocked`,
    replace: `    blocked`,
  },
  {
    name: 'runs: an ended run reads on whom it was suspended for',
    file: 'src/backends/memory/rules/end.ts',
    find: `[...read, ...(run?.waitFor ?? [])]`,
    replace: `[...read]`,
  },
  {
    name: 'runs: a fence takes any token',
    file: 'src/backends/memory/enqueue.ts',
    find: `store.records.get(fence.id)?.token !== fence.token`,
    replace: `store.records.get(fence.id) === undefined`,
  },
  {
    name: 'runs: a full queue refuses what a run stores',
    file: 'src/backends/memory/enqueue.ts',
    find: `byKey === 'new' && !store.isFenced ?`,
    replace: `byKey === 'new' ?`,
  },
  {
    name: 'runs: a member is started after its run has ended',
    file: 'src/backends/memory/rules/choose.ts',
    find: `    if (run === undefined || isEnd(run.state)) return true;`,
    replace: `    if (run === undefined) return true;`,
  },
  {
    name: 'runs: a journal takes any token',
    file: 'src/backends/memory/journals.ts',
    find: `attendedTask(store, { id, token })`,
    replace: `store.records.get(id)`,
  },
  {
    name: 'runs: a journal is told of no redrive',
    file: 'src/backends/memory/admin.ts',
    find: `  countRedrive(entry.optional.run?.journal);\n`,
    replace: '',
  },
  {
    name: 'runs: a journal is begun by a redrive',
    file: 'src/backends/memory/journals.ts',
    find: `journal === undefined || journal.size === 0`,
    replace: `journal === undefined`,
  },
  {
    name: 'runs: a journal forgives no losses',
    file: 'src/backends/memory/journals.ts',
    find: `  if (entry.optional.losses > 0) entry.own().losses = 0;\n`,
    replace: '',
  },
  {
    name: 'runs: a snapshot goes although a task needs it',
    file: 'src/backends/memory/store/snapshots.ts',
    find: `  if (found.neededBy.size > 0 || found.until > store.now) return found;`,
    replace: `  if (found.until > store.now) return found;`,
  },
  {
    name: 'runs: a snapshot is kept for a task that is gone',
    file: 'src/backends/memory/store/snapshots.ts',
    find: `  snapshot.neededBy.delete(holder);\n`,
    replace: '',
  },
];

const IN_LUA: readonly Mutant[] = [
  {
    name: 'Lua: runs: a join is put in line',
    file: 'src/backends/redis/lua/lib/turns/places.lua',
    find: `  if not (t.optional and t.optional.isJoin) then return F.enterQueue(t, u) end\n`,
    replace: `  if t.id ~= '' then return F.enterQueue(t, u) end\n`,
  },
  {
    name: 'Lua: runs: a join lets go of what it joined',
    file: 'src/backends/redis/lua/lib/ends/cascade.lua',
    find: `t.state == 'failed' or x.isJoin\n`,
    replace: `t.state == 'failed'\n`,
  },
  {
    name: 'Lua: runs: a failure does not wake a run that asked for it',
    file: 'src/backends/redis/lua/lib/steps/suspend.lua',
    find: `if upstream.state ~= 'finished' and t.optional.wakeWord == 'failure' then`,
    replace: `if upstream.state == 'queued' then`,
  },
  {
    name: 'Lua: runs: an earlier failure does not wake a run',
    file: 'src/backends/redis/lua/lib/steps/suspend.lua',
    find: `  elseif woken or not (t.isBlocked or wait.kind) then`,
    replace: `  elseif not (t.isBlocked or wait.kind) then`,
  },
  {
    name: 'Lua: runs: a suspension has no time',
    file: 'src/backends/redis/lua/lib/steps/suspend.lua',
    find: `  if wakeAfter ~= '' then t.optional.wakeDue = now + wakeAfter end\n`,
    replace: '',
  },
  {
    name: 'Lua: runs: a suspension forgives no losses',
    file: 'src/backends/redis/lua/lib/steps/suspend.lua',
    find: `  t.losses, t.seq = 0, F.placeOf(t)`,
    replace: `  t.seq = F.placeOf(t)`,
  },
  {
    name: 'Lua: runs: whom an earlier suspension waited for is read on',
    file: 'src/backends/redis/lua/lib/steps/suspend.lua',
    find: `  Suspend.leave(t)\n`,
    replace: '',
  },
  {
    name: 'Lua: runs: a woken run still hears of those that it waited for',
    file: 'src/backends/redis/lua/lib/steps/suspend.lua',
    find: `      F.zset(K.waiting(id), t.id, false)\n`,
    replace: '',
  },
  {
    name: 'Lua: runs: a run that ends while suspended leaves as if it had read',
    file: 'src/backends/redis/lua/lib/ends/cascade.lua',
    find: `  if x.suspendedFor then Suspend.unlink(t) end\n`,
    replace: '',
  },
  {
    name: 'Lua: runs: a fence takes any token',
    file: 'src/backends/redis/lua/lib/steps/store.lua',
    find: ` and t.token == string.sub(fence, 1, stop - 1)`,
    replace: '',
  },
  {
    name: 'Lua: runs: a full queue refuses what a run stores',
    file: 'src/backends/redis/lua/lib/steps/store.lua',
    find: `  if Store.fenced or not u.set.maxQueued then return end`,
    replace: `  if not u.set.maxQueued then return end`,
  },
  {
    name: 'Lua: runs: a member is started after its run has ended',
    file: 'src/backends/redis/lua/lib/turns/park.lua',
    find: `    if not run or F.isEnd(run.state) then return true end`,
    replace: `    if not run then return true end`,
  },
  {
    name: 'Lua: runs: a journal takes any token',
    file: 'src/backends/redis/lua/runs/checkpoint.lua',
    find: ` or not F.isAttendedBy(t, token) then`,
    replace: ` then`,
  },
  {
    name: 'Lua: runs: a journal is told of no redrive',
    file: 'src/backends/redis/lua/tasks/redrive.lua',
    find: ` redis.call('HINCRBY', K.run(id), FIELD.run.redrives, 1) end`,
    replace: ` end`,
  },
  {
    name: 'Lua: runs: a journal is begun by a redrive',
    file: 'src/backends/redis/lua/tasks/redrive.lua',
    find: `if redis.call('EXISTS', K.run(id)) == 1 then`,
    replace: `if true then`,
  },
  {
    name: 'Lua: runs: a journal stays when its record goes',
    file: 'src/backends/redis/lua/lib/ends/retain.lua',
    find: `, K.blocked(id), K.run(id),`,
    replace: `, K.blocked(id),`,
  },
  {
    name: 'Lua: runs: a snapshot goes although a task needs it',
    file: 'src/backends/redis/lua/lib/records/graphs.lua',
    find: `  redis.call('HSET', K.graphMeta(hash), FIELD.graphMeta.till, '0')\n`,
    replace: '',
  },
  {
    name: 'Lua: runs: a snapshot is kept for a task that is gone',
    file: 'src/backends/redis/lua/lib/records/graphs.lua',
    find: `  redis.call('SREM', K.graphRefs(hash), id)\n`,
    replace: '',
  },
];

export const RUN_MUTANTS: readonly Mutant[] = [...IN_MEMORY, ...IN_LUA];
