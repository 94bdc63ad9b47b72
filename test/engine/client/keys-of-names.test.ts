/** Keys of two names, of one user in one queue, that say the same. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { EnqueueOptions } from '../../../src/enqueue/enqueue-options.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { refusal, settled } from '../../support/runs.ts';

/** Every way to say which calls belong together: a new one without an answer here is not tested. */
const KEYS = {
  'idempotencyKey, return': { idempotencyKey: 'd' },
  'idempotencyKey, reject': { idempotencyKey: 'd', idempotency: { policy: 'reject' } },
  'idempotencyKey, replace-queued': {
    idempotencyKey: 'd',
    idempotency: { policy: 'replace-queued' },
  },
  'idempotencyKey, run-once-more': {
    idempotencyKey: 'd',
    idempotency: { policy: 'run-once-more' },
  },
  'idempotencyKey with a time': { idempotencyKey: 'd', idempotency: { ttl: '1h' } },
  debounce: { debounce: { key: 'd', wait: '1s' } },
  throttle: { throttle: { key: 'd', per: '1s' } },
  'throttle, trailing': { throttle: { key: 'd', per: '1s', trailing: true } },
} satisfies Readonly<Record<string, EnqueueOptions>>;

eachBackend((open) => {
  const harness = opened(open);

  const seen: string[] = [];
  beforeEach(() => {
    seen.length = 0;
  });
  const index = task('index', async (doc: { text: string }) => {
    seen.push(`index ${doc.text}`);
    return 'indexed';
  });
  const mail = task('mail', async (to: { address: string }) => {
    seen.push(`mail ${to.address}`);
    return 'mailed';
  });

  describe('one key under two names', () => {
    for (const [kind, options] of Object.entries<EnqueueOptions>(KEYS)) {
      // F77
      it(`is two keys: each name runs with its own input and gives its own result: ${kind}`, async () => {
        const loom = harness.loom([index, mail]);
        const first = await loom.enqueue(index, { text: 'abc' }, { user: 'u', ...options });
        const second = await loom.enqueue(mail, { address: 'ann' }, { user: 'u', ...options });
        expect(second).toMatchObject({ created: true, conflict: false, replaced: false });
        await loom.worker().start();
        expect(await settled(harness, second.result())).toBe('mailed');
        expect(await settled(harness, first.result())).toBe('indexed');
        expect(seen.sort()).toEqual(['index abc', 'mail ann']);
      });

      // F77
      it(`of the same name is one, and is shown as it was given: ${kind}`, async () => {
        const loom = harness.loom([index, mail]);
        const input = { text: 'abc' };
        const first = await loom.enqueue(index, input, { user: 'u', ...options });
        const again = loom.enqueue(index, input, { user: 'u', ...options });
        if (options.idempotency?.policy === 'reject') {
          expect(await refusal(again)).toMatchObject({ code: 'KEY_TAKEN', key: 'd' });
        } else {
          // The newest input of a window has a task of its own.
          const isLater = options.throttle?.trailing === true;
          expect((await again).id === first.id).toBe(!isLater);
        }
        if (options.idempotencyKey === undefined) return;
        expect(await loom.tasks.get(first.id)).toMatchObject({ idempotencyKey: 'd' });
      });
    }

    for (const form of ['dispatched', 'driven'] as const) {
      // F77
      it(`of runs is two keys: each run gives its own result, ${form}`, async () => {
        const indexing = index.pipe(task('index-end', (text: string) => `${text} end`)).as('one');
        const mailing = mail.pipe(task('mail-end', (text: string) => `${text} end`)).as('two');
        const loom = harness.loom([indexing, mailing]);
        const options = { user: 'u', idempotencyKey: 'd', form } as const;
        const first = await loom.enqueue(indexing, { text: 'abc' }, options);
        const second = await loom.enqueue(mailing, { address: 'ann' }, options);
        expect((await loom.enqueue(indexing, { text: 'abc' }, options)).id).toBe(first.id);
        await loom.worker().start();
        expect(await settled(harness, second.result())).toBe('mailed end');
        expect(await settled(harness, first.result())).toBe('indexed end');
      });
    }

    // F77
    it('that is asked to be shared keeps the other name out, and carries nothing over', async () => {
      const loom = harness.loom([index, mail]);
      const options = { user: 'u', idempotencyKey: 'd', idempotency: { scope: 'user' } } as const;
      const first = await loom.enqueue(index, { text: 'abc' }, options);
      const refused = await refusal(loom.enqueue(mail, { address: 'ann' }, options));
      expect(refused).toMatchObject({ code: 'KEY_TAKEN', key: 'd' });
      await loom.worker().start();
      expect(await settled(harness, first.result())).toBe('indexed');
      expect(seen).toEqual(['index abc']);
      const freed = await loom.enqueue(mail, { address: 'ann' }, options);
      expect(await settled(harness, freed.result())).toBe('mailed');
    });

    // F77
    it('may not be shared by a policy that answers with another task, or replaces its input', async () => {
      const loom = harness.loom([index, mail]);
      for (const policy of ['return', 'replace-queued', 'run-once-more'] as const) {
        const idempotency = { scope: 'user', policy } as const;
        const options = { user: 'u', idempotencyKey: 'd', idempotency };
        expect(await refusal(loom.enqueue(index, { text: 'abc' }, options))).toMatchObject({
          code: 'INVALID_OPTION',
          option: 'idempotency.policy',
        });
      }
    });

    // F77
    it('that an earlier version has stored without a name is read, and keeps out what shares it', async () => {
      const loom = harness.loom([index, mail]);
      const options = { user: 'u', idempotencyKey: 'd', idempotency: { scope: 'user' } } as const;
      const old = await loom.enqueue(index, { text: 'old' }, options);
      expect(await loom.tasks.get(old.id)).toMatchObject({ idempotencyKey: 'd' });
      const own = await loom.enqueue(index, { text: 'new' }, { user: 'u', idempotencyKey: 'd' });
      expect(own.created).toBe(true);
    });
  });
});
