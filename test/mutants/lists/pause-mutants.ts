/** Pauses of runs: memory, the scripts, and the worker that hears of them. */
import type { Mutant } from '../mutants.ts';

const MEMORY = 'src/backends/memory/rules/pause.ts';
const LUA = 'src/backends/redis/lua/lib/turns/pause.lua';
const FIRST = 'pauses/pause.test.ts';
const DECIDING = 'pauses/deciding.test.ts';

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
    file: 'src/runs/calls/pause.ts',
    find: `  if (view.form === 'dispatched') {`,
    replace: `  if (view.form === 'dispatched' && reason === id) {`,
    first: FIRST,
  },
  {
    name: 'pauses: a driven run walks on',
    file: 'src/runs/driven/producer.ts',
    find: `      if (journal.isPaused && step.type === 'task') return { type: 'paused' };\n`,
    replace: ``,
    first: FIRST,
  },
  {
    name: 'pauses: the end of one makes a delayed run due',
    file: 'src/runs/calls/resume.ts',
    find: ` && paused === undefined) await backend.tasks.runNow`,
    replace: `) await backend.tasks.runNow`,
    first: FIRST,
  },
  {
    name: 'pauses: a run that is to decide is set aside when its turn comes',
    file: 'src/backends/memory/lease.ts',
    find: `  if (pauser !== undefined && !mayDecide(entry)) {`,
    replace: `  if (pauser !== undefined) {`,
  },
  {
    name: 'pauses: a run that is to decide is set aside by the pause',
    file: MEMORY,
    find: ` === undefined || mayDecide(entry)) return;`,
    replace: ` === undefined) return;`,
  },
  {
    name: 'pauses: a run decides for ever',
    file: MEMORY,
    find: `  return run?.decidesAfter !== undefined && run.decidesAfter === settledToken;`,
    replace: `  return run?.decidesAfter !== undefined && settledToken !== undefined;`,
  },
  {
    name: 'Lua, pauses: a run decides for ever',
    file: LUA,
    find: ` and after == (t.isSettled and t.token or t.changing and t.changing.settledToken)`,
    replace: ``,
  },
  {
    name: 'Lua, pauses: a run that is to decide is set aside by the pause',
    file: 'src/backends/redis/lua/runs/pause.lua',
    find: `if run and not Pause.mayDecide(t) then`,
    replace: `if run then`,
  },
  {
    name: 'Lua, pauses: a run that decides is not told that it is paused',
    file: 'src/backends/redis/lua/lib/steps/lease-step.lua',
    find: `t and t.isPaused and -place or place`,
    replace: `place`,
  },
  {
    name: 'pauses: a driven run decides nothing',
    file: 'src/runs/driven/drive.ts',
    find: `{ ...move.suspension, decides: true }`,
    replace: `move.suspension`,
    first: DECIDING,
  },
  {
    name: 'pauses: a run that decides stores another group',
    file: 'src/runs/driven/group-drive.ts',
    find: `    if (isPaused) return { type: 'paused' };\n`,
    replace: ``,
    first: DECIDING,
  },
  {
    name: 'pauses: a run that decides begins its next node',
    file: 'src/runs/driven/run-journal.ts',
    find: `      isPaused: parts.holder.lease.paused === true,`,
    replace: `      isPaused: false,`,
    first: DECIDING,
  },
  {
    name: 'pauses: a strict group that is lost waits for what a pause holds',
    file: 'src/runs/driven/group-drive.ts',
    find: `failFast || mayEndPaused || mayEndRun(step.node);`,
    replace: `failFast || mayEndRun(step.node);`,
    first: DECIDING,
  },
  {
    name: 'pauses: a paused run that is woken by a failure waits on',
    file: 'src/runs/driven/group-drive.ts',
    find: `if (isPaused && isLostNow && policy.kind === 'strict')`,
    replace: `if (isPaused && !isLostNow && policy.kind === 'strict')`,
    first: DECIDING,
  },
  {
    name: 'pauses: groups of dispatched runs decide nothing',
    file: 'src/runs/calls/pause.ts',
    find: `({ kind }) => kind === 'task'`,
    replace: `({ kind }) => kind !== 'join'`,
    first: DECIDING,
  },
];
