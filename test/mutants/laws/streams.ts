/** Laws of streams and logs. */
import type { Law } from '../mutants.ts';

export const LAWS: readonly Law[] = [
  {
    law: 'Only the current attempt writes to a stream.',
    file: 'src/backends/redis/lua/runs/append.lua',
    find: " or string.sub(lease, -#token - 1) ~= '\\0' .. token then",
    replace: ' then',
  },
  {
    law: 'A block that is sent again is stored once.',
    file: 'src/backends/redis/lua/runs/append.lua',
    find: 'if written > tonumber(ARGV[8]) or',
    replace: 'if',
  },
  {
    law: 'A stream keeps at most so many chunks and bytes.',
    file: 'src/backends/redis/lua/runs/append.lua',
    find: 'next_ - kept > mostChunks or ',
    replace: '',
  },
  {
    law: 'A reader ends when it has read everything.',
    file: 'src/client/facades/stream-reading.ts',
    first: 'attempt/streams',
    find: 'const isLast = this.#quiet.signal.aborted;',
    replace: 'const isLast = this.#at > 0;',
  },
  {
    law: 'A reader hears of chunks that are gone.',
    file: 'src/client/facades/stream-reading.ts',
    first: 'attempt/streams',
    find: `      yield { type: 'gap', offset, next: from };\n`,
    replace: '',
  },
  {
    law: 'The log of a failed attempt is kept.',
    file: 'src/attempt/kept-log.ts',
    first: 'attempt/logs',
    find: 'isFailure || keep',
    replace: 'keep',
  },
];
