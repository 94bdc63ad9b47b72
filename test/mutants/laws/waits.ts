/** Laws of waits, signals and questions. */
import type { Law } from '../mutants.ts';

export const LAWS: readonly Law[] = [
  {
    law: 'A signal ends the wait for it, and one that came early is kept.',
    file: 'src/backends/redis/lua/lib/steps/wait.lua',
    find: `    if kept then return kept end\n`,
    replace: '',
  },
  {
    law: 'A signal comes too late when the time of the wait is over.',
    file: 'src/backends/redis/lua/lib/steps/wait.lua',
    find: 'if not over or over > now then return false end',
    replace: 'if over ~= 0 then return false end',
  },
  {
    law: 'A signal that is sent again counts once.',
    file: 'src/backends/redis/lua/lib/steps/wait.lua',
    find: `  if signalId == '' then return end\n`,
    replace: `  if signalId ~= nil then return end\n`,
  },
  {
    law: 'A task that waits for a signal can be canceled.',
    file: 'src/backends/redis/lua/lib/ends/end.lua',
    find: `    if x.awaitKind then Wait.leave(t) end\n`,
    replace: '',
  },
  {
    law: 'A question takes one of its choices.',
    file: 'src/backends/memory/rules/asks.ts',
    find: `  if (!choices.includes(answer.choice)) return { kind: 'no-choice', choices };\n`,
    replace: '',
  },
  {
    law: 'The time of a handler does not go on while it waits.',
    file: 'src/runs/driven/node-attempt.ts',
    first: 'runs/waits.test.ts',
    find: `    this.#timer.cancel();\n    this.#leftMs`,
    replace: '    this.#leftMs',
  },
  {
    law: 'A wait that did not come in time fails, and is not tried again.',
    file: 'src/attempt/handler-call.ts',
    first: 'runs/waits.test.ts',
    find: `  'WAIT_TIMED_OUT',\n`,
    replace: '',
  },
];
