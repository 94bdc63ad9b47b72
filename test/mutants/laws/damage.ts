/** Laws of damaged records on Redis. */
import type { Law } from '../mutants.ts';

export const LAWS: readonly Law[] = [
  {
    law: 'A record that cannot be read is not read.',
    file: 'src/backends/redis/lua/lib/damage/guard.lua',
    find: `    if not Readable.isText(f) then return 'its text cannot be read' end\n`,
    replace: '',
  },
  {
    law: 'A key of a wrong type is set aside.',
    file: 'src/backends/redis/lua/lib/damage/guard.lua',
    find: `      real.call('RENAME', key, base .. FAMILY.setAside .. ':' .. name)\n`,
    replace: '',
  },
  {
    law: 'A look without repair changes nothing.',
    file: 'src/backends/redis/lua/lib/damage/guard.lua',
    find: 'function F.guardOf(real, look)',
    replace: `function F.guardOf(real, _)\n  local look = false`,
  },
  {
    law: 'A task that waits for nothing goes on after a repair.',
    file: 'src/backends/redis/lua/lib/damage/rebuild-edges.lua',
    find: `  if repair then F.unblock(t, u) end\n`,
    replace: '',
  },
  {
    law: 'A call that broke off is finished or undone by a repair.',
    file: 'src/backends/redis/connection/repair.ts',
    find: `      if (!onlyReads(verb)) void this.#all();\n`,
    replace: '',
  },
];
