/** Mutants of XCom. */
import type { Mutant } from '../mutants.ts';

const RULES = 'src/domain/task/xcom.ts';

export const XCOM_MUTANTS: readonly Mutant[] = [
  {
    name: 'xcom: two places may have one text',
    file: RULES,
    find: `\${user}\${utf8Bytes(namespace)}:\${namespace}\${key}`,
    replace: `\${user}\${namespace}\${key}`,
  },
  {
    name: 'xcom: a dependent of the writer keeps nothing',
    file: RULES,
    find: `writer.endedAt === undefined || writer.readers > 0`,
    replace: `writer.endedAt === undefined`,
  },
  {
    name: 'xcom: time counts from the push although the writer goes on',
    file: RULES,
    find: `return Math.max(pushedAt, writer.endedAt) + ttlMs;`,
    replace: `return pushedAt + ttlMs;`,
  },
  {
    name: 'xcom: values are written whatever becomes of the task',
    file: 'src/backends/memory/settle.ts',
    find: `if (xcom !== undefined && isFinished) writeXCom`,
    replace: `if (xcom !== undefined) writeXCom`,
  },
  {
    name: 'xcom: a value that is over is told until it is taken away',
    file: 'src/backends/memory/rules/xcom.ts',
    find: `  if (end !== undefined && end <= store.now) return undefined;\n`,
    replace: '',
  },
  {
    name: 'xcom: a checkpoint forgets the values',
    file: 'src/backends/memory/journals.ts',
    find: `    writeXCom(store, channel.xcom ?? [], id);\n`,
    replace: '',
  },
  {
    name: 'xcom: a push anew keeps the old time',
    file: 'src/backends/memory/store/xcom-entries.ts',
    find: `      Object.assign(known, facts);\n`,
    replace: `      Object.assign(known, { ...facts, ttlMs: known.ttlMs });\n`,
  },
  {
    name: 'xcom: an empty namespace is still told',
    file: 'src/backends/memory/store/xcom-entries.ts',
    find: `    if (space.entries.size > 0) return;\n`,
    replace: `    if (space.entries.size >= 0) return;\n`,
  },
  {
    name: 'xcom, Lua: a dependent of the writer keeps nothing',
    file: 'src/backends/redis/lua/lib/records/xcom.lua',
    find: `if not F.isEnd(t.state) or t.readers > 0 then return false end`,
    replace: `if not F.isEnd(t.state) then return false end`,
  },
  {
    name: 'xcom, Lua: time counts from the push although the writer goes on',
    file: 'src/backends/redis/lua/lib/records/xcom.lua',
    find: `return math.max(pushedAt, t.at) + keepMs`,
    replace: `return pushedAt + keepMs`,
  },
  {
    name: 'xcom, Lua: an empty namespace is still told',
    file: 'src/backends/redis/lua/lib/records/xcom.lua',
    find: `if redis.call('EXISTS', K.xcomKeys(space)) == 0 then`,
    replace: `if redis.call('EXISTS', K.xcomKeys(space)) == 2 then`,
  },
  {
    name: 'xcom, Lua: a value that is taken away stays in the index',
    file: 'src/backends/redis/lua/lib/records/xcom.lua',
    find: `  F.move('xcom-ends', place, false)\n  redis.call('ZREM'`,
    replace: `  redis.call('ZREM'`,
  },
  {
    name: 'xcom, Lua: values that a task keeps are taken away',
    file: 'src/backends/redis/lua/lib/time/xcom-sweep.lua',
    find: `    elseif not till then\n      F.move('xcom-ends', place, now + LIMIT.xcomHoldMs)\n`,
    replace: `    elseif not till then\n      XCom.drop(XCom.parts(place))\n`,
  },
  {
    name: 'xcom, Lua: the sweep does not say that it stopped at its bound',
    file: 'src/backends/redis/lua/lib/time/xcom-sweep.lua',
    find: `return #places == LIMIT.xcomStep`,
    replace: `return false`,
  },
  {
    name: 'xcom, Lua: values are written although the task is canceled',
    file: 'src/backends/redis/lua/lib/steps/settle-one.lua',
    find: `local writes = decision == 'write' and not t.canceling`,
    replace: `local writes = decision == 'write'`,
  },
  {
    name: 'xcom, engine: what a handler pushed counts although it failed and its decider let that pass',
    file: 'src/attempt/pending-writes.ts',
    first: 'attempt/xcom',
    find: `const { channel, xcom } = outcome.type === 'succeeded' ? written : NO_WRITES;`,
    replace: 'const { channel, xcom } = written;',
  },
  {
    name: 'xcom, engine: a result that a decider gave is not handed on',
    file: 'src/attempt/pending-writes.ts',
    first: 'attempt/xcom',
    find: `if (decision.type !== 'finish') return undefined;`,
    replace: `if (outcome.type !== 'succeeded' || decision.type !== 'finish') return undefined;`,
  },
  {
    name: 'xcom, engine: a result is handed on whether or not its definition says so',
    file: 'src/attempt/xcom.ts',
    first: 'attempt/xcom',
    find: `    if (options.xcom !== true) return undefined;\n`,
    replace: '',
  },
  {
    name: 'xcom, engine: a handler does not see what it has pushed',
    file: 'src/attempt/xcom.ts',
    first: 'attempt/xcom',
    find: `    if (pending === undefined) return this.values.read(place);\n    return`,
    replace: `    if (pending !== null) return this.values.read(place);\n    return`,
  },
];
