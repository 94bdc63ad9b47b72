/** Debounce and throttle through the client. */
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/domain/errors/errors.ts';
import type { EnqueueOptions } from '../../../src/enqueue/enqueue-options.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const index = task('index', async (text: string) => text);
const report = index.pipe(task('size', async (text: string) => text.length)).as('report');

eachBackend((open) => {
  const harness = opened(open);

  it('a debounced task runs once, with the newest input', async () => {
    const loom = harness.loom([index]);
    const worker = loom.worker();
    await worker.start();
    const debounce = { key: 'doc-1', wait: '2s' } as const;
    const [first, second] = await Promise.all([
      loom.enqueue(index, 'a', { debounce }),
      loom.enqueue(index, 'b', { debounce }),
    ]);
    await harness.clock.advance('1s');
    const third = await loom.enqueue(index, 'c', { debounce });
    expect([second.id, third.id]).toEqual([first.id, first.id]);
    expect([first.created, second.created]).toEqual([true, false]);
    await harness.clock.advance('1s');
    expect(await loom.tasks.get(first.id)).toMatchObject({ state: 'scheduled' });
    await harness.clock.advance('1s');
    expect(await first.result()).toBe('c');
    expect((await loom.stats()).totals.enqueued).toBe(1);
    const next = await loom.enqueue(index, 'd', { debounce });
    expect(next.id).not.toBe(first.id);
  });

  it('a throttled one runs at once, and once more with the newest input when asked', async () => {
    const loom = harness.loom([index]);
    const worker = loom.worker();
    await worker.start();
    const throttle = { key: 'doc-1', per: '10s', trailing: true } as const;
    const first = await loom.enqueue(index, 'a', { throttle });
    expect(await first.result()).toBe('a');
    const second = await loom.enqueue(index, 'b', { throttle });
    const third = await loom.enqueue(index, 'c', { throttle });
    expect(third.id).toBe(second.id);
    const dropped = await loom.enqueue(index, 'd', { throttle: { key: 'doc-1', per: '10s' } });
    expect(dropped.id).toBe(second.id);
    await harness.clock.advance('10s');
    expect(await third.result()).toBe('c');
  });

  it('keys of the three kinds do not meet, nor those of two users', async () => {
    const loom = harness.loom([index]);
    const handles = [
      await loom.enqueue(index, 'a', { idempotencyKey: 'k' }),
      await loom.enqueue(index, 'a', { debounce: { key: 'k', wait: '1s' } }),
      await loom.enqueue(index, 'a', { throttle: { key: 'k', per: '1s' } }),
      await loom.enqueue(index, 'a', { user: 'ben', throttle: { key: 'k', per: '1s' } }),
    ];
    expect(new Set(handles.map(({ id }) => id)).size).toBe(4);
  });

  it('each on its own terms in a call with `atomic: false`', async () => {
    const loom = harness.loom([index]);
    const debounce = { key: 'k', wait: '1s' } as const;
    const answers = await loom.enqueueMany(index, ['a', 'b'], { atomic: false, debounce });
    const ids = answers.map((answer) => (answer.ok ? answer.handle.id : 'refused'));
    expect(ids[1]).toBe(ids[0]);
    expect(await loom.tasks.get(ids[0] ?? '')).toMatchObject({ input: 'b' });
  });

  describe('is refused before anything is stored', () => {
    const debounce = { key: 'k', wait: '1s' } as const;
    const throttle = { key: 'k', per: '1s' } as const;
    const wrong: readonly (readonly [string, object])[] = [
      ['delay', { debounce, delay: '1s' }],
      ['executeAfter', { throttle, executeAfter: 1 }],
      ['throttle', { debounce, throttle }],
      ['idempotencyKey', { debounce, idempotencyKey: 'k' }],
      ['idempotency', { throttle, idempotency: { policy: 'return' } }],
      ['debounce.key', { debounce: { key: '', wait: '1s' } }],
      ['debounce.key', { debounce: { key: 'x'.repeat(126), wait: '1s' } }],
      ['debounce.wait', { debounce: { key: 'k', wait: 0 } }],
      ['debounce.wait', { debounce: { key: 'k', wait: 'soon' } }],
      ['debounce.wait', { debounce: { key: 'k', wait: Number.NaN } }],
      ['debounce.maxWait', { debounce: { key: 'k', wait: '2s', maxWait: '1s' } }],
      ['throttle.per', { throttle: { key: 'k', per: -1 } }],
      ['throttle.per', { throttle: { key: 'k' } }],
      ['throttle.trailing', { throttle: { key: 'k', per: 1, trailing: 'yes' } }],
      ['throttle.key', { throttle: { key: '\ud800', per: 1 } }],
      ['idempotencyKey', { idempotencyKey: '~d.k' }],
    ];
    it.each(wrong)('%s in %j', async (option, options) => {
      const loom = harness.loom([index]);
      const call = loom.enqueue(index, 'a', options as EnqueueOptions);
      await expect(call).rejects.toBeInstanceOf(InvalidOptionError);
      await expect(call).rejects.toThrow(option);
      expect((await loom.stats()).totals.enqueued).toBe(0);
    });

    it('where all or none is stored, and for runs', async () => {
      const loom = harness.loom([report]);
      const calls = [
        () => loom.enqueueMany(index, ['a'], { debounce }),
        () => loom.enqueue(report, 'a', { throttle } as object),
      ];
      for (const call of calls) await expect(call()).rejects.toBeInstanceOf(InvalidOptionError);
      expect((await loom.stats()).totals.enqueued).toBe(0);
    });
  });
});
