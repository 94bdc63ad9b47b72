-- Takes named values away whose time is over.

-- User, namespace and key of a place.
function XCom.parts(place)
  local user, rest = Tick.splitPair(place)
  local namespace, key = Tick.splitPair(rest)
  return user, namespace, key
end

-- Takes values away that are over; those that a task keeps are looked at again later.
function XCom.sweep()
  if not Tick.headIs('xcom-ends', now) then return false end
  local places = Tick.dueOf('xcom-ends', now, LIMIT.xcomStep)
  for _, place in ipairs(places) do
    local got = redis.call('HMGET', K.xcom(place), FIELD.xcom.writer, FIELD.xcom.pushed, FIELD.xcom.keep)
    local till = got[1] and XCom.endOf(got[1], tonumber(got[2]), tonumber(got[3]))
    if not got[1] then
      F.move('xcom-ends', place, false)
    elseif not till then
      F.move('xcom-ends', place, now + LIMIT.xcomHoldMs)
    elseif till > now then
      F.move('xcom-ends', place, till)
    else
      XCom.drop(XCom.parts(place))
    end
  end
  if #places == 0 then H['xcom-ends'] = INF end
  return #places == LIMIT.xcomStep
end
