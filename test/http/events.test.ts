/** Streams of changes: what is told, when, and to whom no longer. */
import { task } from 'fairloom';
import { type Access, httpApi } from 'fairloom/http';
import type { TestLoom } from 'fairloom/testing';
import { expect, it } from 'vitest';
import { eachStore } from '../support/http/stores.ts';

const greet = task('greet', async (name: string) => `hello ${name}`);

interface Frame {
  readonly id?: string;
  readonly event?: string;
  readonly data?: unknown;
}

/** A reader that takes what there is when it is asked to. */
class Reader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #text = '';
  #pending: Promise<unknown> | undefined;
  isOver = false;

  readonly #quiet: () => Promise<void>;

  constructor(response: Response, quiet: () => Promise<void>) {
    this.#quiet = quiet;
    if (response.body === null) throw new Error(`no body: ${response.status}`);
    this.#reader = response.body.getReader();
  }

  /** The frames that have come since it asked last; beats and the like have no event. */
  async frames(): Promise<readonly Frame[]> {
    for (let quiet = 0; quiet < 20; quiet++) {
      this.#pending ??= this.#reader.read().then(({ done, value }) => {
        this.#pending = undefined;
        this.isOver = done;
        this.#text += new TextDecoder().decode(value);
      });
      await this.#quiet();
      if (this.isOver) break;
    }
    const whole = this.#text.split('\n\n');
    this.#text = whole.pop() ?? '';
    return whole.map(frameOf).filter(({ event }) => event !== undefined);
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

function frameOf(text: string): Frame {
  const fields = text.split('\n').map((line) => {
    const at = line.indexOf(': ');
    return [line.slice(0, at), line.slice(at + 2)] as const;
  });
  const { data, ...rest } = Object.fromEntries(fields) as Record<string, string>;
  return { ...rest, ...(data === undefined ? {} : { data: JSON.parse(data) }) };
}

/** In steps that readings can follow. */
async function seconds(loom: TestLoom, count: number): Promise<void> {
  for (let at = 0; at < count * 4; at++) await loom.clock.advance('250ms');
}

function opener(loom: TestLoom, access: () => Access = () => 'all') {
  const api = httpApi(loom, { access });
  return async (watch: string, headers: Record<string, string> = {}): Promise<Response> =>
    api.fetch(
      new Request(`http://host/api/v1/events?watch=${encodeURIComponent(watch)}`, { headers }),
    );
}

