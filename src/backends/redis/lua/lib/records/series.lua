-- What was added to the series: a moment, and what queues had counted by then, in front of its rows.

-- What the queues of these had counted when some were taken in last: queue and text by turns.
function F.lookedBefore(added)
  local looked, seen = {}, {}
  for _, entry in ipairs(added) do
    local fine, counted = pcall(cjson.decode, string.match(entry, '^%d+ (.-)\n') or '')
    for _, one in ipairs(fine and type(counted) == 'table' and counted or NONE) do
      local name = type(one) == 'table' and one[1]
      local known = type(name) == 'string' and not seen[name] and redis.call('HGET', K.seriesTotals(), name)
      if known then looked[#looked + 1], looked[#looked + 2], seen[name] = name, known, true end
    end
  end
  return looked
end
