-- Writes to channels of runs, as src/domain/task/channel.ts has them.

-- A sum as JSON text; near enough: it reads back as the same number.
function F.numberText(sum)
  if sum == 0 then return '0' end
  if sum % 1 == 0 and math.abs(sum) < 2 ^ 53 then return string.format('%.0f', sum) end
  return string.format('%.17g', sum)
end

function F.isNumberText(text)
  return string.find(text, '^[-%d]') ~= nil
end

-- What a write makes of the value before it, false for none; nil when it does not fit that.
function F.channelWritten(kind, before, given)
  if kind == 'set' then return given end
  if kind == 'delete' then return false end
  if kind == 'append' then
    local list = before or '[]'
    if string.sub(list, 1, 1) ~= '[' then return nil end
    if list == '[]' then return '[' .. given .. ']' end
    return string.sub(list, 1, -2) .. ',' .. given .. ']'
  end
  if before and not F.isNumberText(before) then return nil end
  local sum = tonumber(before or '0') + given
  if sum ~= sum or sum == INF or sum == -INF then return nil end
  return F.numberText(sum)
end

function F.channelBytes(field, text)
  if not text then return 0 end
  return #field + (F.isNumberText(text) and LIMIT.channelNumberBytes or #text)
end

function F.channelRefusal(refusal)
  return 'refused ' .. cjson.encode(refusal)
end

-- Works out what the writes come to; nothing is written. Answers why they are refused, if they are.
function F.channelPlan(key, writes)
  local counts = redis.call('HGET', key, FIELD.channel.counts) or '0 0'
  local keys, bytes = string.match(counts, '^(%d+) (%d+)$')
  local plan = { values = {}, done = {}, keys = tonumber(keys), bytes = tonumber(bytes) }
  for _, write in ipairs(writes) do
    local kind, field, given, once = write[1], write[2], write[3], write[4]
    local mark = once and #field .. ':' .. field .. once
    local isDone = mark and (plan.done[mark] or redis.call('HEXISTS', key, FIELD.channel.once .. mark) == 1)
    if not isDone then
      if mark then
        plan.done[mark] = true
        plan.bytes = plan.bytes + #mark
      end
      local before = plan.values[field]
      if before == nil then before = redis.call('HGET', key, FIELD.channel.value .. field) end
      local after = F.channelWritten(kind, before, given)
      if after == nil then return plan, { type = 'unfit', field = field, operation = kind } end
      if after and F.channelBytes('', after) > LIMIT.channelValueBytes then
        return plan, { type = 'over', field = field, limit = 'channelValueBytes' }
      end
      plan.bytes = plan.bytes + F.channelBytes(field, after) - F.channelBytes(field, before)
      plan.keys = plan.keys + (after and 1 or 0) - (before and 1 or 0)
      plan.values[field] = after
    end
  end
  local last = #writes > 0 and writes[#writes][2] or ''
  if plan.keys > LIMIT.channelKeys then
    return plan, { type = 'over', field = last, limit = 'channelKeys' }
  end
  if plan.bytes > LIMIT.channelBytes then
    return plan, { type = 'over', field = last, limit = 'channelBytes' }
  end
  return plan
end

-- Applies writes to the channels of a run: all of them or none. Answers why not, or false.
function F.writeChannel(run, writes)
  local t = F.taskOf(run)
  if not t then return F.channelRefusal({ type = 'run-gone', run = run }) end
  local key = K.channel(run)
  local plan, refusal = F.channelPlan(key, writes)
  if refusal then return F.channelRefusal(refusal) end
  F.addKeys(t)
  for field, text in pairs(plan.values) do
    if text then
      redis.call('HSET', key, FIELD.channel.value .. field, text)
    else
      redis.call('HDEL', key, FIELD.channel.value .. field)
    end
  end
  for mark in pairs(plan.done) do redis.call('HSET', key, FIELD.channel.once .. mark, '1') end
  redis.call('HSET', key, FIELD.channel.counts, string.format('%.0f %.0f', math.max(plan.keys, 0), math.max(plan.bytes, 0)))
  return false
end
