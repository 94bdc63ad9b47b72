/** Whole listings as files: all rows, no formulas, nothing of others, and a bound that is said. */
import { Fairloom, task } from 'fairloom';
import { redis } from 'fairloom/redis';
import { testLoom } from 'fairloom/testing';
import fc from 'fast-check';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { csvRow } from '../../src/http/csv.ts';
import { type ExportPage, exportBody } from '../../src/http/export.ts';
import { EXPORT_ROUTES } from '../../src/http/export-routes.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { ManualClock } from '../../src/testing/manual-clock.ts';
import { type Ask, askerOf } from '../support/http/api.ts';

const fail = task('fail', { retries: 0 }, async (input: { readonly no: number }) => {
  throw new TypeError(`no. ${input.no} is wrong, token=s3cret${input.no}`);
});

const lines = (text: string): readonly string[] => text.trimEnd().split('\n');
const rowsOf = (text: string): readonly Readonly<Record<string, unknown>>[] =>
  lines(text).map((line) => JSON.parse(line));

describe('rows', () => {
  const loom = testLoom([fail]);
  let ask: Ask;

  beforeAll(async () => {
    ask = askerOf(loom);
    for (let no = 0; no < 7; no++) {
      await loom.enqueue(fail, { no }, { id: `t-${no}`, user: no < 5 ? 'acme' : 'zeta' });
    }
    await loom.drain({ allowFailures: true });
    await ask('/users/zeta/pause', { method: 'POST' });
  });

  it('are those of the listing, as JSON lines', async () => {
    for (const { of, path } of EXPORT_ROUTES) {
      const query = of.name === 'GET /tasks' || of.name === 'GET /runs' ? '?state=failed' : '';
      const { body } = await ask(`${of.path}${query}`);
      const { status, text, headers } = await ask(`${path}${query}`);
      expect([path, status, headers.get('content-type')]).toEqual([
        path,
        200,
        'application/jsonl; charset=utf-8',
      ]);
      const items: unknown = Reflect.get(Object(body), 'items');
      expect([path, text === '' ? [] : rowsOf(text)]).toEqual([path, items]);
    }
    expect(EXPORT_ROUTES.map(({ path }) => path).sort()).toEqual([
      '/export/audit',
      '/export/dead',
      '/export/runs',
      '/export/tasks',
      '/export/users',
    ]);
  });

  it('are a table as CSV, with a file name', async () => {
    const where = encodeURIComponent('state:failed user:zeta');
    const { text, headers } = await ask(`/export/tasks?where=${where}&format=csv`);
    const [head, ...rows] = text.split('\r\n');
    expect(head).toBe(
      'id,name,state,user,queue,priority,createdAt,dueAt,leasedAt,endedAt,failures,failureType,' +
        'error.name,error.message,worker,dependsOn',
    );
    expect(rows.length).toBe(3);
    expect(rows).toContainEqual(
      expect.stringMatching(
        /^t-5,fail,failed,zeta,default,\d,\d{4}-\d\d-\d\dT[\d:.]+Z,.*TypeError,"no\. 5 is wrong, token=s3cret5",,\[\]$/,
      ),
    );
    expect(headers.get('content-disposition')).toBe('attachment; filename="tasks.csv"');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('are cut where that was asked for, which the last line says, and how to go on', async () => {
    const first = await ask('/export/dead?limit=3');
    const [cut] = rowsOf(first.text).slice(-1);
    expect(cut).toEqual({ cut: { rows: 3, cursor: expect.any(String) } });
    const cursor = String(Reflect.get(Object(cut?.['cut']), 'cursor'));
    const rest = await ask(`/export/dead?cursor=${encodeURIComponent(cursor)}`);
    const ids = [...rowsOf(first.text).slice(0, 3), ...rowsOf(rest.text)].map(({ id }) => id);
    expect(ids.sort()).toEqual(['t-0', 't-1', 't-2', 't-3', 't-4', 't-5', 't-6']);
    const csv = await ask('/export/dead?limit=3&format=csv');
    expect(lines(csv.text).at(-1)).toContain(`cut after 3 rows; go on with cursor=`);
    expect(lines((await ask('/export/dead?limit=7&format=csv')).text).length).toBe(8);
  });

  it('are refused as the listing is, before anything is sent', async () => {
    for (const [query, option] of [
      ['tasks', 'where'],
      ['tasks?where=age:x', 'where'],
      ['tasks?state=failed&format=xml', 'format'],
      ['tasks?state=failed&limit=100001', 'limit'],
      ['dead?cursor=x', 'cursor'],
      ['dead?colour=red', 'colour'],
    ] as const) {
      const { status, body } = await ask(`/export/${query}`);
      expect([query, status, body]).toEqual([query, 400, expect.objectContaining({ option })]);
    }
    const changes = askerOf(loom, { access: () => ({ can: ['redrive'] }) });
    expect((await changes('/export/dead')).status).toBe(403);
    expect((await askerOf(loom, { access: () => 'deny' })('/export/dead')).status).toBe(403);
    expect((await ask('/export/dead', { method: 'POST' })).status).toBe(405);
    expect((await ask('/export/workers')).status).toBe(404);
  });

  it('hide what is not shown', async () => {
    const redacted = askerOf(loom, { redact: ['*.token'] });
    const hidden = askerOf(loom, { hidePayloads: true });
    for (const format of ['csv', 'jsonl']) {
      const { text } = await redacted(`/export/dead?format=${format}`);
      expect(text).toContain('no. 5 is wrong, token=[redacted]');
      expect(text).not.toContain('s3cret');
      expect((await hidden(`/export/dead?format=${format}`)).text).not.toContain('is wrong');
    }
  });

  it('of others are not there, nor in what goes on', async () => {
    const own = askerOf(loom, { access: () => ({ can: 'all', users: ['zeta'] }) });
    expect((await own('/export/audit')).status).toBe(403);
    for (const format of ['csv', 'jsonl']) {
      const form = `format=${format}`;
      for (const path of [
        `dead?${form}`,
        `tasks?where=&${form}`,
        `tasks?state=failed&${form}`,
        `users?${form}`,
        `dead?user=acme&${form}`,
      ]) {
        const { status, text } = await own(`/export/${path}`);
        expect([path, status, text]).toEqual([
          path,
          200,
          expect.not.stringMatching(/acme|t-[0-4]/),
        ]);
      }
      expect((await own(`/export/dead?${form}`)).text).toMatch(/t-5.*t-6/s);
      const cut = await own(`/export/dead?limit=1&${form}`);
      const [, cursor = ''] = /cursor(?:=|":")([\w-]{40,})/.exec(cut.text) ?? [];
      expect((await own(`/export/dead?${form}&cursor=${cursor}`)).text).toContain('t-6');
      expect((await ask(`/export/dead?${form}&cursor=${cursor}`)).status).toBe(400);
    }
  });
});

it('is whole on Redis, over many pages', async () => {
  const loom = new Fairloom({
    backend: redis(inject('redisUrl'), { prefix: `export-${process.pid}` }),
    log: silentLogger,
  });
  const inputs = Array.from({ length: 1_201 }, (_, no) => ({ no }));
  const handles = await loom.enqueueMany(fail, inputs, { user: 'acme' });
  const { text } = await askerOf(loom)('/export/tasks?where=state:queued');
  const ids = rowsOf(text).map(({ id }) => String(id));
  expect(ids.sort()).toEqual(handles.map(({ id }) => id).sort());
  await loom.close();
});

describe('a cell', () => {
  it('is never a formula, and reads back as what it was', () => {
    const cells = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({
        unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '"', ',', ' ', 'a'),
      }),
    );
    fc.assert(
      fc.property(fc.array(cells, { minLength: 1, maxLength: 4 }), (values) => {
        const columns = values.map((_, at) => `c${at}`);
        const row = Object.fromEntries(values.map((value, at) => [`c${at}`, value]));
        const read = cellsOf(csvRow(columns, row));
        expect(read.map((cell) => cell.replace(/^'(?=\s*[=+\-@＝＋－＠]|[\t\r\n])/, ''))).toEqual(
          values.map((value) => value.replace(/^'(?=\s*[=+\-@＝＋－＠]|[\t\r\n])/, '')),
        );
        for (const cell of read) expect(cell).not.toMatch(/^\s*[=+\-@＝＋－＠]|^[\t\r\n]/);
      }),
      { numRuns: 60 },
    );
  });

  it('of a number is a number', () => {
    expect(csvRow(['a', 'b', 'c', 'd', 'e.f'], { a: -0.5, b: true, c: null, e: { f: '-1' } })).toBe(
      "-0.5,true,,,'-1\r\n",
    );
    expect(csvRow(['endedAt', 'at'], { endedAt: 0, at: 1e18 })).toBe(
      '1970-01-01T00:00:00.000Z,1000000000000000000\r\n',
    );
  });
});

/** Cells of one line, read as RFC 4180 says. */
function cellsOf(line: string): readonly string[] {
  const cells: string[] = [];
  for (let left = `,${line.slice(0, -2)}`; left !== ''; ) {
    const [all, quoted, bare = ''] = /^,(?:"((?:[^"]|"")*)"|([^,"]*))/.exec(left) ?? [left, left];
    cells.push(quoted?.replaceAll('""', '"') ?? bare);
    left = left.slice(all.length);
  }
  return cells;
}

