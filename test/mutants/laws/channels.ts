/** Laws of channels. */
import type { Law } from '../mutants.ts';

export const LAWS: readonly Law[] = [
  {
    law: 'A checkpoint that is sent again writes once.',
    file: 'src/backends/redis/lua/runs/checkpoint.lua',
    find: `  F.optionalOf(t).checkpoint = name\n`,
    replace: '',
  },
  {
    law: 'A refused checkpoint writes nothing.',
    file: 'src/backends/redis/lua/runs/checkpoint.lua',
    find: `  if refused then return F.unchanged({ refused }) end\n`,
    replace: '',
  },
  {
    law: 'Only the current attempt writes to a channel.',
    file: 'src/backends/redis/lua/runs/write-channel.lua',
    find: 'not t or not F.isAttendedBy(t, token)',
    replace: 'not t',
  },
  {
    law: 'Appends are added to those before.',
    file: 'src/domain/task/channel.ts',
    find: `text: \`\${before.text},\${write.text}\``,
    replace: 'text: write.text',
  },
  {
    law: 'A channel goes with its run.',
    file: 'src/backends/redis/lua/lib/ends/retain.lua',
    find: 'K.run(id), K.channel(id))',
    replace: 'K.run(id))',
  },
];