eachStore(({ open, quiet, name }) => {
  const readerOf = (response: Response) => new Reader(response, quiet);
  it('tells all of it once, and then what has changed', async () => {
    const loom = await open([greet]);
    const { id } = await loom.enqueue(greet, 'ann', { user: 'acme', delay: '1h' });
    const opened = opener(loom);
    const reader = readerOf(await opened(`task:${id},overview`));
    // The worker of the clock starts.
    await loom.drain();
    await seconds(loom, 2);
    const first = await reader.frames();
    expect(first[0]).toMatchObject({ event: 'change', data: { changes: [{}, {}] } });
    expect(JSON.stringify(first)).toContain('"state":"scheduled"');
    await seconds(loom, 5);
    expect(await reader.frames()).toEqual([]);
    await loom.tasks.cancel(id);
    await loom.clock.advance('1s');
    const text = JSON.stringify(await reader.frames());
    expect(text).toMatch(/"set":\{[^{]*"state":"canceled"/);
    expect(text).not.toContain('createdAt');
    await reader.cancel();
  });

  it('has at most four frames in a second, for any number of changes', async () => {
    const loom = await open([greet]);
    const reader = readerOf(await opener(loom)('overview'));
    let frames = 0;
    for (let at = 0; at < 40; at++) {
      await loom.enqueue(greet, 'ann', { delay: '1h' });
      await loom.clock.advance('50ms');
      frames += (await reader.frames()).length;
    }
    expect(frames).toBeGreaterThan(1);
    // In two seconds, and one at their start.
    expect(frames).toBeLessThanOrEqual(9);
    await reader.cancel();
  });

  it('goes on where a reader was, also at another server', async () => {
    const loom = await open([greet]);
    const { id } = await loom.enqueue(greet, 'ann', { delay: '1h' });
    const reader = readerOf(await opener(loom)(`task:${id},queues`));
    await loom.clock.advance('1s');
    const last = (await reader.frames()).at(-1)?.id ?? '';
    await reader.cancel();
    await loom.queues.set('default', { maxRunning: 2 });
    const again = readerOf(await opener(loom)(`task:${id},queues`, { 'last-event-id': last }));
    await loom.clock.advance('1s');
    const [frame] = await again.frames();
    const changes: unknown = Reflect.get(Object(frame?.data), 'changes');
    expect(changes).toContainEqual({ subject: `task:${id}`, unchanged: true });
    expect(changes).toContainEqual({ subject: 'queues', data: expect.anything() });
    await again.cancel();
  });

  it('tells a problem as what it is, and what cannot be watched is refused', async () => {
    const loom = await open([greet]);
    const opened = opener(loom);
    const reader = readerOf(await opened('task:none'));
    await loom.clock.advance('1s');
    expect(await reader.frames()).toMatchObject([
      { data: { changes: [{ data: { problem: { status: 404, code: 'TASK_NOT_FOUND' } } }] } },
    ]);
    await reader.cancel();
    for (const watch of ['', 'nothing', 'task', 'task:a:b', 'task:%', 'constructor', 'users:a:b']) {
      expect([watch, (await opened(watch)).status]).toEqual([watch, 400]);
    }
    const many = Array.from({ length: 33 }, (_, at) => `task:${at}`).join();
    expect((await opened(many)).status).toBe(400);
  });

  it('shows a caller of some users nothing of others', async () => {
    const loom = await open([greet]);
    const { id } = await loom.enqueue(greet, 'secret', { user: 'zeta', delay: '1h' });
    const opened = opener(loom, () => ({ can: ['read'], users: ['acme'] }));
    const reader = readerOf(
      await opened(`task:${id},overview,users,queues,user:zeta,workers,log:${id}`),
    );
    await loom.clock.advance('1s');
    const frames = await reader.frames();
    const text = JSON.stringify(frames).replaceAll('user:zeta', '').replaceAll('user zeta', '');
    expect(text).not.toMatch(/secret|zeta/);
    expect(text).toContain('NOT_FOR_SOME_USERS');
    await reader.cancel();
  });

  // F112
  it('ends within 30 s when access does', async () => {
    const loom = await open([greet]);
    let access: Access = 'all';
    const reader = readerOf(await opener(loom, () => access)('overview'));
    await loom.clock.advance('61s');
    await reader.frames();
    expect(reader.isOver).toBe(false);
    access = 'deny';
    await loom.clock.advance('30s');
    expect((await reader.frames()).at(-1)).toMatchObject({ event: 'closed' });
    expect(reader.isOver).toBe(true);
  });

  it('reads each thing once for all that watch it, and nothing while none does', async () => {
    const loom = await open([greet]);
    let reads = 0;
    const { stats } = loom;
    loom.stats = () => {
      reads++;
      return stats.call(loom);
    };
    const opened = opener(loom);
    const readers = [];
    for (let at = 0; at < 100; at++) readers.push(readerOf(await opened('overview')));
    await seconds(loom, 10);
    const shared = reads;
    expect(shared).toBeGreaterThan(5);
    expect(shared).toBeLessThanOrEqual(51);
    for (const reader of readers) await reader.cancel();
    await seconds(loom, 10);
    expect(reads).toBe(shared);
  });

  // F113
  it('ends when its client closes, when its request is aborted, and never begins after that', async () => {
    const loom = await open([greet]);
    const api = httpApi(loom, { access: () => 'all' });
    const stop = new AbortController();
    const url = 'http://host/api/v1/events?watch=overview';
    const aborted = readerOf(await api.fetch(new Request(url, { signal: stop.signal })));
    const other = readerOf(await api.fetch(new Request(url)));
    stop.abort();
    await aborted.frames();
    expect([aborted.isOver, other.isOver]).toEqual([true, false]);
    const late = readerOf(await api.fetch(new Request(url, { signal: stop.signal })));
    await late.frames();
    expect(late.isOver).toBe(true);
    const closed = loom.close();
    await other.frames();
    expect(other.isOver).toBe(true);
    await closed;
    expect((await api.fetch(new Request(url))).status).toBe(503);
  });

  // F115
  it('takes a list as it is, and one that is encoded as a whole', async () => {
    const loom = await open([greet]);
    const id = 'a:b,c%25+d';
    await loom.enqueue(greet, 'ann', { id, user: 'acme', delay: '1h' });
    const api = httpApi(loom, { access: () => 'all' });
    const list = `task:${encodeURIComponent(id)},overview`;
    const where = 'state:scheduled user:acme -user:"a,b"';
    const filter = `tasks:${encodeURIComponent(where)}`;
    const sent: readonly (readonly [string, number])[] = [
      [list, 2],
      [encodeURIComponent(list), 2],
      [String(new URLSearchParams({ watch: list })).slice('watch='.length), 2],
      [filter, 1],
      [encodeURIComponent(filter), 1],
      ['tasks:state:scheduled+user:acme', 1],
      [encodeURIComponent('tasks:state:scheduled user:acme'), 1],
      [`overview,${filter}`, 2],
    ];
    for (const [watch, count] of sent) {
      const reader = readerOf(
        await api.fetch(new Request(`http://host/api/v1/events?watch=${watch}`)),
      );
      await seconds(loom, 1);
      const told = (await reader.frames()).flatMap(({ data }) =>
        Reflect.get(Object(data), 'changes'),
      );
      const about = told.filter(({ subject, data }) => /^task/.test(subject) && data !== undefined);
      const subjects = new Set(told.map(({ subject }) => subject));
      expect([watch, subjects.size]).toEqual([watch, count]);
      for (const { data } of about) {
        expect([watch, JSON.stringify(data)]).toEqual([
          watch,
          expect.stringContaining('"state":"scheduled"'),
        ]);
      }
      await reader.cancel();
    }
    const refused = await api.fetch(new Request('http://host/api/v1/events?watch=users:a:b'));
    expect(await refused.json()).toMatchObject({
      detail: expect.stringContaining('percent-encoded'),
    });
  });

  // F105
  it('bounds what one caller has open, and leaves room for others', async () => {
    const loom = await open([greet]);
    let users = ['acme'];
    const opened = opener(loom, () => ({ can: ['read'], users }));
    const open200 = async (): Promise<Response[]> => {
      const streams: Response[] = [];
      for (let at = 0; at < 200; at++) streams.push(await opened('overview'));
      return streams;
    };
    const streams = await open200();
    const late = await opened('overview');
    expect([late.status, late.headers.get('retry-after')]).toEqual([429, '10']);
    users = ['zeta'];
    const other = await opened('overview');
    expect(other.status).toBe(200);
    for (const { body } of [...streams, other]) await body?.cancel();
    users = ['acme'];
    const many = Array.from({ length: 32 }, (_, at) => `task:t${at}`).join();
    const wide: Response[] = [];
    for (let at = 0; at < 31; at++) wide.push(await opened(many));
    expect(wide.every(({ status }) => status === 200)).toBe(true);
    expect((await opened(many)).status).toBe(429);
    for (const { body } of wide) await body?.cancel();
    const again = await opened(many);
    expect(again.status).toBe(200);
    await again.body?.cancel();
  });

  // Buffers are this process's own.
  if (name === 'redis') return;
  it('drops readers that do not read, tells them so, and keeps no more than a buffer for each', async () => {
    const loom = await open([greet]);
    const many = Array.from({ length: 60 }, () => 'x'.repeat(1_000));
    for (const name of many) await loom.enqueue(greet, name, { user: 'acme', delay: '1h' });
    const opened = opener(loom);
    const slow = [];
    for (let at = 0; at < 100; at++) slow.push(await opened('tasks:state%3Ascheduled,overview'));
    for (let at = 0; at < 120; at++) {
      await loom.enqueue(greet, `more ${at}`, { user: 'acme', delay: '1h' });
      await loom.clock.advance('1s');
    }
    let most = 0;
    let dropped = 0;
    for (const response of slow) {
      const text = await response.text();
      most = Math.max(most, text.length);
      if (text.includes('event: dropped')) dropped++;
    }
    expect(dropped).toBe(100);
    expect(most).toBeLessThan(200_000);
  });
});
