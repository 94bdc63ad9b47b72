-- Writes the text of a task that never changes (lib/records/task.lua).

-- `owned`: packed facts of a task that belongs to a run, if it does.
local function storeText(id, f, long, owned)
  if long then redis.call('HSET', K.payloads(), id, long) end
  if owned then
    redis.call('HSET', K.facts(), id, owned)
    f = string.sub(f, 1, AT.text.level) .. string.byte(f, AT.text.kind) - (BYTE.zero - FLAG.kind.facts)
      .. string.sub(f, AT.text.userBytes)
  end
  redis.call('HSET', K.tasks(), id, f)
end

-- Packed facts of a task that has no others than the run that it belongs to; nil for others.
local function packedOwner(spec)
  local owner = string.match(spec, '^{"o":"([^"\\]+)"}$')
  return owner and struct.pack(FORMAT.facts, PLACE.line, 0, 0, 0, 0, 0, 0, 0) .. cmsgpack.pack({ optional = { ownerRun = owner } }),
    owner
end
