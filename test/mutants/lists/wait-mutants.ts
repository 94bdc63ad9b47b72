/** Waits for time and for signals: memory, the scripts, and the engine that replays them. */
import type { Mutant } from '../mutants.ts';

const MEMORY = 'src/backends/memory/rules/signals.ts';
const SUSPEND = 'src/backends/memory/rules/suspend.ts';
const LUA = 'src/backends/redis/lua/lib/steps/wait.lua';
const FIRST = 'runs/waits.test.ts';

/** Each breaks one rule of a wait. */
export const WAIT_MUTANTS: readonly Mutant[] = [
  {
    name: 'waits: a signal that was kept is not looked for',
    file: SUSPEND,
    find: `  const payload = takeKept(store, wait);`,
    replace: `  const payload = undefined as string | undefined;`,
  },
  {
    name: 'waits: of a run, signals are not taken',
    file: MEMORY,
    find: `  for (const id of awaited.targets) {`,
    replace: `  for (const id of awaited.targets.slice(0, 1)) {`,
  },
  {
    name: 'waits: the end of their time is not written down',
    file: 'src/backends/memory/rules/events.ts',
    find: `  else answerWait(store, entry, { by: 'time', payload: '' });`,
    replace: `  else wake(store, entry);`,
  },
  {
    name: 'asks: any choice will do',
    file: 'src/backends/memory/rules/asks.ts',
    find: `  if (!choices.includes(answer.choice)) return { kind: 'no-choice', choices };\n`,
    replace: '',
  },
  {
    name: 'asks: one that is closed stays in the listing',
    file: 'src/backends/memory/rules/places.ts',
    find: `  store.asks.delete(ask.record);\n`,
    replace: '',
  },
  {
    name: 'events: what one step does not wake is not woken',
    file: 'src/backends/memory/rules/places.ts',
    find: `  facts.wakeAt = Math.min(facts.wakeAt ?? store.now, store.now);\n`,
    replace: '',
  },
  {
    name: 'waits: a signal ends a wait whose time is over',
    file: MEMORY,
    find: 'if (wakeAt === undefined || wakeAt > store.now) return false;',
    replace: 'return false;',
  },
  {
    name: 'Lua: waits: a signal ends a wait whose time is over',
    file: LUA,
    find: 'if not over or over > now then return false end',
    replace: 'if over ~= 0 then return false end',
  },
  {
    name: 'Lua: events: one ends a wait whose time is over',
    file: LUA,
    find: 'if over and at_ > over then',
    replace: 'if false then',
  },
  {
    name: 'waits: a signal is not known when sent again',
    file: MEMORY,
    find: `  if (facts.signals?.hasSeen(signalId) === true) return { kind: 'repeated' };\n`,
    replace: '',
  },
  {
    name: 'waits: who is canceled waits on',
    file: 'src/backends/memory/rules/end.ts',
    find: `  leaveWait(store, entry);\n  if (entry.optional.run?.attendedBy`,
    replace: `  if (entry.optional.run?.attendedBy`,
  },
  {
    name: 'waits: signals are kept without a bound',
    file: 'src/backends/memory/store/signal-box.ts',
    find: `this.count >= LIMITS.signals`,
    replace: `false`,
  },
  {
    name: 'Lua: waits: a signal that was kept is not looked for',
    file: LUA,
    find: `    if kept then return kept end\n`,
    replace: '',
  },
  {
    name: 'Lua: waits: a kept signal is taken twice',
    file: LUA,
    find: `    redis.call('HDEL', key, field)\n    first = first + 1\n`,
    replace: `    if payload then break end\n    first = first + 1\n`,
  },
  {
    name: 'Lua: waits: kept signals are taken from the newest on',
    file: LUA,
    find: `  local field = FIELD.channel.signal .. first .. ':' .. name`,
    replace: `  local field = FIELD.channel.signal .. (after - 1) .. ':' .. name`,
  },
  {
    name: 'Lua: waits: who waits no more is still found',
    file: LUA,
    find: `  for _, key in ipairs(keys) do F.zset(key, member, false) end`,
    replace: `  for _, key in ipairs(keys) do F.zset(key, member, 0) end`,
  },
  {
    name: 'Lua: waits: a signal is not remembered by its id',
    file: LUA,
    find: `  if signalId == '' then return end\n`,
    replace: `  if signalId ~= nil then return end\n`,
  },
  {
    name: 'Lua: waits: one who is canceled is still found',
    file: 'src/backends/redis/lua/lib/ends/end.lua',
    find: `    if x.awaitKind then Wait.leave(t) end\n`,
    replace: '',
  },
  {
    name: 'Lua: asks: a task that ends leaves its question open',
    file: LUA,
    find: `  if x.awaitKind == 'ask' then Wait.close(t, t.state == 'canceled' and 'canceled' or 'ended') end\n`,
    replace: '',
  },
  {
    name: 'Lua: events: what one step does not wake is not woken',
    file: LUA,
    find: `  t.optional.wakeDue = now\n`,
    replace: '',
  },
  {
    name: 'Lua: waits: the end of their time is not written down',
    file: 'src/backends/redis/lua/lib/steps/suspend.lua',
    find: `  if t.optional.awaitKind then return Wait.answer(t, u, 'time', '') end\n`,
    replace: '',
  },
  {
    name: 'engine: waits: what came meanwhile is not taken in',
    file: 'src/runs/driven/run-journal.ts',
    find: `      known.set(name, text);\n      answers`,
    replace: `      answers`,
    first: FIRST,
  },
  {
    name: 'engine: waits: the time of a node goes on while it waits',
    file: 'src/runs/driven/node-attempt.ts',
    find: `    this.#timer.cancel();\n    this.#leftMs`,
    replace: `    this.#leftMs`,
    first: FIRST,
  },
  {
    name: 'engine: waits: the time of an outer handler goes on while an inner one waits',
    file: 'src/runs/driven/node-attempt.ts',
    find: 'const outerMs = this.#call.outer?.pause();',
    replace: 'const outerMs = undefined as number | undefined;',
    first: FIRST,
  },
  {
    name: 'engine: waits: one that did not come in time is tried again',
    file: 'src/attempt/handler-call.ts',
    find: `  'WAIT_TIMED_OUT',\n`,
    replace: '',
    first: FIRST,
  },
  {
    name: 'engine: waits: signals to the run are not waited for',
    file: 'src/runs/driven/sub-runs.ts',
    find: `targets: run === id ? [id] : [id, run]`,
    replace: `targets: [id]`,
    first: FIRST,
  },
];

