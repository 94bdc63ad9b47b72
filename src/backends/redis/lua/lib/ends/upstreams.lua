-- Tells a leased task how its dependencies ended, with their results and errors as far as they fit. In front of
-- them stands how long after the last one's end it was queued, in ms; -1 when that says nothing.

function F.upstreamsOf(t)
  local bytesLeft, facts = LIMIT.upstreamBytes, { t.at < 0 and -1 - t.at or -1 }
  for i, id in ipairs(t.optional.waitsOn) do
    -- One that was missing was not waited for, whether or not it was stored since.
    local upstream = not Cascade.satisfiedMissing(t, id) and Deps.upstreamOf(t, id)
    local fact = { id = id, name = '', state = 'missing', cut = false }
    if upstream then fact.name = F.fixed(upstream).name end
    if upstream and F.isEnd(upstream.state) then
      fact.state = upstream.state
      local failure = redis.call('HGET', K.errors(), id) or nil
      local size = F.resultBytes(upstream) + #(failure or '')
      if size <= bytesLeft then
        fact.result, fact.error = F.resultOf(upstream), failure
        bytesLeft = bytesLeft - size
      else
        fact.cut = true
      end
    end
    facts[i + 1] = fact
  end
  return cjson.encode(facts)
end
