/** Every route with any request: no fault of the server, no answer that is not JSON, nothing that hangs. */
import { signal, task, waitFor } from 'fairloom';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EXPORT_ROUTES } from '../../src/http/export-routes.ts';
import { ROUTES } from '../../src/http/routes.ts';
import type { Fields } from '../../src/operations/fields.ts';
import { askerOf } from '../support/http/api.ts';
import { eachStore } from '../support/http/stores.ts';
import { rounds } from '../support/rounds.ts';

const say = task('say', { retries: 0 }, async (words: string) => {
  if (words.length > 3) throw new Error(words);
  return words;
});
const line = say.pipe(waitFor(signal<string>('go'))).as('line');

/** Ids that are there, and what else may be in a path. */
const part = (known: readonly string[]) =>
  fc.oneof(
    fc.constantFrom(...known),
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('__proto__', '~run', '..', '%', '\u0000', 'x'.repeat(300), '{}', 'a:b'),
  );

const value = fc.oneof(
  fc.string(),
  fc.constantFrom(
    'failed',
    'queued',
    'default',
    'none',
    '1',
    '-1',
    '500',
    '1e9',
    'true',
    'minute',
    '',
  ),
  fc.constantFrom('state:failed', 'user:acme age:>1h', '-name:x', '"', '5s', '0ms'),
);

function given(fields: Fields | undefined, of: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  const names = Object.keys(fields ?? {});
  const known = fc.record(Object.fromEntries(names.map((name) => [name, of])), {
    requiredKeys: [],
  });
  return fc.oneof(
    { arbitrary: known, weight: 9 },
    { arbitrary: fc.dictionary(fc.string(), of, { maxKeys: 2 }), weight: 1 },
  );
}

eachStore(({ open, name }) => {
  it('answers every request, and none with 500', async () => {
    const loom = await open([say, line]);
    const ids = ['default', 'acme', 'nightly', 'out'];
    for (const words of ['a', 'words'])
      ids.push((await loom.enqueue(say, words, { user: 'acme' })).id);
    ids.push((await loom.enqueue(line, 'a', { user: 'acme' })).id);
    ids.push((await loom.enqueue(say, 'b', { user: 'acme', delay: '1d' })).id);
    await loom.schedules.set('nightly', { every: '1h', task: say, input: 'x' });
    await loom.drain({ allowFailures: true });
    const asks = [
      askerOf(loom, { rate: { limit: 1e9, per: '1s' } }),
      askerOf(loom, {
        access: () => ({ can: 'all', users: ['acme', 'zeta'] }),
        rate: { limit: 1e9, per: '1s' },
        redact: ['*.a'],
      }),
    ] as const;
    const body = fc.oneof(
      value,
      fc.jsonValue({ maxDepth: 2 }),
      fc.constant({ limit: 1, per: '1s' }),
    );
    const call = fc.constantFrom(...ROUTES, ...EXPORT_ROUTES).chain((one) =>
      fc.record({
        one: fc.constant(one),
        parts: fc.array(part(ids), { minLength: 2, maxLength: 2 }),
        query: given(one.query, value),
        json: given('body' in one ? one.body : undefined, body),
        who: fc.constantFrom(0, 1),
      }),
    );
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(call, async ({ one, parts, query, json, who }) => {
        const left = [...parts];
        const path = one.path.replaceAll(/\{\w+\}/g, () =>
          encodeURIComponent((left.shift() ?? '').replaceAll(/\p{Surrogate}/gu, '?')),
        );
        const search = new URLSearchParams(Object.entries(query)).toString();
        const answer = await asks[who]?.(`${path}?${search}`, { method: one.method, json });
        const wanted =
          'of' in one && answer?.status === 200 ? expect.anything() : expect.any(Object);
        expect([one.name, path, search, json, answer?.body]).toEqual([
          one.name,
          path,
          search,
          json,
          answer?.status === 500 ? 'no fault' : wanted,
        ]);
        const status = answer?.status ?? 0;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }),
      // On Redis each takes longer, and what answers before the store is asked is the same.
      { numRuns: name === 'memory' ? rounds(10_000, 600) : rounds(3_000, 200) },
    );
    // That it comes through to what routes do is part of it.
    expect(statuses.get(200) ?? 0).toBeGreaterThan(10);
    expect(statuses.get(404) ?? 0).toBeGreaterThan(10);
  });

  it('what is stored is never a script: it is JSON under a type that no browser runs', async () => {
    const evil = `</script><script>alert(1)</script>"'\u2028<img src=x onerror=alert(1)>`;
    const loom = await open([say]);
    const { id } = await loom.enqueue(say, evil, { user: evil.slice(0, 40) });
    await loom.drain({ allowFailures: true });
    const ask = askerOf(loom);
    for (const path of [
      `/tasks/${id}`,
      '/dead',
      '/users',
      `/${encodeURIComponent(evil)}`,
      '/audit',
    ]) {
      const { headers, body } = await ask(path);
      expect(headers.get('content-type')).toMatch(/^application\/(problem\+)?json/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(typeof body).toBe('object');
    }
  });
});
