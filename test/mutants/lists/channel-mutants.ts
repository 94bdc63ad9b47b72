/** Mutants of channels: what is written once, by whom, and how far. */
import type { Mutant } from '../mutants.ts';

const IN_MEMORY: readonly Mutant[] = [
  {
    name: 'channels: a checkpoint that is sent again writes again',
    file: 'src/backends/memory/journals.ts',
    find: `    facts.newestWrites = name;\n`,
    replace: '',
  },
  {
    name: 'channels: a later lease does not write under the same name',
    file: 'src/backends/memory/journals.ts',
    find: `\`\${token} \${channel?.key}\``,
    replace: `\`\${channel?.key}\``,
  },
  {
    name: 'channels: a refused checkpoint is written down all the same',
    file: 'src/backends/memory/journals.ts',
    find: `    if (refusal !== undefined) return refusal;\n`,
    replace: '',
  },
  {
    name: 'channels: whatever a task comes to, it writes',
    file: 'src/backends/memory/settle.ts',
    find: `isFinished = next === 'finished'`,
    replace: `isFinished = cancelCause === undefined`,
  },
  {
    name: 'channels: a task that is to be canceled writes',
    file: 'src/backends/memory/settle.ts',
    find: `isFinished = next === 'finished'`,
    replace: `isFinished = decision.type === 'finish'`,
  },
  {
    name: 'channels: refused writes finish the task',
    file: 'src/backends/memory/settle.ts',
    find: `    if (refusal !== undefined) return { kind: 'refused', refusal };\n`,
    replace: `    void refusal;\n`,
  },
  {
    name: 'channels: anybody writes live',
    file: 'src/backends/memory/rules/channels.ts',
    find: `  if (attendedTask(store, lease) === undefined) return 'lost';\n`,
    replace: '',
  },
  {
    name: 'channels: writes before one that is refused stay',
    file: 'src/domain/task/channel.ts',
    find: `      fresh.set(field, after);\n`,
    replace: `      fresh.set(field, after);\n      if (after !== undefined) this.values.set(field, after);\n`,
  },
  {
    name: 'channels: a write that is to be done once is forgotten',
    file: 'src/domain/task/channel.ts',
    find: `    for (const mark of done) this.done.add(mark);\n`,
    replace: '',
  },
  {
    name: 'channels: what is remembered of writes weighs nothing',
    file: 'src/domain/task/channel.ts',
    find: `        bytes += utf8Bytes(mark);\n`,
    replace: '',
  },
  {
    name: 'channels: folded appends lose the earlier ones',
    file: 'src/domain/task/channel.ts',
    find: `text: \`\${before.text},\${write.text}\``,
    replace: `text: write.text`,
  },
  {
    name: 'channels: folded sums lose the earlier ones',
    file: 'src/domain/task/channel.ts',
    find: `    const by = before.by + write.by;`,
    replace: `    const by = write.by;`,
  },
];

const ON_REDIS: readonly Mutant[] = [
  {
    name: 'channels: a checkpoint that is sent again writes again (Lua)',
    file: 'src/backends/redis/lua/runs/checkpoint.lua',
    find: `  F.optionalOf(t).checkpoint = name\n`,
    replace: '',
  },
  {
    name: 'channels: a refused checkpoint is written down all the same (Lua)',
    file: 'src/backends/redis/lua/runs/checkpoint.lua',
    find: `  if refused then return F.unchanged({ refused }) end\n`,
    replace: '',
  },
  {
    name: 'channels: a task that is to be canceled writes (Lua)',
    file: 'src/backends/redis/lua/lib/steps/settle-one.lua',
    find: `decision == 'write' and not t.canceling`,
    replace: `decision == 'write'`,
  },
  {
    name: 'channels: refused writes finish the task (Lua)',
    file: 'src/backends/redis/lua/lib/steps/settle-one.lua',
    find: `  if refused then return refused end\n`,
    replace: '',
  },
  {
    name: 'channels: anybody writes live (Lua)',
    file: 'src/backends/redis/lua/runs/write-channel.lua',
    find: `not t or not F.isAttendedBy(t, token)`,
    replace: `not t`,
  },
  {
    name: 'channels: a run that is gone is written to (Lua)',
    file: 'src/backends/redis/lua/lib/records/channel.lua',
    find: `  if not t then return F.channelRefusal({ type = 'run-gone', run = run }) end\n`,
    replace: '',
  },
  {
    name: 'channels: a later write of a call does not see an earlier one (Lua)',
    file: 'src/backends/redis/lua/lib/records/channel.lua',
    find: `      local before = plan.values[field]\n`,
    replace: `      local before\n`,
  },
  {
    name: 'channels: a write that is to be done once is forgotten (Lua)',
    file: 'src/backends/redis/lua/lib/records/channel.lua',
    find: `  for mark in pairs(plan.done) do redis.call('HSET', key, FIELD.channel.once .. mark, '1') end\n`,
    replace: '',
  },
  {
    name: 'channels: bytes are not remembered (Lua)',
    file: 'src/backends/redis/lua/lib/records/channel.lua',
    find: `string.format('%.0f %.0f', math.max(plan.keys, 0), math.max(plan.bytes, 0))`,
    replace: `string.format('%.0f 0', plan.keys)`,
  },
  {
    name: 'channels: they outlive their run (Lua)',
    file: 'src/backends/redis/lua/lib/ends/retain.lua',
    find: `K.run(id), K.channel(id))`,
    replace: `K.run(id))`,
  },
];

export const CHANNEL_MUTANTS: readonly Mutant[] = [...IN_MEMORY, ...ON_REDIS];
