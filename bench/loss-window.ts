/**
 * How many acknowledged tasks a `kill -9` of Redis loses, by `appendfsync`. The figures of
 * docs/reliability.md come from here: `npx tsx bench/loss-window.ts --kills 20`.
 *
 * This is the death of a process, not of a machine: data that the process had passed to the system is
 * not lost with it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Fairloom, silentLogger, task } from '../src/index.ts';
import { redis } from '../src/redis.ts';
import { type RedisServer, startRedis } from '../test/support/redis/redis-server.ts';

/** Callers that each enqueue the next task when the last one is stored. */
const CALLERS = 100;
/** How long they enqueue before the kill, in ms: the minimum, and the range above it. */
const RUN_MS = { least: 700, more: 900 };

const { values } = parseArgs({ options: { kills: { type: 'string', default: '20' } } });
const work = task('work', async (_payload: { readonly text: string }) => undefined);
const payload = { text: 'x'.repeat(88) };

for (const appendfsync of ['no', 'everysec', 'always']) {
  const total = { appendfsync, kills: 0, accepted: 0, lost: 0, killsWithLoss: 0 };
  for (let kill = 0; kill < Number(values.kills); kill++) {
    const { accepted, lost } = await once(appendfsync);
    total.kills += 1;
    total.accepted += accepted;
    total.lost += lost;
    total.killsWithLoss += lost > 0 ? 1 : 0;
  }
  console.log(JSON.stringify(total));
}

/** One server, from its start to its death, and the remaining tasks. */
async function once(appendfsync: string): Promise<{ accepted: number; lost: number }> {
  const server = await startRedis({
    args: ['--appendonly', 'yes', '--appendfsync', appendfsync],
  });
  try {
    const accepted = await enqueueUntilKilled(server);
    await server.restart();
    return { accepted: accepted.length, lost: await missing(server, accepted) };
  } finally {
    await server.stop();
  }
}

async function enqueueUntilKilled(server: RedisServer): Promise<readonly string[]> {
  const accepted: string[] = [];
  const loom = new Fairloom({ backend: redis(server.url), log: silentLogger });
  let killed = false;
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    while (!killed) {
      try {
        accepted.push((await loom.enqueue(work, payload, { user: `u${caller}` })).id);
      } catch {
        return;
      }
    }
  });
  await pause(RUN_MS.least + Math.random() * RUN_MS.more);
  await server.kill();
  killed = true;
  await Promise.all(callers);
  await loom.close({ timeout: 0 });
  return accepted;
}

async function missing(server: RedisServer, ids: readonly string[]): Promise<number> {
  const loom = new Fairloom({ backend: redis(server.url), log: silentLogger });
  let lost = 0;
  for (let from = 0; from < ids.length; from += CALLERS) {
    const some = ids.slice(from, from + CALLERS);
    const found = await Promise.all(some.map((id) => loom.tasks.get(id)));
    lost += found.filter((one) => one === undefined).length;
  }
  await loom.close();
  return lost;
}
