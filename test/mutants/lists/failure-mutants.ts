/** Mutants of error groups: who is in one, what is counted, and when it goes. */
import type { Mutant } from '../mutants.ts';

const FAILURES = 'src/backends/redis/lua/lib/ends/failures.lua';
const IN_MEMORY = 'src/backends/memory/store/failures.ts';

export const FAILURE_MUTANTS: readonly Mutant[] = [
  {
    name: 'failures: a group outlives its last task',
    file: IN_MEMORY,
    find: `    if (group?.failed.size === 0) this.groupsById.delete(group.id);\n`,
    replace: '',
  },
  {
    name: 'failures: one that is put back stays listed by name',
    file: IN_MEMORY,
    find: `    named?.delete(entry);\n`,
    replace: '',
  },
  {
    name: 'failures: versions are names of their own',
    file: IN_MEMORY,
    find: `    return this.failedByName.get(nameIn(name)) ?? new SortedList(byEnd);`,
    replace: `    return this.failedByName.get(name) ?? new SortedList(byEnd);`,
  },
  {
    name: 'failures: what is tried again is not counted',
    file: 'src/backends/memory/settle.ts',
    find: `      store.failures.count(entry, decision.cause, store.now);\n`,
    replace: '',
  },
  {
    name: 'failures: a follower is in the group of its way to fail',
    file: 'src/domain/task/cause.ts',
    find: `  if (cause === undefined || culpritOf(cause) !== undefined) return undefined;\n  if ('fing`,
    replace: `  if (cause === undefined) return undefined;\n  if ('fing`,
  },
  {
    name: 'failures: numbers tell errors apart',
    file: 'src/domain/task/error-likeness.ts',
    find: `.replaceAll(NUMBERED, ANY)`,
    replace: '',
  },
  {
    name: 'failures: the fingerprint of an encrypted error is that of the open one',
    file: 'src/codec/sealed-backend.ts',
    find: `fingerprint: texts.nameOf(fingerprint).slice(0, fingerprint.length) }`,
    replace: `fingerprint }`,
  },
  {
    name: 'Lua: failures: a group outlives its last task',
    file: FAILURES,
    find: `  if redis.call('EXISTS', K.failedOf(group)) == 0 then Failures.forget(group) end\n`,
    replace: '',
  },
  {
    name: 'Lua: failures: one that is put back stays listed by name',
    file: FAILURES,
    find: `  redis.call('ZREM', K.failedNamed(Failures.nameOf(t)), t.id)\n`,
    replace: '',
  },
  {
    name: 'Lua: failures: a group with a failed task is still among those without',
    file: FAILURES,
    find: `    redis.call('ZREM', K.errorGroups('retried'), group)\n`,
    replace: '',
  },
  {
    name: 'Lua: failures: any number of groups without a failed task',
    file: FAILURES,
    find: `now - LIMIT.errorGroupMs or i < 2 * over then`,
    replace: `now - LIMIT.errorGroupMs then`,
  },
  {
    name: 'Lua: failures: groups without a failed task stay for ever',
    file: FAILURES,
    find: `if -rows[i + 1] < now - LIMIT.errorGroupMs or i < 2 * over then`,
    replace: `if i < 2 * over then`,
  },
  {
    name: 'Lua: failures: what is tried again at once is counted once',
    file: 'src/backends/redis/lua/lib/steps/retry-many.lua',
    find: `Failures.count(group, same.id, same.n)`,
    replace: `Failures.count(group, same.id, 1)`,
  },
  {
    name: 'Lua: failures: what is tried again later is not counted',
    file: 'src/backends/redis/lua/lib/steps/settle-one.lua',
    find: `  Failures.retried(t, cause)\n`,
    replace: '',
  },
  {
    name: 'Lua: failures: a listing by error has all that failed',
    file: 'src/backends/redis/lua/inspect/list.lua',
    find: `  if error_ ~= '' then return { K.failedOf(error_) }, indexed end\n`,
    replace: '',
  },
  {
    name: 'damage: a repair does not see who is in no error group',
    file: 'src/backends/redis/lua/lib/damage/rebuild-failures.lua',
    find: `  if group and Rebuild.missesIn(K.failedOf(group), t.id, t.endStamp, repair) then`,
    replace: `  if false and Rebuild.missesIn(K.failedOf(group), t.id, t.endStamp, repair) then`,
  },
];
