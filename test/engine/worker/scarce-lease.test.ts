/** A lease that did not fill the slots: its tasks come first, and then one call settles and leases. */
import { beforeEach, expect, it } from 'vitest';
import type { Backend } from '../../../src/domain/port/backend.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';

eachBackend((open) => {
  const harness = opened(open);
  let calls: string[];
  beforeEach(async () => {
    calls = [];
  });

  /** Writes down what a worker asks for. */
  function heard({ tasks, ...others }: Backend): Backend {
    return {
      ...others,
      tasks: {
        enqueue: (list, options) => tasks.enqueue(list, options),
        extend: (request) => tasks.extend(request),
        tick: () => tasks.tick(),
        cancel: (id, reason) => tasks.cancel(id, reason),
        redrive: (id) => tasks.redrive(id),
        remove: (id) => tasks.remove(id),
        runNow: (id) => tasks.runNow(id),
        lease: (request) => {
          calls.push('lease');
          return tasks.lease(request);
        },
        settle: (request) => {
          const { settlements, lease } = request;
          calls.push(`settle ${settlements.length}${lease === undefined ? '' : ' and lease'}`);
          return tasks.settle(request);
        },
      },
    };
  }

  it('asks for more together with what its tasks have settled at once', async () => {
    const ran: string[] = [];
    const quick = task('quick', async (name: string) => {
      ran.push(name);
    });
    await harness
      .loom([quick], { backend: heard(harness.backend) })
      .worker()
      .start();
    await harness.quiet();
    calls = [];
    // A lone one may be handed over, and asks for nothing.
    await harness.loom([quick]).enqueueMany(quick, ['one', 'two']);
    await harness.until(() => ran.length === 2);
    await harness.quiet();
    expect(calls).toEqual(['lease', 'settle 2 and lease']);
  });

  it('asks for more while a task that it has started goes on', async () => {
    const ends = gate();
    const slow = task('slow', () => ends.passed);
    await harness
      .loom([slow], { backend: heard(harness.backend) })
      .worker()
      .start();
    await harness.quiet();
    calls = [];
    await harness.loom([slow]).enqueueMany(slow, [undefined, undefined]);
    await harness.until(() => calls.length === 2);
    await harness.quiet();
    expect(calls).toEqual(['lease', 'lease']);
    ends.open();
  });
});
