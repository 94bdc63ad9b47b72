-- Tells a leased task how its dependencies ended, with their results as far as they fit. In front of
-- them stands how long after the last one's end it was queued, in ms; -1 when that says nothing.
-- @rare

-- A field that this step has set and not written yet; false when there is none.
function F.unwritten(t, field)
  local extra = t.extra or {}
  for i = #extra - 1, 1, -2 do
    if extra[i] == field then return extra[i + 1] end
  end
  return false
end

function F.upstreamsOf(t)
  local room, facts = LIMIT.upstreamBytes, { t.at < 0 and -1 - t.at or -1 }
  for i, id in ipairs(t.x.d) do
    -- One that was missing was not waited for, whoever has stored it since.
    local upstream = not Cascade.satisfiedMissing(t, id) and Deps.upstreamOf(t, id)
    local fact = { id = id, name = '', state = 'missing', cut = false }
    if upstream then fact.name = F.fixed(upstream).name end
    if upstream and F.isEnd(upstream.state) then
      fact.state = upstream.state
      -- A settle that leases may hand on what it has ended itself.
      local fresh = F.unwritten(upstream, 'r')
      local size = fresh and #fresh or redis.call('HSTRLEN', K.task(id), 'r')
      local fits = size <= room
      local got = redis.call('HMGET', K.task(id), 'e', fits and 'r' or '-')
      fact.error = F.unwritten(upstream, 'e') or got[1] or nil
      if fits then
        fact.result = fresh or got[2] or nil
        room = room - size
      else
        fact.cut = true
      end
    end
    facts[i + 1] = fact
  end
  return cjson.encode(facts)
end
