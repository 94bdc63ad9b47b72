-- Keys that gather calls: what a call under `debounce` or `throttle` comes to (domain/window.ts).
-- A key of this kind has `windowFrom`, when its window began, and `holdsUntil`, when a throttle's ends.

function Window.is(spec)
  return spec.wait or spec.per
end

-- How long from now until a debounced start.
function Window.debounced(spec, from)
  if not spec.most then return spec.wait end
  return math.max(0, math.min(spec.wait, from + spec.most - now))
end

-- What the first call under a key comes to.
function Window.open(spec)
  if spec.wait then return { due = now + Window.debounced(spec, now), from = now } end
  return { due = now, from = now, till = now + spec.per }
end

function Window.ownerState(key)
  local t = not key.ownerEndedAs and F.taskOf(key.ownerId)
  if not t or t.token ~= '' or F.isEnd(t.state) then return 'begun' end
  return t.state == 'scheduled' and 'scheduled' or 'waiting'
end

-- What a call comes to while the key holds: 'return', 'replace' and the new due time if there is
-- one, or 'new' and the window that it opens.
function Window.step(key, spec)
  local ownerState = Window.ownerState(key)
  local from, till = key.windowFrom or now, key.holdsUntil or key.windowFrom or now
  if spec.wait then
    if ownerState == 'begun' then return 'new', Window.open(spec) end
    return 'replace', ownerState == 'scheduled' and now + Window.debounced(spec, from) or nil
  end
  if not spec.trailing then return 'return' end
  if now >= from then return 'new', { due = till, from = till, till = till + spec.per } end
  if ownerState ~= 'begun' then return 'replace' end
  return 'new', { due = from, from = from, till = till }
end

-- The window that a new owner of the key opens.
function Window.opened(key, spec)
  if key.ownerId and Key.holds(key) then
    local kind, window = Window.step(key, spec)
    if kind == 'new' then return window end
  end
  return Window.open(spec)
end

-- Another call has moved the start of a task that waits for it.
function Window.move(t, due)
  local u = F.ownerOf(t)
  if t.optional and t.optional.startUntil then
    t.optional.startUntil = t.optional.startUntil + due - t.at
    F.setDeadline(t)
  end
  if due > now then
    F.leave(t, u)
    F.enterScheduled(t, u, due)
  else
    F.becomeDue(t, u)
  end
end
