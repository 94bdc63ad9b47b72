/** The audit: what is kept of it when there is too much. */
import { task } from 'fairloom';
import { httpApi } from 'fairloom/http';
import { expect, it } from 'vitest';
import { shareMark, tooMany } from '../../src/operations/audit-share.ts';
import { eachStore } from '../support/http/stores.ts';

const say = task('say', async (words: string) => words);

/** Who asks stands in the header. */
const access = ({ headers }: Request) => {
  const by = headers.get('authorization') ?? '';
  if (by === 'admin') return { can: 'all', by } as const;
  return { can: ['cancel', 'pause'], users: [by], by } as const;
};

it('keeps refusals apart from changes, and of each kind the same for every caller that has too many', () => {
  const marks = [
    ...Array.from({ length: 30_000 }, () => shareMark('refused', 'acme')),
    ...Array.from({ length: 20_000 }, () => shareMark('done', 'acme')),
    ...Array.from({ length: 9_000 }, () => shareMark('done', 'zeta')),
    ...Array.from({ length: 300 }, () => shareMark('done', 'admin')),
    ...Array.from({ length: 400 }, () => shareMark('refused', 'admin')),
    undefined,
  ];
  const dropped = new Set(tooMany(marks));
  const kept = (kind: 'done' | 'refused', caller: string): number =>
    marks.filter((mark, at) => mark === shareMark(kind, caller) && !dropped.has(at)).length;
  expect([kept('done', 'admin'), kept('refused', 'admin')]).toEqual([300, 400]);
  expect(dropped.has(marks.length - 1)).toBe(false);
  expect([kept('done', 'acme'), kept('done', 'zeta')]).toEqual([4_849, 4_849]);
  expect(kept('refused', 'acme')).toBe(600);
  // The oldest go.
  expect(dropped.has(0)).toBe(false);
  expect(tooMany(marks.slice(-700))).toEqual([]);
});

eachStore(({ open }) => {
  // F108
  it('refused calls of one caller displace nothing of others, and long names are cut', async () => {
    const loom = await open([say]);
    const api = httpApi(loom, { access, rate: { limit: 1_000_000, per: '1s' } });
    const ask = async (path: string, as: string, method = 'POST'): Promise<object> => {
      const headers = { authorization: as, 'content-type': 'application/json' };
      const body = method === 'POST' ? '{}' : null;
      const request = new Request(`http://host/api/v1${path}`, { method, headers, body });
      return Object(await (await api.fetch(request)).json());
    };
    const audit = async (): Promise<readonly { by: string; target: string }[]> => {
      const items = [];
      let cursor = '';
      do {
        const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const page = await ask(`/audit?limit=500${more}`, 'admin', 'GET');
        items.push(...Reflect.get(page, 'items'));
        cursor = String(Reflect.get(page, 'cursor') ?? '');
      } while (cursor !== '');
      return items;
    };
    await ask('/queues/default/pause', 'admin');
    await ask('/tasks/none/cancel', 'admin');
    await ask('/users/zeta/pause', 'zeta');
    const long = 'x'.repeat(1_000);
    for (let at = 0; at < 1_300; at++) await ask(`/tasks/${long}${at}/cancel`, 'acme');
    const entries = await audit();
    const of = (by: string) => entries.filter((one) => one.by === by);
    expect(of('admin').map(({ target }) => target)).toEqual(['none', 'default']);
    expect(of('zeta')).toHaveLength(1);
    expect(of('acme').length).toBeLessThanOrEqual(1_100);
    expect(of('acme').length).toBeGreaterThan(900);
    expect(of('acme')[0]?.target).toHaveLength(201);
  });
});
