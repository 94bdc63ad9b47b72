/** Workers that lack the code of a task leave it to one that has it. */
import { expect, it } from 'vitest';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const known = task('known', async () => 'done');
const other = task('other', async () => 'other');

eachBackend((open) => {
  const harness = opened(open);

  it('idle strangers do not keep a task from an idle worker that knows it', async () => {
    const enqueuer = harness.loom([known]);
    const handle = await enqueuer.enqueue(known);
    for (let n = 0; n < 3; n++) await harness.loom([other]).worker().start();
    await harness.quiet();
    await harness.clock.advance('10s');
    await harness.loom([known]).worker().start();
    for (let waited = 0; waited < 90; waited++) {
      await harness.clock.advance('1s');
      const found = await enqueuer.tasks.get(handle.id);
      if (found?.state === 'finished') break;
    }
    expect(await enqueuer.tasks.get(handle.id)).toMatchObject({ state: 'finished' });
  });

  it('a new task that a stranger meets first is taken within seconds', async () => {
    for (let n = 0; n < 2; n++) await harness.loom([other]).worker().start();
    await harness.loom([known]).worker().start();
    await harness.quiet();
    const loom = harness.loom([known]);
    const handles = await loom.enqueueMany(known, Array(5).fill(undefined));
    await harness.clock.advance('5s');
    const found = await Promise.all(handles.map(({ id }) => loom.tasks.get(id)));
    expect(found.map((one) => one?.state)).toEqual(Array(5).fill('finished'));
  });
});
