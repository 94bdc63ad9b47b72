/** Names without code: a pipeline is not stored as one task that no worker could run. */
import { expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/domain/errors/errors.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const first = task('first', async (n: number) => n);
const second = task('second', async (n: number) => n);
const etl = first.pipe(second).as('etl');
const same = first.pipe(second.as('third')).as('first');

eachBackend((open) => {
  const harness = opened(open);

  // F30
  it('by name a pipeline is refused, and a task of that name is none', async () => {
    const loom = harness.loom([etl, same]);
    await expect(loom.enqueueByName('etl', 1)).rejects.toThrow(InvalidOptionError);
    await expect(
      loom.schedules.setByName('s', { name: 'etl', every: '1h', input: 1 }),
    ).rejects.toThrow('a task, not a pipeline');
    expect((await loom.stats()).totals.enqueued).toBe(0);
    expect(await loom.schedules.get('s')).toBeUndefined();
    expect((await loom.enqueueByName('first', 1)).created).toBe(true);
    expect((await loom.enqueueByName('unknown', 1)).created).toBe(true);
  });

  // F30
  it('workers announce pipelines apart from the tasks that they can be given', async () => {
    const loom = harness.loom([etl, same]);
    const worker = loom.worker({ id: 'w' });
    await worker.start();
    const [info] = await loom.workers.list();
    expect(info).toMatchObject({ names: expect.arrayContaining(['first', 'second']) });
    expect(info?.pipelines).toEqual(['etl']);
    const usual = harness.loom([first]).worker({ id: 'plain' });
    await usual.start();
    const all = await loom.workers.list();
    expect(all.find(({ id }) => id === 'plain')).not.toHaveProperty('pipelines');
  });
});
