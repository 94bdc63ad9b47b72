/** Pauses of runs: memory, the scripts, and the worker that hears of them. */
import type { Mutant } from '../mutants.ts';

const MEMORY = 'src/backends/memory/rules/pause.ts';
const LUA = 'src/backends/redis/lua/lib/turns/pause.lua';
const FIRST = 'pauses/pause.test.ts';

/** Each breaks one rule of a pause. */
export const PAUSE_MUTANTS: readonly Mutant[] = [
  {
    name: 'pauses: members of members are started',
    file: MEMORY,
    find: `    one = above === undefined ? undefined : store.records.get(above);`,
    replace: `    one = above === undefined || one !== entry ? undefined : store.records.get(above);`,
  },
  {
    name: 'pauses: what is set aside is put back by no end of a pause',
    file: MEMORY,
    find: `    for (const one of takeAside(store, entry, Number.POSITIVE_INFINITY)) putBack(store, one);`,
    replace: ``,
  },
  {
    name: 'pauses: a run that fails is paused no more',
    file: MEMORY,
    find: `  if (run?.pause !== undefined && entry.state !== 'failed') entry`,
    replace: `  if (run?.pause !== undefined) entry`,
  },
  {
    name: 'pauses: a later pause takes the place of the first',
    file: MEMORY,
    find: `  facts.pause ??= {`,
    replace: `  facts.pause = {`,
  },
  {
    name: 'pauses: who is canceled is put back with the others',
    file: MEMORY,
    find: `    store.records.get(run.asideFor)?.optional.run?.aside?.delete(entry.id);`,
    replace: ``,
  },
  {
    name: 'Lua, pauses: members of members are started',
    file: LUA,
    find: `    t = up and F.taskOf(up)`,
    replace: `    t = up and not x.ownerRun and F.taskOf(up)`,
  },
  {
    name: 'Lua, pauses: who is set aside loses its place in line',
    file: LUA,
    find: `  t.seq = F.placeOf(t)\n`,
    replace: `  t.seq = 0\n`,
  },
  {
    name: 'Lua, pauses: who is set aside outlives its run',
    file: 'src/backends/redis/lua/lib/ends/end.lua',
    find: ` or (x and x.hasAside and not x.pausedSince) then`,
    replace: ` then`,
  },
  {
    name: 'Lua, pauses: a paused run ends with many others',
    file: 'src/backends/redis/lua/lib/steps/settle-rich.lua',
    find: ` or x.pausedSince or x.hasAside)`,
    replace: `)`,
  },
  {
    name: 'pauses: nodes of dispatched runs are tied to nothing',
    file: 'src/runs/view/pause.ts',
    find: `  if (view.form === 'dispatched') {`,
    replace: `  if (view.form === 'dispatched' && reason === id) {`,
    first: FIRST,
  },
  {
    name: 'pauses: a driven run walks on',
    file: 'src/runs/driven/producer.ts',
    find: `      if (journal.isPaused) return { type: 'paused' };\n`,
    replace: ``,
    first: FIRST,
  },
  {
    name: 'pauses: the end of one makes a delayed run due',
    file: 'src/runs/view/resume.ts',
    find: ` && paused === undefined) await backend.tasks.runNow`,
    replace: `) await backend.tasks.runNow`,
    first: FIRST,
  },
];
