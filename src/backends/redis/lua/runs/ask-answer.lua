-- Answers a question, unless it is closed.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  id       the task that asks
-- ARGV[2]  mark     of the question
-- ARGV[3]  choice   one of its choices
-- ARGV[4]  payload  JSON text for the journal
-- Returns  {'answered'}, {'not-found'}, {'closed', when and how}, or {'no-choice'} and the choices
-- Cost     O(names that it is for × log questions)

F.readAll()
local id, mark, choice, payload = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local t = F.taskOf(id)
local ask = t and Wait.ask(id, mark)
if not ask then return F.unchanged({ 'not-found' }) end
local closing = redis.call('HGET', K.channel(id), FIELD.channel.askClosing .. mark)
if closing then
  local isSame = string.match(closing, '^%d+ ask (.*)$') == payload
  return F.unchanged({ isSame and 'answered' or 'closed', closing })
end
local x = t.optional or NONE
local isOpen = x.awaitKind == 'ask' and x.awaitName == mark
if isOpen and x.wakeDue and x.wakeDue <= now then
  redis.call('DEL', K.oom())
  Wait.endIfOver(t)
  F.cascade(LIMIT.cascadeStep)
  F.writeStep()
  F.closeStep()
  return { 'closed', string.format('%.0f', now) .. ' time ' }
end
if not F.contains(ask.spec.choices, choice) then return F.unchanged({ 'no-choice', unpack(ask.spec.choices) }) end
if not isOpen then
  return F.unchanged({ 'closed', string.format('%.0f', now) .. ' ended ' })
end
redis.call('DEL', K.oom())
local u = F.ownerOf(t)
Wait.answer(t, u, 'ask', payload)
F.reindex(u)
F.cascade(LIMIT.cascadeStep)
F.writeStep()
F.closeStep()
return { 'answered' }
