/**
 * examples/two-processes/web.mjs and examples/two-processes/worker.mjs, with what they share in
 * examples/two-processes/tasks.mjs: the process that has the folder open is killed, whichever it is.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../support/processes/run-process.ts';

interface Started {
  readonly child: ChildProcess;
  /** The first line that it prints. */
  readonly line: string;
}

async function start(file: string, folder: string): Promise<Started> {
  const child = spawn(process.execPath, [join(ROOT, 'examples/two-processes', file)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, DATA_FOLDER: folder, PORT: '0', WORK_MS: '300' },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(createInterface(child.stdout), 'line');
  return { child, line: String(line) };
}

async function kill({ child }: Started, signal: NodeJS.Signals): Promise<number | null> {
  const ended = once(child, 'exit');
  child.kill(signal);
  const [code] = await ended;
  return code;
}

/** Asks as a browser would: again, while the folder has no owner. */
async function json(url: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
  for (;;) {
    const response = await fetch(url, init);
    if (response.status !== 503) return (await response.json()) as Record<string, unknown>;
  }
}

it('goes on when the process that owns the folder is killed', async () => {
  const root = mkdtempSync(join(tmpdir(), 'fairloom-two-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'data');
  const images = Array.from({ length: 24 }, (_none, at) => `image-${at}`);
  const base = ({ line }: Started): string => line.replace('listening on ', '');
  const post = (web: Started, image: string) =>
    json(`${base(web)}/users/ann/thumbnails?image=${image}`, { method: 'POST' });
  const states = (web: Started, ids: readonly unknown[]) =>
    Promise.all(ids.map((id) => json(`${base(web)}/thumbnails/${id}`)));
  const finished = async (web: Started, ids: readonly unknown[]): Promise<number> =>
    (await states(web, ids)).filter(({ state }) => state === 'finished').length;

  // The web server comes first, so it has the folder open.
  const web = await start('web.mjs', folder);
  const posted = await Promise.all(images.map((image) => post(web, image)));
  const ids = posted.map(({ id }) => id);
  const worker = await start('worker.mjs', folder);
  await expect.poll(() => finished(web, ids)).toBeGreaterThan(3);
  await kill(web, 'SIGKILL');

  // The worker has it now, until it is killed as well.
  const again = await start('web.mjs', folder);
  const before = await finished(again, ids);
  expect(before).toBeGreaterThan(3);
  await expect.poll(() => finished(again, ids)).toBeGreaterThan(before + 1);
  await kill(worker, 'SIGKILL');
  expect(await post(again, 'image-23')).toEqual({ id: ids[23] });
  expect(await finished(again, ids)).toBeLessThan(images.length);

  const next = await start('worker.mjs', folder);
  await expect.poll(() => finished(again, ids)).toBe(images.length);
  const results = (await states(again, ids)).map(({ result }) => result);
  expect(results).toEqual(
    images.map((image) => ({ user: 'ann', image, file: `${image}-small.png` })),
  );
  expect(await kill(next, 'SIGTERM')).toBe(0);
  expect(await kill(again, 'SIGTERM')).toBe(0);
});
