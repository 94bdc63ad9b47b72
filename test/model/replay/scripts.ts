/** Scripts that write down, in the step itself, which call each step belongs to and what time it saw. */
import { defineScript } from '../../../src/backends/redis/wire/script.ts';
import {
  LIBRARIES,
  libraryOf,
  manualScripts,
  type Scripts,
} from '../../../src/backends/redis/wire/scripts.ts';

/** Hash of the clock: `offset` is added to the server's time in ms; `still` stands in place of both. */
export const HAND = '-by-hand';
/** List of all steps in their order: verb, moment in ms, mark and the call as the client names it. */
export const LOG = '-by-hand-log';

/**
 * Runs a step. The last of two keys is the call, with `+<ms> ` before it when so much time passes first. The mark says that
 * a settle has not leased, or that a call takes more steps.
 */
const STEP = `local function byHand(keys, verb, act)
  local hand, call = keys[1] .. '${HAND}', keys[2] or ''
  local set, time = redis.call('HMGET', hand, 'still', 'offset'), redis.call('TIME')
  local passes = string.match(call, '^%+(%d+) ')
  local offset = tonumber(set[2]) + (tonumber(passes) or 0)
  if passes then redis.call('HSET', hand, 'offset', string.format('%.0f', offset)) end
  local ms = tonumber(set[1]) or offset + time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('HSET', hand, 'manual_s', math.floor(ms / 1000), 'manual_us', ms % 1000 * 1000)
  local reply, mark = act(), '-'
  if type(reply) == 'table' then
    local word = reply[1]
    if verb == 'settle' then word = reply[word + 2] end
    if word == 'unregistered' or word == 'more' then mark = word end
  end
  redis.call('RPUSH', keys[1] .. '${LOG}', verb .. ' ' .. string.format('%.0f', ms) .. ' ' .. mark .. ' ' .. call)
  return reply
end
`;

/** Wraps what the library registers; a step that reads writes its line, too. */
const REGISTER = `local function register(one)
  local act, full = one.callback, one.function_name
  one.flags, one.callback = {}, function(keys, args)
    local name = string.match(full, '_(%a+)$')
    local verb = name == 'careful' and args[#args] or name
    return byHand(keys, verb, function() return act(keys, args) end)
  end
  redis.register_function(one)
end
`;

/** The scripts of the product in all else; a call that breaks off fails. */
export function recordingScripts(): Scripts {
  const { library, script } = manualScripts();
  const inner = library.text.replace(/^#!.*\n/, '');
  const name = `${LIBRARIES}${defineScript(`${STEP}${REGISTER}${inner}`).sha.slice(0, 12)}`;
  const renamed = inner
    .replaceAll(library.name, name)
    .replaceAll('redis.register_function{', 'register{');
  return {
    library: libraryOf(name, `#!lua name=${name}\n${STEP}${REGISTER}${renamed}`),
    script: defineScript(
      `${STEP}return byHand(KEYS, ARGV[#ARGV], function()\n${script.text}\nend)`,
    ),
  };
}
