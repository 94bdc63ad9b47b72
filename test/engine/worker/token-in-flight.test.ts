/** A sign that comes while a lease is under way is about work that this lease may not have seen. */
import { expect, it } from 'vitest';
import type { Backend } from '../../../src/domain/port/backend.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';

eachBackend((open) => {
  const harness = opened(open);

  it('runs what was enqueued between the answer to a lease and its arrival', async () => {
    const ends = gate();
    const arrives = gate();
    const ran: string[] = [];
    let answered = 0;
    const { backend } = harness;
    const slow: Backend = {
      ...backend,
      tasks: {
        enqueue: (tasks, options) => backend.tasks.enqueue(tasks, options),
        lease: (request) => backend.tasks.lease(request),
        extend: (request) => backend.tasks.extend(request),
        tick: () => backend.tasks.tick(),
        cancel: (id, reason) => backend.tasks.cancel(id, reason),
        redrive: (id) => backend.tasks.redrive(id),
        remove: (id) => backend.tasks.remove(id),
        runNow: (id) => backend.tasks.runNow(id),
        settle: async (request) => {
          const reply = await backend.tasks.settle(request);
          answered++;
          await arrives.passed;
          return reply;
        },
      },
    };
    const named = task('named', async (name: string) => {
      if (name === 'first') await ends.passed;
      ran.push(name);
    });
    const worker = harness.loom([named], { backend: slow });
    await worker.worker().start();
    const client = harness.loom([named]);
    await client.enqueue(named, 'first');
    await harness.quiet();
    ends.open();
    await harness.until(() => answered === 1);
    await client.enqueue(named, 'second');
    await harness.quiet();
    arrives.open();
    // No time passes: only the sign can tell of it.
    await harness.until(() => ran.length === 2);
    expect(ran).toEqual(['first', 'second']);
  });
});
