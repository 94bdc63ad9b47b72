/** Laws of what a task may depend on. */
import type { Law } from '../mutants.ts';

export const LAWS: readonly Law[] = [
  {
    law: 'A task depends on tasks of its own user, unless it is allowed more.',
    file: 'src/backends/redis/lua/lib/ends/edges.lua',
    find: `  return Deps.mayDependOn(t, F.fixed(upstream).user) and upstream\n`,
    replace: `  return upstream\n`,
  },
  {
    law: 'A cycle of dependencies is refused.',
    file: 'src/backends/redis/lua/lib/ends/cycle.lua',
    find: `  if self.deps and F.contains(self.deps, id) then found[#found + 1] = self.id end\n`,
    replace: '',
  },
  {
    law: 'A cycle that is too long to tell is refused with an error of its own.',
    file: 'src/domain/task/cycle-search.ts',
    find: `      if (walk.isOver) continue;\n`,
    replace: `      if (walk.isOver) return { kind: 'none' };\n`,
  },
];
