-- Tells processes that a task has ended. The notice is the id, the code of the state, cause, error and result, parted
-- by NUL; of what is long only the id: it is fetched.

-- Where to tell it: what `ears` holds of the task, see lib/records/task.lua.
function F.channelsOf(ear)
  local channels = {}
  for channel in string.gmatch(ear, ' ([^ ]+)') do channels[#channels + 1] = channel end
  return channels
end

function F.notifyEnd(channels, id, code, result, err, cause)
  local notice = id
  if #result + #err + #cause <= LIMIT.noticeBytes then
    notice = id .. '\0' .. code .. '\0' .. cause .. '\0' .. err .. '\0' .. result
  end
  for i = 1, #channels do redis.call('PUBLISH', channels[i], notice) end
end
