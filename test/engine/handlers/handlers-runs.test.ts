/** Every kind of handler as a step: of a pipeline, of a group, of a driven run, and here. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { handlerTask } from '../../../src/workflow/tasks/handler-task.ts';
import { processTask, threadTask } from '../../../src/workflow/tasks/module-task.ts';
import { commandTask, containerTask } from '../../../src/workflow/tasks/program-task.ts';
import { embedded, type Harness } from '../../support/backends.ts';
import { isAlive, type KeptLog, keepLog } from '../../support/processes/processes.ts';
import { STAND_IN, type StandIn, standIn } from '../../support/processes/stand-in.ts';

type Add = (n: number) => number;

const module = new URL('../../fixtures/add-handlers.mjs', import.meta.url);
const program = 'console.log(Number(require("fs").readFileSync(0)) + 1)';
const args = ['-e', program];

const inline = task('inline', (n: number) => n + 1);
const thread = threadTask<Add>('thread', { module });
const child = processTask<Add>('child', { module });
const command = commandTask<number, number>('command', { command: process.execPath, args });
const container = containerTask<number, number>('container', {
  engine: STAND_IN,
  image: 'node:20',
  args: ['node', ...args],
});
const registered = handlerTask<number, number>('registered', { handler: 'adder' });
const adder = { run: (input: unknown) => Number(input) + 1 };

const members = { inline, thread, child, command, container, registered };
const line = inline.pipe(thread).pipe(child).pipe(command).pipe(container).pipe(registered);
const group = parallel(members);
const total = task('total', (sums: Record<string, number>) =>
  Object.values(sums).reduce((sum, n) => sum + n, 0),
);
const sum = group.pipe(total);
const many = each(child, { concurrency: 2 }).as('many');
const start = dynamic('start', (n: number, ctx) => ctx.next(sum, n));
const hang = commandTask<unknown, null>('hang', {
  command: process.execPath,
  args: ['-e', 'console.error("pid " + process.pid); setInterval(() => {}, 1000)'],
});
const endless = parallel({ hang, inline: task('quick', () => 1) });

embedded((open) => {
  let harness: Harness;
  let engine: StandIn;
  let loom: Fairloom;
  let log: KeptLog;
  beforeEach(async () => {
    harness = await open();
    engine = standIn();
    log = keepLog();
    const tasks = [line, sum, many, start, endless];
    loom = harness.loom(tasks, { handlers: { adder }, log });
  });
  afterEach(async () => {
    await harness.close();
    engine.remove();
  });

  // B-W23
  describe('every kind of handler', () => {
    it('is a step of a pipeline', async () => {
      await loom.worker().start();
      expect(await (await loom.enqueue(line, 1)).result()).toBe(7);
      expect(await loom.run(line, 1)).toBe(7);
    });

    it('is a member of a group, dispatched and driven, and here', async () => {
      await loom.worker().start();
      const all = { inline: 3, thread: 3, child: 3, command: 3, container: 3, registered: 3 };
      expect(await (await loom.enqueue(group, 2)).result()).toEqual(all);
      expect(await (await loom.enqueue(sum, 2, { form: 'driven' })).result()).toBe(18);
      expect(await (await loom.enqueue(start, 2)).result()).toBe(18);
      expect(await loom.run(group, 2)).toEqual(all);
      expect(await (await loom.enqueue(many, [1, 2, 3])).result()).toEqual([2, 3, 4]);
    });
  });

  it('a run that is canceled leaves no program of its members', async () => {
    const worker = loom.worker();
    await worker.start();
    const run = await loom.enqueue(endless, undefined);
    const [line] = await log.said(/^pid \d+$/);
    const pid = Number(line?.message.slice(4));
    expect(isAlive(pid)).toBe(true);
    await loom.runs.cancel(run.id);
    await expect(run.result()).rejects.toMatchObject({ code: 'RUN_CANCELED' });
    await harness.until(() => worker.running === 0);
    expect(isAlive(pid)).toBe(false);
  });
});
