/** Laws of XCom. */
import type { Law } from '../mutants.ts';

export const LAWS: readonly Law[] = [
  {
    law: 'What a task that is canceled pushed is not kept.',
    file: 'src/backends/redis/lua/lib/steps/settle-one.lua',
    find: "local writes = decision == 'write' and not t.canceling",
    replace: "local writes = decision == 'write'",
  },
  {
    law: 'The time of a value counts from the end of its task.',
    file: 'src/backends/redis/lua/lib/records/xcom.lua',
    find: 'return math.max(pushedAt, t.at) + keepMs',
    replace: 'return pushedAt + keepMs',
  },
  {
    law: 'A value that is over is not read.',
    file: 'src/backends/memory/rules/xcom.ts',
    find: `  if (end !== undefined && end <= store.now) return undefined;\n`,
    replace: '',
  },
  {
    law: 'A handler reads what it has pushed.',
    file: 'src/attempt/xcom.ts',
    first: 'attempt/xcom',
    find: `    if (pending === undefined) return this.values.read(place);\n    return`,
    replace: `    if (pending !== null) return this.values.read(place);\n    return`,
  },
];
