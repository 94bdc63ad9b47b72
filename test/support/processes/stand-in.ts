/** A stand-in for Docker and Podman: see test/fixtures/stand-in-engine.mjs. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAlive } from './processes.ts';

/** The path of the stand-in. */
export const STAND_IN: string = fileURLToPath(
  new URL('../../fixtures/stand-in-engine.mjs', import.meta.url),
);

/** What the stand-in was told, and what it holds. */
export interface StandIn {
  /** Argument lists so far. */
  calls(verb?: string): readonly (readonly string[])[];
  /** Names of containers that exist. */
  containers(): readonly string[];
  /** Whether a command line waits for an image. */
  isFetching(): boolean;
  /** Process ids of containers and command lines of this test that run. */
  alive(pids: readonly number[]): readonly number[];
  remove(): void;
}

/** Until `remove`, stand-ins of this process keep their notes in a folder of their own. */
export function standIn(): StandIn {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-engine-'));
  process.env['FAIRLOOM_STAND_IN'] = folder;
  const fetching = join(folder, 'fetching');
  return {
    calls: (verb) => {
      const file = join(folder, 'calls');
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
      const all = lines.map((line) => JSON.parse(line) as readonly string[]);
      return verb === undefined ? all : all.filter(([first]) => first === verb);
    },
    containers: () => readdirSync(folder).filter((name) => name.startsWith('fairloom-')),
    isFetching: () => existsSync(fetching) && isAlive(Number(readFileSync(fetching, 'utf8'))),
    alive: (pids) => pids.filter(isAlive),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** An image that is small, is nearly everywhere, and has `cat`. */
const SMALL_IMAGE = 'busybox:latest';

/** A real engine that can run containers here, if there is one. */
export function realEngine(): string | undefined {
  return ['docker', 'podman'].find((engine) => {
    const args = ['run', '--rm', SMALL_IMAGE, 'true'];
    return spawnSync(engine, args, { stdio: 'ignore', timeout: 20_000 }).status === 0;
  });
}
