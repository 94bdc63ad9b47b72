/** What `tasks` of a client may be when there are workflows. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness, opened } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';

const inc = task('inc', (n: number) => n + 1);
const double = task('double', async (n: number) => n * 2);
const pair = inc.pipe(double).as('pair');

eachBackend((open) => {
  const harness = opened(open);

  async function working(steps: Parameters<Harness['loom']>[0]): Promise<Fairloom> {
    const loom = harness.loom(steps);
    await loom.worker({ concurrency: 10 }).start();
    return loom;
  }

  describe('a registry', () => {
    it('takes pipelines for what is in them, and refuses two handlers of one name', async () => {
      const other = task('inc', (n: number) => n - 1);
      expect(() => harness.loom([pair, other])).toThrow(/one handler per name.*"inc"/);
      expect(() => harness.loom({ pair, again: inc, alias: inc.as('alias') })).not.toThrow();
      const loom = await working({ pair, noise: 3 });
      expect((await loom.workers.list())[0]?.names).toEqual(['double', 'inc']);
      const [worker] = await harness.backend.workers.list();
      expect(worker?.names).toContain('~group');
    });

    it('runs a task by itself under the name that `as` gave it', async () => {
      const loom = await working([inc.as('more')]);
      expect(await settled(harness, (await loom.enqueue(inc.as('more'), 1)).result())).toBe(2);
      expect(await settled(harness, (await loom.enqueue(inc, 1)).result())).toBe(2);
    });
  });
});
