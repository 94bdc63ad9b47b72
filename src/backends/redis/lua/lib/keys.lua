-- Builds the name of every key; nothing else does. `keys.ts` is its twin. Each is one expression,
-- which the bundler puts where it is called.
-- Fixed parts first, at most one free string, and that last (or before a fixed suffix); two free
-- strings are joined as <length>:<first><second>. `lane` is the prefix of a queue's own keys.

function K.lane(queue)
  return queue == 'default' and prefix or prefix .. 'lane:' .. queue .. ':'
end
function K.pair(first, second)
  return #first .. ':' .. first .. second
end
function K.oom() return prefix .. 'oom' end
function K.meta() return prefix .. 'meta' end
function K.queues() return prefix .. 'queues' end
function K.tasks() return prefix .. 'tasks' end
function K.payloads() return prefix .. 'payloads' end
function K.facts() return prefix .. 'facts' end
function K.ends() return prefix .. 'ends' end
function K.results() return prefix .. 'results' end
function K.errors() return prefix .. 'errors' end
function K.ears() return prefix .. 'ears' end
function K.hot(worker) return prefix .. 'hot:' .. worker end
function K.leases() return prefix .. 'leases' end
function K.kept(state) return prefix .. 'kept:' .. state end
function K.holes() return prefix .. 'holes' end
function K.ended(state) return prefix .. 'ended:' .. state end
function K.attempts(id) return prefix .. 'attempts:' .. id end
function K.state(state) return prefix .. 'state:' .. state end
function K.waiting(id) return prefix .. 'deps:waiting:' .. id end
function K.blocked(id) return prefix .. 'deps:blocked:' .. id end
function K.held(id) return prefix .. 'deps:held:' .. id end
-- The pair of an id that is not stored and of who would have to store it.
function K.missing(pair) return prefix .. 'deps:missing:' .. pair end
-- An index of the whole namespace: by state, or by its own name.
function K.index(name)
  return CODES[name] and prefix .. 'state:' .. name or prefix .. name
end
function K.dropping() return prefix .. 'dropping' end
function K.idleLanes() return prefix .. 'idle-lanes' end
function K.userConfig(user) return prefix .. 'user-config:' .. user end
function K.configured() return prefix .. 'configured-users' end
function K.configuredForAll() return prefix .. 'configured-for-all' end
function K.key(queue, user, key) return prefix .. 'key:' .. queue .. ':' .. K.pair(user, key) end
function K.run(id) return prefix .. 'run:' .. id end
function K.channel(id) return prefix .. 'channel:' .. id end
-- A place of a value: the pair of its user and of the pair of namespace and key.
function K.xcom(place) return prefix .. 'xcom:' .. place end
function K.xcomKeys(space) return prefix .. 'xcom-keys:' .. space end
function K.xcomNamespaces(user) return prefix .. 'xcom-namespaces:' .. user end
function K.graph(hash) return prefix .. 'graph:' .. hash end
function K.graphNew(hash) return prefix .. 'graph-new:' .. hash end
function K.graphMeta(hash) return prefix .. 'graphmeta:' .. hash end
function K.graphRefs(hash) return prefix .. 'graph-refs:' .. hash end
function K.schedules() return prefix .. 'schedules' end
function K.schedule(id) return prefix .. 'schedule:' .. id end
function K.schedulerLock() return prefix .. 'scheduler:lock' end
function K.submit(id) return prefix .. 'submit:' .. id end
function K.submitted(id) return prefix .. 'submitted:' .. id end
function K.workers() return prefix .. 'workers' end
function K.worker(id) return prefix .. 'worker:' .. id end
function K.names() return prefix .. 'names' end
function K.refreshing() return prefix .. 'refreshing' end
function K.wake(worker) return prefix .. 'wake:' .. worker end
function K.fair(lane) return lane .. 'fair' end
function K.ready(lane, class) return lane .. 'ready:' .. class end
function K.user(lane, user) return lane .. 'user:' .. user end
function K.users(lane) return lane .. 'users' end
function K.keptTags(lane) return lane .. 'kept-tags' end
function K.oldTags(lane, epoch) return lane .. 'old-tags:' .. epoch end
function K.later(lane) return lane .. 'later' end
function K.idle(lane, epoch) return lane .. 'idle:' .. epoch end
function K.line(lane, level, user) return lane .. 'line' .. level .. ':' .. user end
-- Tasks whose names are not known to whoever came to them: their names; by name, whose they are, with the level;
-- by name, and of all names, tasks by user, level and place.
function K.strangeNames(lane) return lane .. 'strange-names' end
function K.strangeUsers(lane, name) return lane .. 'strange-users:' .. name end
function K.strangers(lane, name) return lane .. 'strangers:' .. name end
function K.parked(lane) return lane .. 'parked' end
function K.scheduled(lane, user) return lane .. 'scheduled:' .. user end
function K.list(lane, list) return lane .. 'list:' .. list end
function K.listNames(lane, list) return lane .. 'list-names:' .. list end
function K.listWorkers(lane, list) return lane .. 'list-workers:' .. list end
function K.listReady(lane, list) return lane .. 'list-ready:' .. list end
function K.orphans(lane, list) return lane .. 'orphans:' .. list end
function K.idleWorkers(lane, list) return lane .. 'idle-workers:' .. list end
