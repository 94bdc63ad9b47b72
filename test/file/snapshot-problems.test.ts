/** A snapshot that cannot be made: it is said in the log, by `health`, by figures and by the command line, until one can. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import client from 'prom-client';
import { afterEach, expect, it } from 'vitest';
import { file } from '../../src/backends/file/file-backend.ts';
import type { LogFields } from '../../src/base/logger.ts';
import { Fairloom } from '../../src/client/client.ts';
import { prometheus } from '../../src/metrics/prometheus.ts';
import { fairloomHere } from '../support/cli-here.ts';
import { newFolder, removeFolders } from './socket/kit.ts';

const looms: Fairloom[] = [];

afterEach(async () => {
  for (const loom of looms.splice(0)) await loom.close();
  removeFolders();
});

/** A line of the log. */
interface Line extends LogFields {
  readonly message: string;
}

class Heard {
  readonly lines: Line[] = [];
  #come: () => void = () => undefined;

  loomOn(folder: string, more: object = {}): Fairloom {
    const silent = (): void => undefined;
    const warn = (message: string, fields: LogFields = {}): void => {
      if (!String(fields['event']).startsWith('backend.')) return;
      this.lines.push({ message, ...fields });
      this.#come();
    };
    const log = { debug: silent, info: silent, warn, error: warn };
    const loom = new Fairloom({ backend: file(folder), log, ...more });
    looms.push(loom);
    return loom;
  }

  async count(lines: number): Promise<void> {
    while (this.lines.length < lines) {
      await new Promise<void>((resolve) => {
        this.#come = resolve;
      });
    }
  }
}

const MIB = 1_048_576;

/** Lets the log grow by so many MiB. */
async function grow(loom: Fairloom, mebibytes: number): Promise<void> {
  const input = 'x'.repeat(MIB / 2);
  for (let at = 0; at < 2 * mebibytes; at++) await loom.enqueueByName('any', input);
}

/** Where a snapshot would be made there is something that cannot be removed. */
function obstruct(folder: string, ...numbers: readonly number[]): void {
  for (const number of numbers) mkdirSync(join(folder, partOf(number)));
}

function partOf(number: number): string {
  return `state-${String(number).padStart(12, '0')}.part`;
}

function snapshotsIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => /^state-\d{12}$/.test(name));
}

it('is said where people look, by its owner and by those that ask it, until one is made', async () => {
  const folder = newFolder();
  const heard = new Heard();
  const metrics = prometheus({ client });
  const owner = heard.loomOn(folder, { metrics });
  await owner.stats();
  const guest = new Heard().loomOn(folder);
  expect(await guest.health()).not.toHaveProperty('problems');
  expect(await metrics.text()).toContain('fairloom_store_problems 0');

  obstruct(folder, 1);
  await grow(owner, 8);
  await heard.count(1);
  expect(heard.lines[0]).toEqual({
    event: 'backend.problem',
    message: 'no snapshot could be made: the log grows on, and it is tried again',
    error: expect.objectContaining({ message: expect.stringContaining('was not made') }),
    logBytes: expect.any(Number),
  });
  expect(heard.lines[0]?.['logBytes']).toBeGreaterThan(4 * MIB);
  const said = expect.stringMatching(
    /^no snapshot can be made.* grown to \d+ bytes: .*was not made/,
  );
  for (const loom of [owner, guest]) {
    expect(await loom.health()).toMatchObject({ isHealthy: true, problems: [said] });
  }
  expect(await metrics.text()).toContain('fairloom_store_problems 1');
  const health = await fairloomHere(['health', '--data', folder]);
  expect(health.code).toBe(0);
  expect(health.stdout).toContain('problem: no snapshot can be made');
  const doctor = await fairloomHere(['doctor', '--data', folder]);
  expect(doctor.stdout).toContain('no snapshot can be made');

  rmSync(join(folder, partOf(1)), { recursive: true });
  await grow(owner, 17);
  await expect.poll(() => snapshotsIn(folder)).not.toEqual([]);
  await expect.poll(() => owner.health()).not.toHaveProperty('problems');
  expect(await guest.health()).not.toHaveProperty('problems');
  // It may have been tried once more before it could be made.
  expect(heard.lines.length).toBeLessThanOrEqual(2);
});

it('is said of the one that a close leaves', async () => {
  const folder = newFolder();
  const heard = new Heard();
  const loom = heard.loomOn(folder);
  await loom.enqueueByName('any');
  obstruct(folder, ...Array.from({ length: 10 }, (_, at) => at + 1));
  await loom.close();
  expect(heard.lines).toMatchObject([
    { event: 'backend.problem', message: expect.stringContaining('no snapshot could be left') },
  ]);
  expect(snapshotsIn(folder)).toEqual([]);
});

it('is not said of one that a close breaks off', async () => {
  const folder = newFolder();
  const heard = new Heard();
  const loom = heard.loomOn(folder);
  await grow(loom, 17);
  await loom.close();
  expect(heard.lines).toEqual([]);
  expect(snapshotsIn(folder)).not.toEqual([]);
});
