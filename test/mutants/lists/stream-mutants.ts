/** Mutants of streams: who may write, what is doubled or lost, what readers are told, and what goes with a task. */
import type { Mutant } from '../mutants.ts';

const IN_MEMORY: readonly Mutant[] = [
  {
    name: 'streams: anybody writes',
    file: 'src/backends/memory/rules/streams.ts',
    find: `attendedTask(store, { id, token })`,
    replace: `store.records.get(id)`,
  },
  {
    name: 'streams: a block that is sent again is there twice',
    file: 'src/backends/memory/store/stored-stream.ts',
    find: `    if (isKnown) return 'ok';\n`,
    replace: `    void isKnown;\n`,
  },
  {
    name: 'streams: nobody hears of a new attempt',
    file: 'src/backends/memory/store/stored-stream.ts',
    find: `if (before !== undefined && own === undefined) this.#add('reset', what, 1, '');`,
    replace: ``,
  },
  {
    name: 'streams: what one node has closed another writes to',
    file: 'src/backends/memory/store/stored-stream.ts',
    find: `(own !== undefined || before === undefined)) return 'closed'`,
    replace: `own !== undefined) return 'closed'`,
  },
  {
    name: 'streams: everything is kept',
    file: 'src/backends/memory/store/stored-stream.ts',
    find: `    this.#trim(keptOf(name));\n`,
    replace: '',
  },
  {
    name: 'streams: any number of them',
    file: 'src/backends/memory/rules/streams.ts',
    find: `return 'full';`,
    replace: `void 0;`,
  },
];

const APPEND = 'src/backends/redis/lua/runs/append.lua';

const ON_REDIS: readonly Mutant[] = [
  {
    name: 'streams: a lease that is over writes',
    file: APPEND,
    find: ` or string.sub(lease, -#token - 1) ~= '\\0' .. token then`,
    replace: ' then',
  },
  {
    name: 'streams: a lease that is over begins one',
    file: APPEND,
    find: ` or not F.isAttendedBy(t, token) then`,
    replace: ' then',
  },
  {
    name: 'streams: a block that is sent again is there twice, on Redis',
    file: APPEND,
    find: `if written > tonumber(ARGV[8]) or`,
    replace: `if`,
  },
  {
    name: 'streams: a close that is sent again is refused',
    file: APPEND,
    find: ` or (isMine and count == 0 and closed == '1') then`,
    replace: ' then',
  },
  {
    name: 'streams: nobody hears of a new attempt, on Redis',
    file: APPEND,
    find: `if mine and not isMine then add('reset', 1, '') end`,
    replace: '',
  },
  {
    name: 'streams: too many chunks are kept',
    file: APPEND,
    find: `next_ - kept > mostChunks or `,
    replace: '',
  },
  {
    name: 'streams: too many bytes are kept',
    file: APPEND,
    find: ` or bytes > mostBytes do`,
    replace: ' do',
  },
  {
    name: 'streams: what is over is known to be, and stays',
    file: APPEND,
    find: `if kept > first then`,
    replace: `if kept < first then`,
  },
  {
    name: 'streams: retention forgets them',
    file: APPEND,
    find: `    F.optionalOf(t).streamed = true\n`,
    replace: '',
  },
  {
    name: 'streams: a redrive forgets that there are any',
    file: 'src/backends/redis/lua/tasks/redrive.lua',
    find: `, streamed = t.changing.streamed }`,
    replace: ' }',
  },
  {
    name: 'streams: one of several goes with its task',
    file: 'src/backends/redis/lua/lib/records/streams.lua',
    find: `gone[#gone + 1] = K.stream(id, name)`,
    replace: 'gone[2] = K.stream(id, name)',
  },
];

