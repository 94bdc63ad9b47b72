/** Mutants of the rules about users and cycles: in the domain, in the embedded backend and in Lua. */
import type { Mutant } from './mutants.ts';

const DOMAIN = 'src/domain';
const MEMORY = 'src/backends/memory';
const REDIS = 'src/backends/redis';
const LUA = `${REDIS}/lua`;

export const EDGE_MUTANTS: readonly Mutant[] = [
  {
    name: 'edges: a task may depend on anybody’s',
    file: `${DOMAIN}/dependency-edge.ts`,
    find: `return edges.allowCrossUser || user === other;`,
    replace: `return edges.allowCrossUser || user.length >= 0 || other === '';`,
  },
  {
    name: 'edges: a missing id is awaited of anybody',
    file: `${DOMAIN}/dependency-edge.ts`,
    find: `return edges.allowCrossUser ? '' : user;`,
    replace: `return edges.allowCrossUser || user !== '' ? '' : user;`,
  },
  {
    name: 'edges: a walk never gives up',
    file: `${DOMAIN}/cycle-search.ts`,
    find: `ids === undefined || this.#edges > this.#most;`,
    replace: `ids === undefined;`,
  },
  {
    name: 'edges: a walk that gave up counts as one at its end',
    file: `${DOMAIN}/cycle-search.ts`,
    find: `      if (walk.isOver) continue;\n`,
    replace: `      if (walk.isOver) return { kind: 'none' };\n`,
  },
  {
    name: 'edges: in memory, one who waits finds no cycle',
    file: `${MEMORY}/cycles.ts`,
    find: `around.upstreams.includes(id) ? [around.id] : [];`,
    replace: `[];`,
  },
  {
    name: 'edges: in memory, a redrive does not look for a cycle',
    file: `${MEMORY}/cycles.ts`,
    find: `  if (upstreams.length === 0) return undefined;\n  const { id, owner }`,
    replace: `  if (upstreams.length >= 0) return undefined;\n  const { id, owner }`,
  },
  {
    name: 'edges: in memory, keys turn no edges',
    file: `${MEMORY}/cycles.ts`,
    find: `  if (batch.answered.size === 0) return undefined;\n`,
    replace: `  if (batch.answered.size >= 0) return undefined;\n`,
  },
  {
    name: 'edges: in memory, who stores an id adopts everybody’s waiters but its own',
    file: `${MEMORY}/missing-ids.ts`,
    find: `    return ['', user].map((from)`,
    replace: `    return ['', ...lists.keys()].map((from)`,
  },
  {
    name: 'edges: in memory, what was absent is read at the lease',
    file: `${MEMORY}/lease.ts`,
    find: `const isAbsent = entry.rare.absent?.has(id) === true;`,
    replace: `const isAbsent = entry.rare.absent?.has(id) === undefined;`,
  },
  {
    name: 'edges: in memory, a firing waits for another user’s task',
    file: `${MEMORY}/fire.ts`,
    find: `left.filter((id) => store.records.get(id)?.owner.user === task.user);`,
    replace: `left;`,
  },
  {
    name: 'edges: in Lua, a task may depend on anybody’s',
    file: `${LUA}/lib/edges.lua`,
    find: `  return Deps.mayDependOn(t, F.fixed(upstream).user) and upstream\n`,
    replace: `  return upstream\n`,
  },
  {
    name: 'edges: in Lua, a missing id is awaited of anybody',
    file: `${LUA}/lib/edges.lua`,
    find: `t.rare.policies and t.rare.policies[4] and '' or F.fixed(t).user)`,
    replace: `'')`,
  },
  {
    name: 'edges: in Lua, a task with few waiters takes only those of one list',
    file: `${LUA}/lib/store.lua`,
    find: `  if anys > 0 and owns > 0 then`,
    replace: `  if anys > 0 and owns < 0 then`,
  },
  {
    name: 'edges: in Lua, who leaves the line of a missing id stays in it',
    file: `${LUA}/lib/cascade.lua`,
    find: `      if not upstream or (upstream.rare and upstream.rare.batchId) then Cascade.leaveMissing(t, id) end\n`,
    replace: '',
  },
  {
    name: 'edges: in Lua, what was absent is read at the lease',
    file: `${LUA}/lib/upstreams.lua`,
    find: `not Cascade.satisfiedMissing(t, id) and Deps.upstreamOf(t, id)`,
    replace: `Deps.upstreamOf(t, id)`,
  },
  {
    name: 'edges: in Lua, a redrive relinks to another user’s task',
    file: `${LUA}/redrive.lua`,
    find: `    local upstream = Deps.upstreamOf(t, other)\n    if not upstream then\n`,
    replace: `    local upstream = F.taskOf(other)\n    if not upstream then\n`,
  },
  {
    name: 'edges: in Lua, a firing waits for another user’s task',
    file: `${LUA}/lib/fire.lua`,
    find: `    if F.fixed(F.taskOf(id)).user == user then found[#found + 1] = id end`,
    replace: `    found[#found + 1] = id`,
  },
  {
    name: 'edges: in Lua, a task that others wait for is stored without a look',
    file: `${LUA}/lib/link.lua`,
    find: `  if redis.call('EXISTS', anybody, own) == 0 then return end\n`,
    replace: `  if redis.call('EXISTS', anybody, own) >= 0 then return end\n`,
  },
  {
    name: 'edges: in Lua, a walk that gave up counts as one at its end',
    file: `${LUA}/lib/cycle.lua`,
    find: `  if walk.over then return end\n`,
    replace: `  if walk.over then return 'none' end\n`,
  },
  {
    name: 'edges: in Lua, one who waits finds no cycle',
    file: `${LUA}/lib/cycle.lua`,
    find: `  if self.deps and F.contains(self.deps, id) then found[#found + 1] = self.id end\n`,
    replace: '',
  },
  {
    name: 'edges: in Lua, the path of a cycle is told backwards',
    file: `${LUA}/lib/cycle.lua`,
    find: `  if walk.edgesOf ~= Link.upstreamsOf then return back end\n`,
    replace: `  if walk.edgesOf == Link.upstreamsOf then return back end\n`,
  },
  {
    name: 'edges: in Lua, those that waited for a part are not told of',
    file: `${LUA}/lib/store.lua`,
    find: `      t.isAwaited = true\n`,
    replace: '',
  },
  {
    name: 'edges: in Lua, what is undone takes those that waited along',
    file: `${LUA}/lib/submissions.lua`,
    find: `    if waiter and not F.isEnd(waiter.state) then Deps.awaitMissing(waiter, t.id) end\n`,
    replace: '',
  },
  {
    name: 'edges: in Lua, what is undone forgets all but the first of those that waited',
    file: `${LUA}/lib/submissions.lua`,
    find: `  if t.dependents and not Submission.letGo(t) then return false end\n`,
    replace: `  if t.dependents then Submission.letGo(t) end\n`,
  },
  {
    name: 'edges: on Redis, a batch is sealed without a look for cycles',
    file: `${REDIS}/submission.ts`,
    find: `    for (const id of unchecked) {`,
    replace: `    for (const id of unchecked.slice(0, 0)) {`,
  },
  {
    name: 'edges: on Redis, parts do not hear whom keys let answer',
    file: `${REDIS}/submission.ts`,
    find: `    const isSettled = !crossesParts(made, next);`,
    replace: `    const isSettled = made === next || next.length > 0;`,
  },
];
