/** Mutants of debounce and throttle. */
import type { Mutant } from '../mutants.ts';

const RULES = 'src/domain/task/window.ts';

export const WINDOW_MUTANTS: readonly Mutant[] = [
  {
    name: 'windows: the longest wait counts from the latest call',
    file: RULES,
    find: `now + debounced(spec, from, now) };`,
    replace: `now + debounced(spec, now, now) };`,
  },
  {
    name: 'windows: a started task takes the input of later calls',
    file: RULES,
    find: `  if (ownerState === 'begun') return openWindow(spec, now);\n`,
    replace: '',
  },
  {
    name: 'windows: each window begins when it is asked for',
    file: RULES,
    find: `window: { from: until, until: until + spec.perMs } };`,
    replace: `window: { from: now, until: now + spec.perMs } };`,
  },
  {
    name: 'windows: a canceled last task delays the next by a window more',
    file: RULES,
    find: `  return { kind: 'new', dueAt: from, window: { from, until } };`,
    replace: `  return { kind: 'new', dueAt: until, window: { from, until } };`,
  },
  {
    name: 'windows: a new owner forgets what the one before answered',
    file: 'src/backends/memory/store/idempotency.ts',
    find: `[...(before?.absorbed ?? [])]`,
    replace: `[]`,
  },
  {
    name: 'windows: what its start expires by does not move',
    file: 'src/backends/memory/enqueue.ts',
    find: `entry.optional.expiresAt + dueAt - entry.dueAt;`,
    replace: `entry.optional.expiresAt;`,
  },
  {
    name: 'windows, Lua: a task that was leased is only waiting',
    file: 'src/backends/redis/lua/lib/records/window.lua',
    find: `if not t or t.token ~= '' or F.isEnd(t.state)`,
    replace: `if not t or F.isEnd(t.state)`,
  },
  {
    name: 'windows, Lua: a window without an end of its own is over',
    file: 'src/backends/redis/lua/lib/records/idempotency.lua',
    find: `    key.holdsUntil, key.windowFrom, item.due = window.till, window.from, window.due\n`,
    replace: `    key.holdsUntil, key.windowFrom, item.due = nil, window.from, window.due\n`,
  },
  {
    name: 'windows, Lua: what its start expires by does not move',
    file: 'src/backends/redis/lua/lib/records/window.lua',
    find: `    t.optional.startUntil = t.optional.startUntil + due - t.at\n`,
    replace: '',
  },
  {
    name: 'windows, Lua: a new task does not open the next window',
    file: 'src/backends/redis/lua/lib/records/window.lua',
    find: `return 'new', { due = till, from = till, till = till + spec.per }`,
    replace: `return 'new', { due = till, from = till, till = till }`,
  },
];
