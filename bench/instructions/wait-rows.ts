/** The cost of waits and streams, on top of a plain task in the same calls if they are part of its life. */
import type { Backend, Suspension } from '../../src/domain/port/backend.ts';
import { ANSWER, type WaitTarget } from '../../src/domain/task/wait.ts';
import type { CountedRedis } from './counted-redis.ts';
import { ORDER, onTop, USERS } from './feature-rows.ts';
import { withQueue } from './process-rows.ts';
import { fill, idOf, leaseOne, newTask, settledBy, store, tickAll, userOf } from './queue.ts';
import type { Row } from './row.ts';

/** The target of the signals that all of them wait for: a task that is due in the far future. */
const RUN = idOf(USERS + 1, 0);
const LATER_MS = 3_600_000;
/** Calls that write to one stream. */
const WRITES = 200;

export const WAIT_ROWS: readonly Row[] = [
  waitRow('sleep, until it is in line again', { kind: 'time' }, tickAll),
  waitRow('signal, from the wait for it until it has come', signal(), (backend) =>
    sendEach(backend, ({ waits }) => waits.signal(RUN, { name: 'go', payload: '1' })),
  ),
  waitRow('event, from the wait for it until it has come', event(), publishEach),
  streamRow(1),
  streamRow(50),
];

function signal(): WaitTarget {
  return { kind: 'signal', name: 'go', targets: [RUN] };
}

function event(): WaitTarget {
  return { kind: 'event', name: 'paid', key: 'k' };
}

/** Each task is suspended in place of its end; `after` ends all of these waits, and is counted too. */
function waitRow(
  name: string,
  target: WaitTarget,
  after: (backend: Backend) => Promise<void>,
): Row {
  const decision: Suspension = {
    type: 'suspend',
    waitFor: [],
    wakeOn: 'all',
    wait: { for: target, entry: `${ANSWER}s:1` },
    ...(target.kind === 'time' ? { wakeAfterMs: 1 } : {}),
  };
  const before = (backend: Backend): Promise<void> =>
    store(backend, [newTask(USERS + 1, 0, { delayMs: LATER_MS })]);
  return onTop(name, { before, decision, after });
}

async function sendEach(
  backend: Backend,
  send: (backend: Backend) => Promise<unknown>,
): Promise<void> {
  for (let sent = 0; sent < settledBy(ORDER); sent++) await send(backend);
}

/** One for each user: it ends the waits of all tasks of that user. */
async function publishEach(backend: Backend): Promise<void> {
  for (let user = 0; user < USERS; user++) {
    const what = { name: 'paid', key: 'k', payload: '1', eventId: 'e', keepMs: LATER_MS };
    await backend.waits.publish(userOf(user), what, []);
  }
}

/** A task writes this many chunks a call; per chunk. */
function streamRow(chunks: number): Row {
  return {
    name: `chunk of a stream, ${chunks} in a call`,
    measure: (redis) => withQueue(redis, (backend) => tell(redis, backend, chunks)),
  };
}

async function tell(redis: CountedRedis, backend: Backend, chunks: number): Promise<number> {
  await fill(backend, { users: 1, each: 1 });
  const lease = await leaseOne(backend);
  const text = '40:'.concat('x'.repeat(40)).repeat(chunks);
  let written = 0;
  const write = async (): Promise<void> => {
    const place = { name: 'tokens', node: '', call: 'c', attempt: 1, ordinal: written };
    const reply = await backend.streams.append(lease, {
      ...{ ...place, count: chunks, text, closes: false },
    });
    if (reply !== 'ok') throw new Error(`a stream was not written to: ${reply}`);
    written += chunks;
  };
  await write();
  await redis.rest();
  const instructions = await redis.count(async () => {
    for (let call = 0; call < WRITES; call++) await write();
  });
  return instructions / (WRITES * chunks);
}
