/** A member of a group whose process is told to stop, and killed before it has. */
import { each, task } from 'fairloom';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Input, LEASE_MS, ProcessKit } from './process-kit.ts';

/** Declared here, done in `worker-process.mjs`. */
const deaf = task('deaf', async (_: Input): Promise<{ readonly attempt: number }> => {
  throw new Error('worker processes have it');
});

let kit: ProcessKit;
beforeEach(() => {
  kit = new ProcessKit();
});
afterEach(() => kit.close());

describe('SIGINT, then SIGKILL', () => {
  // O60
  it('a group of one ends all the same', async () => {
    const worker = await kit.hire();
    const run = await kit.loom.enqueue(each(deaf), [{ ms: 3 * LEASE_MS }]);
    let member = '';
    await kit.until(async () => {
      const nodes = (await kit.loom.runs.get(run.id))?.nodes ?? [];
      const ids = nodes.map(({ taskId = '' }) => taskId);
      member = ids.find((id) => kit.runs(id).length > 0) ?? '';
      return member !== '';
    });
    worker.signal('SIGINT');
    worker.signal('SIGKILL');
    expect(await worker.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
    await kit.hire();
    expect(await run.result({ timeout: '20s' })).toMatchObject([{ attempt: 1 }]);
    expect(kit.runs(member).map((one) => one.worker)).toEqual(['w1', 'w2']);
  });
});
