/** `encrypted()`: what is stored, what is read back, and what happens without the right key. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encrypted } from '../../../src/codec/encrypted.ts';
import { KeyRing } from '../../../src/codec/key-ring.ts';
import type { Codec } from '../../../src/codec/sealed-codec.ts';
import { DecryptionError, InvalidOptionError } from '../../../src/domain/errors/errors.ts';
import type { NewTask } from '../../../src/domain/task/task.ts';
import { call } from '../../../src/enqueue/call.ts';
import { channel } from '../../../src/workflow/channel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { refusal, settled } from '../../support/runs.ts';

const K1 = { id: 'k1', key: randomBytes(32) };
const K2 = { id: 'k2', key: randomBytes(32).toString('base64') };

const echo = task('echo', { retries: 0 }, async (input: { secret: string }) => ({
  again: input.secret,
}));
const fail = task('fail', { retries: 2, backoff: { base: 0 } }, async (secret: string) => {
  throw new TypeError(`no ${secret} ${'x'.repeat(1_500)}`);
});

eachBackend((open) => {
  const harness = opened(open);

  describe('a client with keys', () => {
    // F40
    it('stores no input, result or error as it is, and reads all of them', async () => {
      const loom = harness.loom([echo, fail], { codec: encrypted({ keys: [K1] }) });
      await loom.worker().start();
      const handle = await loom.enqueue(echo, { secret: 'S3CRET' });
      expect(await handle.result()).toEqual({ again: 'S3CRET' });
      expect(await loom.tasks.get(handle.id)).toMatchObject({
        input: { secret: 'S3CRET' },
        result: { again: 'S3CRET' },
      });
      const failed = await loom.enqueue(fail, 'S3CRET');
      const error = await settled(harness, refusal(failed.result()));
      expect(error).toMatchObject({ code: 'TASK_FAILED', errorName: 'TypeError' });
      const attempts = await loom.tasks.attempts(failed.id);
      // The backend has cut the older ones.
      expect(attempts.map((one) => one.error?.name)).toEqual(Array(3).fill('TypeError'));
      for (const one of attempts) expect(one.error?.message).toContain('no S3CRET xxx');
      expect(attempts.at(-1)?.error?.stack).toContain('encryption.test');
      const [record] = await harness.backend.inspect.get([failed.id]);
      expect(record?.payload).toMatch(/^enc:k1:[\w-]+$/);
      expect(JSON.stringify(record)).not.toContain('S3CRET');
    });

    // F40
    it('a key is exchanged while tasks wait: what was stored with the old one is still the same task', async () => {
      const before = harness.loom([echo], { codec: encrypted({ keys: [K1] }) });
      const input = { secret: 'S3CRET' };
      const one = { id: 'o-1' };
      const two = { idempotencyKey: 'key-2' };
      await before.enqueue(echo, input, one);
      const first = await before.enqueue(echo, input, two);
      await before.enqueue(echo, { secret: 'other' }, { id: 'o-3' });

      const loom = harness.loom([echo], { codec: encrypted({ keys: [K2, K1] }) });
      expect(await loom.enqueue(echo, input, one)).toMatchObject({ id: 'o-1', created: false });
      const again = await loom.enqueue(echo, input, two);
      expect(again).toMatchObject({ id: first.id, created: false, conflict: false });
      const conflict = { code: 'TASK_CONFLICT' };
      expect(await refusal(loom.enqueue(echo, { secret: 'x' }, one))).toMatchObject(conflict);
      expect(await refusal(loom.enqueue(echo, input, { id: 'o-3' }))).toMatchObject(conflict);
      expect(await loom.enqueue(echo, { secret: 'x' }, two)).toMatchObject({ conflict: true });

      await loom.worker().start();
      expect(await first.result().catch((error: unknown) => error)).toMatchObject({
        code: 'DECRYPTION_FAILED',
        keyId: 'k2',
      });
      expect(await loom.tasks.get(first.id)).toMatchObject({ result: { again: 'S3CRET' } });
      expect(await loom.tasks.get('o-1')).toMatchObject({ input });
      const [old, fresh] = await harness.backend.inspect.get(['o-1', first.id]);
      expect(old?.payload).toMatch(/^enc:k1:/);
      expect(fresh?.result).toMatch(/^enc:k2:/);
    });

    // F40
    it('a batch of which one task was stored with an older key is stored whole', async () => {
      const before = harness.loom([echo], { codec: encrypted({ keys: [K1] }) });
      await before.enqueue(echo, { secret: 'a' }, { id: 'a' });
      await before.enqueue(echo, { secret: 'c' }, { id: 'c' });
      const loom = harness.loom([echo], { codec: encrypted({ keys: [K2, K1] }) });
      const batch = ['a', 'b', 'c'].map((secret) => call(echo, { secret }, { id: secret }));
      const handles = await loom.enqueueMany(batch);
      expect(handles.map(({ created }) => created)).toEqual([false, true, false]);
      const changed = [
        call(echo, { secret: 'd' }, { id: 'd' }),
        call(echo, { secret: 'x' }, { id: 'a' }),
      ];
      expect(await refusal(loom.enqueueMany(changed))).toMatchObject({ code: 'BATCH_REFUSED' });
      expect(await loom.tasks.get('d')).toBe(undefined);
    });

    // F40
    it('a task whose input cannot be read is a dead letter that says why, and no retry is made', async () => {
      const owner = harness.loom([echo], { codec: encrypted({ keys: [K1] }) });
      const unread = await owner.enqueue(echo, { secret: 'S3CRET' }, { id: 'unknown' });
      const loom = harness.loom([echo], { codec: encrypted({ keys: [K2] }) });
      const worker = loom.worker();
      await worker.start();
      await settled(
        harness,
        unread.result().catch(() => undefined),
      );
      const text = 'a stored value is encrypted with key "k1", which this process does not have';
      const error = { name: 'DecryptionError', message: text };
      const dead = { state: 'failed', failures: 1 };
      expect(await loom.tasks.get('unknown')).toMatchObject({
        ...dead,
        error,
        encryptedWith: 'k1',
      });
      // Who has only the other key sees what there is to see.
      const seen = await owner.tasks.get('unknown');
      expect(seen).toMatchObject({ input: { secret: 'S3CRET' } });
      expect(seen?.error?.message).toBe('(encrypted with key k2)');
      const bare = await harness.loom([echo]).tasks.get('unknown');
      expect(bare).toMatchObject({
        encryptedWith: 'k1',
        error: { message: '(encrypted with key k2)' },
      });
      expect(bare).not.toHaveProperty('input');
    });

    // F40
    it('what was altered, exchanged or is not encrypted is an error, and never a value', async () => {
      const loom = harness.loom([echo], { codec: encrypted({ keys: [K1] }) });
      const handle = await loom.enqueue(echo, { secret: 'S3CRET' });
      await loom.worker().start();
      await handle.result();
      const [record] = await harness.backend.inspect.get([handle.id]);
      const { payload = '', result = '' } = record ?? {};
      const turned = payload.at(-2) === 'A' ? 'B' : 'A';
      const forged = {
        altered: `${payload.slice(0, -2)}${turned}${payload.slice(-1)}`,
        // A result in the place of an input.
        exchanged: result,
        'not-encrypted': '{"secret":"forged"}',
        short: 'enc:k1:AAAA',
      };
      for (const [name, text] of Object.entries(forged)) {
        await harness.backend.tasks.enqueue([{ ...newTask(name), payload: text }], {
          atomic: false,
        });
      }
      await harness.quiet();
      for (const name of Object.keys(forged)) {
        const task = await loom.tasks.get(name);
        expect(task).toMatchObject({ state: 'failed', error: { name: 'DecryptionError' } });
        expect(task?.error?.message).toMatch(
          name === 'not-encrypted' ? /is not encrypted/ : /was altered, or the key is another/,
        );
      }
      const lenient = encrypted({ keys: [K1], acceptUnencrypted: true });
      const open = harness.loom([echo], { codec: lenient });
      expect(await open.tasks.get('not-encrypted')).toMatchObject({ input: { secret: 'forged' } });
    });

    // F40
    it('the same id of a key with other bytes is told from a key that is not there', () => {
      const text = encrypted({ keys: [K1] }).encode({ a: 1 });
      const other = encrypted({ keys: [{ id: 'k1', key: randomBytes(32) }] });
      const decode = (codec: Codec): unknown => {
        try {
          return codec.decode(text);
        } catch (error) {
          return error instanceof DecryptionError ? error.problem : error;
        }
      };
      expect(decode(encrypted({ keys: [K2, K1] }))).toEqual({ a: 1 });
      expect(decode(other)).toBe('altered');
      expect(decode(encrypted({ keys: [K2] }))).toBe('unknown-key');
    });

    // F40
    it("a codec of one's own covers errors, reasons and channels too", async () => {
      const hex = (text: string): string => Buffer.from(text).toString('hex');
      const codec: Codec = {
        encode: (value) => (value === undefined ? '' : hex(JSON.stringify(value))),
        decode: (text) =>
          text === '' ? undefined : JSON.parse(Buffer.from(text, 'hex').toString()),
      };
      const loom = harness.loom([fail, echo], { codec });
      await loom.worker().start();
      const failed = await loom.enqueue(fail, 'S3CRET');
      await settled(harness, refusal(failed.result()));
      const later = await loom.enqueue(echo, { secret: 'S3CRET' }, { delay: '1d' });
      await loom.tasks.cancel(later.id, { reason: 'S3CRET' });
      const records = await harness.backend.inspect.get([failed.id, later.id]);
      const attempts = await harness.backend.inspect.attempts(failed.id);
      expect(JSON.stringify([records, attempts])).not.toContain('S3CRET');
      expect((await loom.tasks.get(failed.id))?.error?.message).toContain('no S3CRET');
      expect(JSON.stringify(await loom.tasks.get(later.id))).toContain('S3CRET');
    });

    // F40
    it('a channel whose list holds what cannot be read is an error to handlers, and shown to people', async () => {
      const notes = channel<{ seen: string[] }>('notes');
      const add = task('add', { retries: 0 }, async (word: string, ctx) => {
        await ctx.channel(notes).append('seen', word);
        return (await ctx.channel(notes).get('seen')) ?? [];
      });
      const hold = task('hold', async (words: string[]) => words.join());
      const both = add.pipe(hold).pipe(add.as('again'));
      const owner = harness.loom([both, add, hold], { codec: encrypted({ keys: [K1] }) });
      const worker = owner.worker();
      await worker.start();
      const run = await owner.enqueue(both, 'one');
      expect(await settled(harness, run.result())).toEqual(['one', 'one']);
      expect(await owner.runs.channels(run.id)).toEqual({ notes: { seen: ['one', 'one'] } });
      const bare = harness.loom([]);
      const words = '(encrypted with key k1)';
      expect(await bare.runs.channels(run.id)).toEqual({ notes: { seen: [words, words] } });
      expect(await bare.runs.get(run.id)).toMatchObject({ encryptedWith: 'k1', nodes: [] });
      const error = { code: 'DECRYPTION_FAILED', keyId: 'k1' };
      expect(await refusal(bare.runs.export(run.id))).toMatchObject(error);
      expect(await refusal(bare.runs.graph(run.id))).toMatchObject(error);
    });

    // F40
    it('a schedule is listed without its key, and fired with it alone', async () => {
      const owner = harness.loom([echo], { codec: encrypted({ keys: [K1] }) });
      const input = { secret: 'S3CRET' };
      await owner.schedules.set('hourly', { every: '1h', task: echo, input });
      const bare = harness.loom([echo]);
      expect(await bare.schedules.get('hourly')).toMatchObject({
        task: 'echo',
        everyMs: 3_600_000,
      });
      const other = bare.worker();
      await other.start();
      await harness.clock.advance(3_600_000);
      await harness.quiet();
      expect((await owner.schedules.get('hourly'))?.fired).toBe(0);
      await settled(harness, other.stop());
      await owner.worker().start();
      await harness.clock.advance(60_000);
      await harness.quiet();
      expect((await owner.schedules.get('hourly'))?.fired).toBe(1);
      const { items } = await owner.tasks.list({ state: 'finished', values: true });
      expect(items.map((one) => one.input)).toEqual([input]);
    });
  });
});

describe('encrypted', () => {
  // F40
  it('refuses keys that are none, and never shows one', () => {
    const key = randomBytes(32);
    const bad: readonly unknown[] = [
      undefined,
      {},
      { keys: [] },
      { keys: [{ id: 'k1', key: randomBytes(16) }] },
      { keys: [{ id: 'k1', key: 'c2hvcnQ=' }] },
      { keys: [{ id: 'k 1', key }] },
      { keys: [{ id: 'k:1', key }] },
      { keys: [{ key }] },
      { keys: [null] },
      {
        keys: [
          { id: 'k1', key },
          { id: 'k1', key: randomBytes(32) },
        ],
      },
      { keys: [{ id: 'k1', key }], acceptUnencrypted: 'yes' },
      { keys: [{ id: 'k1', key }], acceptunencrypted: true },
      { keys: [{ id: 'k1', key }], codec: encrypted({ keys: [K1] }) },
    ];
    for (const options of bad) {
      expect(() => encrypted(options as never), JSON.stringify(options)).toThrow(
        InvalidOptionError,
      );
    }
    const text = randomBytes(31).toString('base64');
    expect(() => encrypted({ keys: [{ id: 'k1', key: text }] })).toThrow(/31 bytes/);
    expect(() => encrypted({ keys: [{ id: 'k1', key: text }] })).not.toThrow(text);
  });

  it('keeps apart what is equal, but for inputs', () => {
    const ring = new KeyRing([{ id: 'k1', key: randomBytes(32) }]);
    const seal = (kind: 'input' | 'result', isEqual: boolean): string =>
      ring.seal('x', kind, isEqual);
    expect(seal('input', true)).toBe(seal('input', true));
    expect(seal('result', false)).not.toBe(seal('result', false));
    expect(() => ring.open(seal('input', true), 'result')).toThrow(DecryptionError);
    expect(ring.open(seal('result', false), 'result')).toBe('x');
  });
});

function newTask(id: string): NewTask {
  const place = { id, name: 'echo', queue: 'default', user: 'default', level: 3, cost: 1 } as const;
  const edges = { onFailure: 'wait', onCancel: 'cancel', onMissing: 'refuse' } as const;
  return {
    ...{ ...place, payload: '', options: '{}', dependsOn: [] },
    edges: { ...edges, allowCrossUser: false },
  };
}
