/** Mutants of runs that are steered: where they begin, how far they go, other inputs, forks. */
import type { Mutant } from '../mutants.ts';

const START = 'steer/start.test.ts';
const EDITS = 'steer/edits.test.ts';

export const STEER_MUTANTS: readonly Mutant[] = [
  {
    name: 'startAt: the end of a pipeline may read what is left out',
    file: 'src/graph/graph-start.ts',
    find: '  demand(`the end of ${name}`, graph.output);\n',
    replace: '',
    first: START,
  },
  {
    name: 'startAt: what runs may read an input that nobody has given',
    file: 'src/graph/graph-start.ts',
    find: `!hasInput && readsInput(binding)`,
    replace: `hasInput && readsInput(binding)`,
    first: START,
  },
  {
    name: 'startAt: a driven run begins at the beginning',
    file: 'src/graph/run-walk.ts',
    find: `if (block === graph && graph.start !== undefined) frame`,
    replace: `if (block === graph && graph.start === '') frame`,
    first: START,
  },
  {
    name: 'maxSteps: members take as many as they like',
    file: 'src/runs/driven/drive.ts',
    find: `input, isMember: true, maxSteps }`,
    replace: `input, isMember: true }`,
    first: START,
  },
  {
    name: 'edits: a rerun keeps those of what follows its node',
    file: 'src/runs/calls/edits.ts',
    find: `!again.has(key.slice(0, hash)) && `,
    replace: '',
    first: EDITS,
  },
  {
    name: 'edits: what was run for one input is the answer for another',
    file: 'src/runs/driven/run-journal.ts',
    find: `    this.#forget(start);\n`,
    replace: '',
    first: EDITS,
  },
  {
    name: 'edits: what was run for an edited input is run again',
    file: 'src/runs/driven/run-journal.ts',
    find: `    if (this.#get(name) === mark) return;\n`,
    replace: '',
    first: EDITS,
  },
  {
    name: 'edits: of two resumes both are told that they were first',
    file: 'src/runs/calls/resume.ts',
    find: `if (payload !== undefined && root.payload !== payload) {`,
    replace: `if (payload === '' && root.payload !== payload) {`,
    first: EDITS,
  },
  {
    name: 'edits: a resume that began before another one knows nothing of its input',
    file: 'src/runs/calls/resume.ts',
    find: `    this.#edits = runGivenOf(this.#codec, root.payload).edits;\n  }`,
    replace: `  }`,
    first: EDITS,
  },
  {
    name: 'edits: a redrive forgets what was sent first',
    file: 'src/backends/memory/store/entities.ts',
    find: `    this.own().firstPayload ??= this.payload;\n`,
    replace: '',
  },
  {
    name: 'Lua: edits: a long input stays where a short one has taken its place',
    file: 'src/backends/redis/lua/lib/records/idempotency.lua',
    find: ` else redis.call('HDEL', K.payloads(), t.id) end`,
    replace: ` end`,
    first: 'faults/leaks',
  },
  {
    name: 'fork: channels begin empty',
    file: 'src/runs/calls/rerun.ts',
    find: `again.seed?.fields ?? {}, ...shared }`,
    replace: `again.seed?.fields ?? {} }`,
    first: 'steer/fork.test.ts',
  },
];
