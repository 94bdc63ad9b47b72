-- What one answer may come to, in units of about 10 µs and in bytes; one row may have more. The caller asks
-- anew for what is left out.

local left, bytesLeft = LIMIT.scriptUnits, LIMIT.scriptBytes

-- No script answers more than it may, and this one no more than that.
function F.limitBytes(bytes)
  bytesLeft = math.min(bytesLeft, bytes)
end

function F.spend(units, bytes)
  left, bytesLeft = left - units, bytesLeft - bytes
end

function F.isSpent()
  return left <= 0 or bytesLeft <= 0
end
