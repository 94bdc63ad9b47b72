-- Applies a patch to settings: null takes a field away. nil when nothing is left.

function F.patched(packed, patch)
  local settings = packed and cmsgpack.unpack(packed) or {}
  for field, value in pairs(patch) do
    if value == cjson.null then value = nil end
    settings[field] = value
  end
  if next(settings) == nil then return nil end
  return settings
end
