-- What a handler wrote beside its result, as JSON rows: those of XCom as lib/records/xcom.lua has them, all
-- others as lib/records/channel.lua does.

-- Applies all of them or none, on behalf of a task. Answers why not, or false.
function F.applyWrites(run, text, writer)
  local channel, xcom = {}, {}
  for _, row in ipairs(cjson.decode(text)) do
    local rows = (row[1] == 'push' or row[1] == 'drop') and xcom or channel
    rows[#rows + 1] = row
  end
  local refused = #channel > 0 and F.writeChannel(run, channel)
  if refused then return refused end
  XCom.write(writer, xcom)
  return false
end
