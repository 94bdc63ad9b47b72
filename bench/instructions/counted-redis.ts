/**
 * A Redis under callgrind, which counts the machine instructions that the server spends on a piece of
 * work. Outside of that it counts nothing, so other load of the machine does not matter.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { findValgrind } from '../../test/support/processes/valgrind.ts';
import { startRedis } from '../../test/support/redis/redis-server.ts';

/** Properties that change the number of instructions for the same work. */
export interface ServerFacts {
  /** As `redis 7.0.15`. */
  readonly server: string;
  readonly allocator: string;
  /** Of the machine, as `x64`. */
  readonly arch: string;
}

export interface CountedRedis {
  readonly url: string;
  readonly facts: ServerFacts;
  /** As `3.19.0`; the count does not depend on it. */
  readonly valgrind: string;
  /** Empties it, including scripts: loaded scripts of others would be collected during the work. */
  flush(): Promise<void>;
  /** Answers when the server has nothing to do, except for blocking commands. */
  rest(): Promise<void>;
  /** Answers when the server has taken all earlier commands. */
  reached(): Promise<void>;
  /** Instructions of the server from the beginning of the work to its end. */
  count(work: () => Promise<void>): Promise<number>;
  stop(): Promise<void>;
}

/**
 * The server's own work each second belongs to no task: it runs as seldom as possible. Tables that
 * grow or shrink are moved by the commands that use them, not by the clock.
 */
const ARGS = [
  ...['--hz', '1', '--dynamic-hz', 'no', '--activerehashing', 'no'],
  // On a busy machine commands are slow, and each slow one would be logged.
  ...['--slowlog-log-slower-than', '-1'],
];

/**
 * The garbage collector of Lua works in cycles, each of which costs as much as dozens of tasks, and a step of it runs
 * with every 50th script. Counting begins with a new cycle and right after a step, so that the same work meets
 * the same collector.
 */
const COLLECT = "collectgarbage('collect')";
/** Functions have a collector of their own. */
const COLLECTOR = `#!lua name=counting
redis.register_function('collect', function() ${COLLECT} end)`;
const STEP_EVERY = 50;

/** Between two checks whether the server is idle, in ms. */
const LOOK_MS = 20;

const execute = promisify(execFile);

export async function startCountedRedis(): Promise<CountedRedis> {
  const { valgrind, vgdb } = findValgrind();
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-callgrind-'));
  const pipe = `--vgdb-prefix=${join(folder, 'vgdb')}`;
  const profile = join(folder, 'profile');
  const options = [
    '--tool=callgrind',
    '--instr-atstart=no',
    `--callgrind-out-file=${profile}`,
    pipe,
  ];
  const server = await startRedis({
    under: [valgrind, ...options],
    args: [...ARGS, '--maxmemory-policy', 'noeviction'],
  });
  const admin = new Redis(server.url);
  const tell = async (...words: string[]): Promise<void> => {
    await execute(vgdb, [pipe, `--pid=${server.pid}`, ...words]);
  };
  let dumps = 0;
  return {
    url: server.url,
    facts: await factsOf(admin),
    valgrind: (await execute(valgrind, ['--version'])).stdout.trim().replace('valgrind-', ''),
    flush: async () => {
      await admin.flushall('SYNC');
      await admin.script('FLUSH', 'SYNC');
      await admin.function('FLUSH', 'SYNC');
    },
    rest: async () => {
      let before = Number.NaN;
      for (;;) {
        const now = await commandsOf(admin);
        // The check itself is one.
        if (now === before + 1) return;
        before = now;
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    },
    reached: async () => {
      await admin.ping();
    },
    count: async (work) => {
      await admin.function('LOAD', 'REPLACE', COLLECTOR);
      for (let left = STEP_EVERY - ((await scriptsOf(admin)) % STEP_EVERY); left > 0; left--) {
        if (left % 2 === 0) await admin.eval(COLLECT, 0);
        else await admin.fcall('collect', 0);
      }
      await tell('instrumentation', 'on');
      await work();
      await tell('instrumentation', 'off');
      await tell('dump');
      dumps += 1;
      const file = `${profile}.${dumps}`;
      const total = /^totals: (\d+)/m.exec(readFileSync(file, 'utf8'))?.[1];
      rmSync(file);
      if (total === undefined) throw new Error('callgrind has counted nothing');
      return Number(total);
    },
    stop: async () => {
      admin.disconnect();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function factsOf(admin: Redis): Promise<ServerFacts> {
  const info = await admin.info('everything');
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
  const valkey = field('valkey_version');
  return {
    server: valkey === undefined ? `redis ${field('redis_version')}` : `valkey ${valkey}`,
    allocator: field('mem_allocator') ?? 'unknown',
    arch: process.arch,
  };
}

/** Scripts that have run since the server started. */
async function scriptsOf(admin: Redis): Promise<number> {
  const stats = await admin.info('commandstats');
  const calls = [...stats.matchAll(/^cmdstat_(?:eval|evalsha|fcall)(?:_ro)?:calls=(\d+)/gm)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function commandsOf(admin: Redis): Promise<number> {
  return Number(/^total_commands_processed:(\d+)/m.exec(await admin.info('stats'))?.[1]);
}