describe('a reader', () => {
  const clock = new ManualClock();
  const parts = {
    clock,
    format: 'jsonl' as const,
    columns: [],
    rows: 100_000,
    cursor: undefined,
    seal: async (cursor: string) => cursor,
    stillMay: async () => true,
  };
  const page: ExportPage = { items: [1], cursor: 'next' };

  it('that reads nothing makes the server read no more than one page', async () => {
    let reads = 0;
    const read = async (): Promise<ExportPage> => {
      reads++;
      return page;
    };
    const body = await exportBody({ ...parts, read });
    expect(reads).toBe(1);
    const reader = body.getReader();
    await reader.read();
    await reader.read();
    expect(reads).toBe(2);
    await reader.cancel();
    expect(reads).toBe(2);
  });

  it('of what finds nothing is told after so many pages', async () => {
    let reads = 0;
    const read = async (): Promise<ExportPage> => {
      reads++;
      return { items: [], cursor: 'next' };
    };
    const text = await new Response(await exportBody({ ...parts, read })).text();
    expect(text).toBe('{"cut":{"rows":0,"cursor":"next"}}\n');
    expect(reads).toBe(400);
  });

  it('gets no whole file when a page fails, or when it may not look any more', async () => {
    const failing = async ({ cursor }: { readonly cursor?: string }): Promise<ExportPage> => {
      if (cursor !== undefined) throw new Error('away');
      return page;
    };
    await expect(
      new Response(await exportBody({ ...parts, read: failing })).text(),
    ).rejects.toThrow('away');
    await expect(
      exportBody({ ...parts, read: async () => Promise.reject(new Error('no')) }),
    ).rejects.toThrow('no');
    const late = async (): Promise<ExportPage> => {
      await clock.advance(60_000);
      return page;
    };
    const out = await exportBody({ ...parts, read: late, stillMay: async () => false });
    await expect(new Response(out).text()).rejects.toThrow('access has changed');
  });
});
