/** `fairloom doctor --data`: what it says of a folder that lost something, by the binary. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { differences } from '../../support/docs/documented-output.ts';
import { type Ended, fairloom, ROOT } from '../../support/processes/run-process.ts';
import { startWorker } from '../../support/processes/worker-process.ts';

const TASKS = join(ROOT, 'test/fixtures/cli/tasks.mjs');

const root = mkdtempSync(join(tmpdir(), 'fairloom-cli-doctor-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const data = join(root, 'data');
const run = (...args: readonly string[]): Promise<Ended> =>
  fairloom([...args, '--data', data], { cwd: root });

/** Of the first commit of the newest segment that a killed process has left: some of its bytes are others now. */
function damage(): string {
  const name = readdirSync(data)
    .filter((file) => file.startsWith('log-'))
    .toSorted()
    .findLast((file) =>
      readFileSync(join(data, file))
        .subarray(32)
        .some((byte) => byte !== 0),
    );
  if (name === undefined) throw new Error('there is no log');
  const bytes = readFileSync(join(data, name));
  writeFileSync(join(data, name), bytes.fill(0xff, 60, 70));
  return name;
}

// F117
it('a folder with damage cannot be used, and opens again after a repair, with everything that could be read', async () => {
  const worker = await startWorker(['worker', TASKS, '--data', data], 'working', { cwd: root });
  onTestFinished(async () => void (await worker.end('SIGKILL')));
  for (const id of ['first', 'second', 'third']) {
    expect(await run('enqueue', 'double', '4', '--id', id, '--wait', '20s')).toMatchObject({
      stdout: '8\n',
    });
  }
  const beside = await run('doctor', '--repair', '-o', 'json');
  expect(JSON.parse(beside.stdout)).toMatchObject({ data: { isOpen: true, damage: [] } });
  expect(beside.code).toBe(0);
  await worker.end('SIGKILL');

  const name = damage();
  expect((await run('tasks', 'list')).code).toBe(4);
  expect(await run('status')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(`fairloom doctor --data ${data} --repair`),
  });
  const ill = await run('doctor', '-o', 'json');
  expect(ill.code).toBe(3);
  const diagnosis: unknown = JSON.parse(ill.stdout);
  expect(differences(diagnosis, 'Diagnosis')).toEqual([]);
  expect(diagnosis).toMatchObject({ checked: 0, data: { damage: [{ file: name }] } });

  const mended = await run('doctor', '--repair');
  expect(mended.stdout).toContain('warning  repaired: ');
  expect(mended.stdout).toContain('records and their indexes agree');
  const aside = readdirSync(data).filter((file) => file.startsWith('damaged-'));
  expect(aside).toHaveLength(1);
  expect(readdirSync(join(data, aside[0] ?? ''))).toContain(name);
  const left = await run('tasks', 'list', '-o', 'id');
  expect(left.stdout.split('\n')).toContain('third');

  const well = await run('doctor', '--repair');
  expect(well.stdout).toContain('ok  every commit is there');
  expect(well.stdout).not.toContain('repaired');
  expect(readdirSync(data).filter((file) => file.startsWith('damaged-'))).toEqual(aside);
});