/** Every mutant of schedules that fire at events. */
export const EVENT_MUTANTS: readonly Mutant[] = [
  {
    name: 'schedules: an event starts again what it has started (memory)',
    file: 'src/backends/memory/publish.ts',
    find: `  if (isPublished(store, user, event)) return { kind: 'repeated' };`,
    replace: `  if (isPublished(store, user, event) && starts.length === 0) return { kind: 'repeated' };`,
  },
  {
    name: 'schedules: the revision of one that fires is not compared (memory)',
    file: 'src/backends/memory/publish.ts',
    find: `revisions.get(id) === change.revision`,
    replace: `revisions.has(id) && change.revision > 0`,
  },
  {
    name: 'schedules: one that does not fire is taken for one that does (memory)',
    file: 'src/backends/memory/publish.ts',
    find: `    schedules.length === starts.length &&`,
    replace: `    schedules.length <= starts.length &&`,
  },
  {
    name: 'schedules: an event is kept whose task was refused (memory)',
    file: 'src/backends/memory/publish.ts',
    find: `  if (refused !== undefined) return refused;\n  publishEvent(store, user, event);`,
    replace: `  publishEvent(store, user, event);\n  if (refused !== undefined) return refused;`,
  },
  {
    name: 'schedules: a task that was there counts as started (memory)',
    file: 'src/backends/memory/publish.ts',
    find: `(reply.kind === 'created' ? [reply.id] : [])`,
    replace: `(reply.kind === 'refused' ? [] : [reply.id])`,
  },
  {
    name: 'schedules: one that is paused fires at events (memory)',
    file: 'src/backends/memory/rules/schedule-places.ts',
    find: `  if (on === undefined || paused) return;`,
    replace: `  if (on === undefined || (paused && before === undefined)) return;`,
  },
  {
    name: 'schedules: one that is removed fires at events (memory)',
    file: 'src/backends/memory/schedules.ts',
    find: `  if (on !== undefined) leaveEvents(store, entry, on);\n`,
    replace: '',
  },
  {
    name: 'schedules: any number fires at one event (memory)',
    file: 'src/backends/memory/schedules.ts',
    find: `others.length >= LIMITS.eventSchedules`,
    replace: `others.length > LIMITS.eventSchedules`,
  },
  {
    name: 'Lua: schedules: the revision of one that fires is not compared',
    file: 'src/backends/redis/lua/runs/publish.lua',
    find: `known[firing[i]] == firing[i + 1]`,
    replace: `known[firing[i]] and firing[i + 1]`,
  },
  {
    name: 'Lua: schedules: one that fires and is not known is passed over',
    file: 'src/backends/redis/lua/runs/publish.lua',
    find: `for i = 1, #firing, 2 do areKnown = areKnown and`,
    replace: `for i = 1, #firing, 2 do areKnown = not known[firing[i]] or`,
  },
  {
    name: 'Lua: schedules: an event is kept whose task was refused',
    file: 'src/backends/redis/lua/runs/publish.lua',
    find: `  if Store.refusal then return`,
    replace: `  if Store.refusal and #replies > 99 then return`,
  },
  {
    name: 'Lua: schedules: a task that was there counts as started',
    file: 'src/backends/redis/lua/runs/publish.lua',
    find: `    if Store.made[items[i].id] then Schedule.noteStart`,
    replace: `    if Store.made then Schedule.noteStart`,
  },
  {
    name: 'Lua: schedules: what an event starts is stored and not saved',
    file: 'src/backends/redis/lua/runs/publish.lua',
    find: `  Step.saveTasks()\n`,
    replace: '',
  },
  {
    name: 'Lua: schedules: one that is paused fires at events',
    file: 'src/backends/redis/lua/lib/time/schedule.lua',
    find: `if s and s.event and not s.paused then`,
    replace: `if s and s.event then`,
  },
  {
    name: 'Lua: schedules: one that fires at other events fires at the old ones, too',
    file: 'src/backends/redis/lua/schedules/schedule-set.lua',
    find: `if before and before ~= list then redis.call('SREM', before, id) end\n`,
    replace: '',
  },
  {
    name: 'Lua: schedules: any number fires at one event',
    file: 'src/backends/redis/lua/schedules/schedule-set.lua',
    find: `redis.call('SCARD', list) >= LIMIT.eventSchedules`,
    replace: `redis.call('SCARD', list) > LIMIT.eventSchedules`,
  },
  {
    name: 'Lua: schedules: one that has the event already counts against itself',
    file: 'src/backends/redis/lua/schedules/schedule-set.lua',
    find: `if list and list ~= before and redis`,
    replace: `if list and redis`,
  },
  {
    name: 'Lua: schedules: one that fires by the clock again keeps its events',
    file: 'src/backends/redis/lua/schedules/schedule-set.lua',
    find: `elseif s and s.event then`,
    replace: `elseif not s then`,
  },
];