const IN_THE_ENGINE: readonly Mutant[] = [
  {
    name: 'streams: an attempt ends before what it wrote is stored',
    file: 'src/attempt/handler-call.ts',
    find: `  if (left === undefined && streamed === undefined) {`,
    replace: `  if (streamed !== null) {`,
    first: 'attempt/streams',
  },
  {
    name: 'streams: an attempt fails before what it wrote is stored',
    file: 'src/attempt/handler-call.ts',
    find: `if (streamed === undefined) threw(failureOf(error), sink);`,
    replace: `if (streamed !== null) threw(failureOf(error), sink);`,
    first: 'attempt/streams',
  },
  {
    name: 'streams: what is on its way is lost when a handler waits for a group',
    file: 'src/attempt/attempt.ts',
    find: `    await this.openStreams?.pause();\n`,
    replace: '',
    first: 'runs/streams',
  },
  {
    name: 'streams: an outage breaks a stream',
    file: 'src/attempt/streams.ts',
    find: `const mayPass = isOwn(error) && error.retryable;`,
    replace: `const mayPass = false;`,
    first: 'attempt/streams',
  },
  {
    name: 'streams: after an outage chunks count from another number',
    file: 'src/attempt/streams.ts',
    find: `      this.#ordinal += block.chunks.length;\n`,
    replace: '',
    first: 'attempt/streams',
  },
  {
    name: 'streams: any number of bytes may wait',
    file: 'src/attempt/streams.ts',
    find: `this.#bytes + bytes > LIMITS.streamPendingBytes`,
    replace: `bytes > LIMITS.streamPendingBytes`,
    first: 'attempt/streams',
  },
  {
    name: 'streams: a visit of a node resets the one before',
    file: 'src/runs/driven/producer.ts',
    find: `visit === 1 ? node.id : key`,
    replace: `node.id`,
    first: 'runs/streams',
  },
  {
    name: 'streams: two calls of a handler have one name',
    file: 'src/attempt/streams.ts',
    find: `.\${this.#calls}\``,
    replace: '`',
    first: 'runs/streams',
  },
  {
    name: 'streams: a reader ends with its task before it has read everything',
    file: 'src/client/facades/stream-reading.ts',
    find: `const isLast = this.#quiet.signal.aborted;`,
    replace: `const isLast = this.#at > 0;`,
    first: 'attempt/streams',
  },
  {
    name: 'streams: a reader is not told of a gap',
    file: 'src/client/facades/stream-reading.ts',
    find: `      yield { type: 'gap', offset, next: from };\n`,
    replace: '',
    first: 'attempt/streams',
  },
  {
    name: 'streams: a reader of another stream under the same id waits for ever',
    file: 'src/client/facades/stream-reading.ts',
    find: `if (this.#from > next) {`,
    replace: `if (this.#from > next + 1_000) {`,
    first: 'attempt/streams',
  },
  {
    name: 'streams: the log of what fails is not kept',
    file: 'src/attempt/kept-log.ts',
    find: `isFailure || keep`,
    replace: `keep`,
    first: 'attempt/logs',
  },
  {
    name: 'streams: the log of what succeeds at once is kept',
    file: 'src/attempt/coalesced.ts',
    find: `if (!isKept) this.drop();`,
    replace: `void isKept;`,
    first: 'attempt/logs',
  },
  {
    name: 'streams: of a long log the end is lost',
    file: 'src/attempt/kept-log.ts',
    find: ` || this.#lines.isStored`,
    replace: '',
    first: 'attempt/logs',
  },
  {
    name: 'streams: the newest lines of a log go, and the oldest stay',
    file: 'src/attempt/coalesced.ts',
    find: `this.#texts.shift()`,
    replace: `this.#texts.pop()`,
    first: 'attempt/logs',
  },
  {
    name: 'streams: the log is stored whenever a line comes',
    file: 'src/attempt/coalesced.ts',
    find: `if (isEager && this.#sending`,
    replace: `if (this.#sending`,
    first: 'attempt/logs',
  },
  {
    name: 'streams: every report of progress is stored',
    file: 'src/attempt/coalesced.ts',
    find: `    if (this.#timer !== undefined) return;\n`,
    replace: '',
    first: 'attempt/progress',
  },
  {
    name: 'streams: a handler that has ended goes on logging',
    file: 'src/attempt/coalesced.ts',
    find: `    if (this.#isOver) return;\n`,
    replace: '',
    first: 'attempt/logs',
  },
  {
    name: 'streams: a task waits, and nobody sees what it has said',
    file: 'src/attempt/streams.ts',
    find: `    for (const texts of this.#gathered) void texts.store();\n`,
    replace: '',
    first: 'attempt/logs',
  },
  {
    name: 'streams: a handler may say that it has come too far',
    file: 'src/attempt/reports.ts',
    find: `fraction >= 0 && fraction <= 1`,
    replace: `fraction >= 0`,
    first: 'attempt/progress',
  },
  {
    name: 'streams: chunks are readable where they are stored',
    file: 'src/codec/sealed-backend.ts',
    find: `text: texts.seal(write.text, 'stream') })`,
    replace: `text: write.text })`,
    first: 'attempt/streams',
  },
];

export const STREAM_MUTANTS: readonly Mutant[] = [...IN_MEMORY, ...ON_REDIS, ...IN_THE_ENGINE];
