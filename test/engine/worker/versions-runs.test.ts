/** Runs that keep the versions of their code: in both forms, in groups, again, elsewhere, and under keys. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { encrypted } from '../../../src/codec/encrypted.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { flow } from '../../../src/workflow/flow.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { type Signal, signal } from '../../../src/workflow/signal.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { refusal, settled } from '../../support/runs.ts';

const charge = task('charge', async (n: number) => `c${n}`);
const ship = (version: string) =>
  task('ship', { version }, async (text: string) => `${text}-ship${version}`);
const order = (version: string) => charge.pipe(ship(version)).as('order');
const [v1, v2] = [order('1'), order('2')];

const FORMS = ['dispatched', 'driven'] as const;

eachBackend((open) => {
  const harness = opened(open);

  const stateOf = async (loom: Fairloom, id: string): Promise<string> =>
    (await loom.tasks.get(id))?.state ?? 'missing';

  describe.each(FORMS)('a %s run', (form) => {
    it('goes on with the code that it began with, beside new runs on new code', async () => {
      const old = harness.loom([v1]);
      const made = harness.loom([v2]);
      const run = await old.enqueue(v1, 1, { form });
      await made.worker().start();
      const next = await made.enqueue(v2, 2, { form });
      expect(await settled(harness, next.result())).toBe('c2-ship2');
      expect(await stateOf(made, run.id)).not.toBe('finished');
      await old.worker().start();
      expect(await settled(harness, run.result())).toBe('c1-ship1');
    });

    it('with latest goes on with the code that its workers have', async () => {
      const old = harness.loom([v1]);
      const run = await old.enqueue(v1, 1, { form, versioning: 'latest' });
      await harness.loom([v2]).worker().start();
      expect(await settled(harness, run.result())).toBe('c1-ship2');
    });

    it('is rerun and resumed with its own code, and rerun with latest with the newest', async () => {
      const broken = task(
        'ship',
        { version: '1', retries: 0 },
        async (_: string): Promise<string> => {
          throw new Error('broken');
        },
      );
      const old = harness.loom([charge, broken]);
      const worker = old.worker();
      await worker.start();
      const run = await old.enqueue(charge.pipe(broken), 1, { form });
      await settled(harness, refusal(run.result()));
      await worker.stop();
      const made = harness.loom([v2]);
      await made.worker().start();
      const newest = await made.runs.rerun(run.id, { versioning: 'latest' });
      expect(await settled(harness, newest.result())).toBe('c1-ship2');
      const again = await made.runs.rerun(newest.id);
      expect(await settled(harness, again.result())).toBe('c1-ship2');
      const kept = await made.runs.rerun(run.id);
      await made.runs.resume(run.id);
      await harness.quiet();
      for (const { id } of [kept, run]) expect(await stateOf(made, id)).not.toBe('finished');
      await harness.loom([v1]).worker().start();
      for (const { id } of [kept, run]) {
        expect(await settled(harness, made.runs.handle(v1, id).result())).toBe('c1-ship1');
      }
    });

    it('keeps its versions through export and import', async () => {
      const old = harness.loom([v1]);
      const run = await old.enqueue(v1, 1, { form });
      const latest = await old.enqueue(v1, 2, { form, versioning: 'latest' });
      const made = harness.loom([v2]);
      const [kept, moved] = [
        await made.runs.import(await made.runs.export(run.id), { id: 'kept' }),
        await made.runs.import(await made.runs.export(latest.id), { id: 'moved' }),
      ];
      await made.worker().start();
      expect(await settled(harness, moved.result())).toBe('c2-ship2');
      expect(await stateOf(made, kept.id)).not.toBe('finished');
      await old.worker().start();
      expect(await settled(harness, kept.result())).toBe('c1-ship1');
    });

    it('is not swallowed by the key of a run of other code', async () => {
      const loom = harness.loom([v1, v2]);
      const options = { form, idempotencyKey: 'k' };
      const first = await loom.enqueue(v1, 1, options);
      const second = await loom.enqueue(v2, 1, options);
      expect(second).toMatchObject({ created: true });
      expect(await loom.enqueue(v1, 1, options)).toMatchObject({ id: first.id, created: false });
      expect(await loom.enqueue(v2, 1, options)).toMatchObject({ id: second.id, created: false });
    });

    it('stands in loom.versions until it has ended', async () => {
      const loom = harness.loom([v1, v2]);
      await loom.enqueue(v1, 1, { form });
      const { versions } = await loom.versions();
      const shipped = versions.find(({ name, version }) => name === 'ship' && version === '1');
      const counts = { scheduled: 0, deferred: 0, queued: 0, started: 0 };
      expect(shipped).toMatchObject(
        form === 'driven'
          ? { runs: 1, tasks: counts, needed: 1 }
          : { runs: 0, tasks: { ...counts, deferred: 1 }, needed: 1 },
      );
      expect(versions.filter(({ version }) => version === '2')).toEqual([]);
    });
  });

  describe('a pipeline with a version', () => {
    const wrap = (version: string) => {
      const end = task('end', async (text: string) => `${text}-end${version}`);
      return charge.pipe(end).as('whole', { version });
    };

    it.each(FORMS)('gives it to each of its tasks that says none (%s)', async (form) => {
      const [one, two] = [wrap('1'), wrap('2')];
      const both = harness.loom([one, two]);
      const old = await both.enqueue(one, 1, { form });
      const made = await both.enqueue(two, 1, { form });
      await both.worker().start();
      expect(await settled(harness, old.result())).toBe('c1-end1');
      expect(await settled(harness, made.result())).toBe('c1-end2');
      expect(await both.run(one, 3)).toBe('c3-end1');
      // Its tasks by themselves are as they were defined.
      const alone = await both.enqueue(charge, 5);
      expect(await settled(harness, alone.result())).toBe('c5');
      const { versions } = await both.versions();
      const known = versions.map(({ name, version }) => `${name}@${version}`);
      expect(known).toEqual([
        'charge@2',
        'charge@1',
        'charge@undefined',
        ...['end@2', 'end@1', 'end@undefined'],
      ]);
    });

    it('is refused what is no version', () => {
      expect(() => v1.as('x', { version: 'a b' })).toThrow(/version/);
      expect(() => v1.as('x', { versions: '1' } as never)).toThrow(/no option/);
    });
  });

  it('members of groups keep versions, whether they are tasks or driven', async () => {
    let letGo = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const gated = task('gated', async (text: string) => {
      await gate;
      return text;
    });
    const spread = (version: string) => {
      const last = ship(version);
      const members = { plain: last, driven: last.as('first').pipe(last.as('second')) };
      return charge.pipe(gated).pipe(parallel(members)).as('spread');
    };
    const old = harness.loom([spread('1')]);
    const run = await old.enqueue(spread('1'), 1, { form: 'driven' });
    const worker = old.worker();
    await worker.start();
    await harness.quiet();
    worker.pause();
    letGo();
    await harness.until(async () => (await stateOf(old, run.id)) === 'deferred');
    await harness
      .loom([spread('2')])
      .worker()
      .start();
    await harness.clock.advance('5s');
    const { versions } = await old.versions();
    expect(versions.find(({ version }) => version === '1')).toMatchObject({
      runs: 1,
      tasks: { queued: 1 },
      needed: 2,
    });
    worker.resume();
    expect(await settled(harness, run.result())).toEqual({
      plain: 'c1-ship1',
      driven: 'c1-ship1-ship1',
    });
    const many = each(ship('2')).as('many');
    const loom = harness.loom([many]);
    await loom.worker().start();
    const all = await loom.enqueue(many, ['a', 'b'], { form: 'driven' });
    expect(await settled(harness, all.result())).toEqual(['a-ship2', 'b-ship2']);
  });

  it('a driven run that has waited finds its code again, or fails and can be put back', async () => {
    const napping = task('nap', { version: '1' }, async (n: number, ctx) => {
      await ctx.sleep('10m');
      return n + 1;
    });
    const old = harness.loom([napping.pipe(ship1()).as('naps')]);
    const worker = old.worker();
    await worker.start();
    const run = await old.enqueue(napping.pipe(ship1()).as('naps'), 1, { form: 'driven' });
    await harness.until(async () => (await stateOf(old, run.id)) === 'deferred');
    await worker.stop();
    const made = harness.loom([v2]);
    await made.worker().start();
    const error = await settled(harness, refusal(made.runs.handle(v1, run.id).result()));
    expect(error).toMatchObject({ failureType: 'unknown-task' });
    await harness
      .loom([napping.pipe(ship1()).as('naps')])
      .worker()
      .start();
    await made.runs.resume(run.id);
    expect(await settled(harness, run.result())).toBe('2-ship1');
    expect(harness.clock.now()).toBeGreaterThan(LIMITS.unknownTaskMs);
  });

  it('a run is explained by the version that it needs', async () => {
    const old = harness.loom([v1]);
    const run = await old.enqueue(v1, 1, { form: 'driven' });
    const made = harness.loom([v2]);
    await made.worker().start();
    const { obstacles } = await made.tasks.explain(run.id);
    expect(obstacles[0]?.text).toBe(
      'it needs version 1 of ship; live workers of queue default have 2',
    );
    expect((await made.runs.explain(run.id)).waitsFor[0]?.why.obstacles[0]?.kind).toBe('no-worker');
    expect((await made.runs.list({ state: 'queued', user: 'default' })).items).toHaveLength(1);
    expect(await made.runs.get(run.id)).toMatchObject({ form: 'driven', name: 'order' });
  });

  it('versions are read without the keys of inputs and graphs', async () => {
    const key = new Uint8Array(32).fill(7);
    const old = harness.loom([v1], { codec: encrypted({ keys: [{ id: 'k', key }] }) });
    const run = await old.enqueue(v1, 1, { form: 'driven' });
    const alone = await old.enqueue(ship('1'), 'x');
    const stranger = harness.loom([v2]);
    await stranger.worker().start();
    await harness.quiet();
    const versions = (await stranger.versions()).versions.filter(({ version }) => version === '1');
    expect(versions).toMatchObject([{ name: 'ship', runs: 1, tasks: { queued: 1 }, needed: 2 }]);
    expect(await stranger.tasks.get(alone.id)).toMatchObject({ version: '1', encryptedWith: 'k' });
    const { obstacles } = await stranger.tasks.explain(run.id);
    expect(obstacles[0]?.text).toContain('needs version 1 of ship');
    await old.worker().start();
    expect(await settled(harness, run.result())).toBe('c1-ship1');
  });

  it('a schedule of a pipeline keeps the versions of the client that set it', async () => {
    const old = harness.loom([v1]);
    await old.schedules.set('s', { task: v1, input: 1, every: '1d', idempotencyKey: 'k' });
    const made = harness.loom([v2]);
    const { versions } = await made.versions();
    expect(versions).toMatchObject([{ name: 'ship', version: '1', schedules: 1, needed: 1 }]);
    await made.worker().start();
    const handle = await made.schedules.run('s');
    await harness.quiet();
    expect(await stateOf(made, handle.id)).toBe('queued');
    await old.worker().start();
    expect(await settled(harness, handle.result())).toBe('c1-ship1');
  });

  it('steps that a handler runs have the versions of its own code', async () => {
    const outer = task('outer', { version: '1' }, async (n: number, ctx) => ctx.run(v1, n));
    const loom = harness.loom([outer, ship('2')]);
    await loom.worker().start();
    expect(await settled(harness, (await loom.enqueue(outer, 4)).result())).toBe('c4-ship1');
  });

  it('two versions of one task may stand in one graph', async () => {
    const both = flow<number, string>('both', (f) => {
      const first = f.step(charge, f.input);
      const one = f.step(ship('1').as('one'), first);
      return f.step(ship('2').as('two'), one);
    });
    const loom = harness.loom([both]);
    await loom.worker().start();
    for (const form of FORMS) {
      const run = await loom.enqueue(both, 1, { form });
      expect(await settled(harness, run.result())).toBe('c1-ship1-ship2');
    }
  });
});

function ship1() {
  return task('ship', { version: '1' }, async (n: number) => `${n}-ship1`);
}

eachBackend((open) => {
  const harness = opened(open);

  describe('a handler that starts anew and calls otherwise', () => {
    const go = signal('go');
    const stop = signal('stop');
    const none = { retries: 0, backoff: { base: 0 } } as const;
    const made = (
      version: string | undefined,
      versioning: 'pin' | 'latest',
      of: Signal<unknown>,
    ) => {
      const own = version === undefined ? {} : { version, versioning };
      return task('hear', { ...none, ...own }, async (_: number, ctx) => {
        await ctx.run(charge, 1);
        return ctx.waitFor(of);
      });
    };

    /** What an old worker began and left, and a new one cannot go on with. */
    async function mismatch(
      before: ReturnType<typeof made>,
      now: ReturnType<typeof made>,
      form?: 'driven',
    ): Promise<unknown> {
      const old = harness.loom([before, charge]);
      const worker = old.worker();
      await worker.start();
      const step = form === undefined ? before : before.pipe(charge.as('after') as never);
      const latest = form === undefined ? {} : { form, versioning: 'latest' };
      const handle = await old.enqueue(step as never, 1 as never, latest as never);
      await harness.until(async () => (await stateOf(old, handle.id)) === 'deferred');
      await worker.stop();
      const fresh = harness.loom([now, charge]);
      await fresh.worker().start();
      await fresh.signal(handle.id, 'go', 1);
      await settled(harness, refusal(handle.result()));
      const record = await fresh.tasks.get(handle.id);
      return record?.error;
    }
    const stateOf = async (loom: Fairloom, id: string): Promise<string> =>
      (await loom.tasks.get(id))?.state ?? 'missing';

    it('fails, and the error names the version that made the call and the one that is here', async () => {
      const error = await mismatch(made('1', 'latest', go), made('2', 'latest', stop));
      expect(error).toMatchObject({
        name: 'ReplayMismatchError',
        message: expect.stringMatching(/^call 2 .* before: version 1 made it, not version 2$/),
      });
    });

    it('names the kept version, whose code was changed under it', async () => {
      const error = await mismatch(made('7', 'pin', go), made('7', 'pin', stop));
      expect(error).toMatchObject({ message: expect.stringMatching(/before, in version 7 too$/) });
    });

    it('says that there was none', async () => {
      const error = await mismatch(made(undefined, 'pin', go), made('2', 'latest', stop));
      expect(error).toMatchObject({
        message: expect.stringMatching(/: code without a version made it, not version 2$/),
      });
    });

    it('names none where there is none', async () => {
      const error = await mismatch(made(undefined, 'pin', go), made(undefined, 'pin', stop));
      expect(error).toMatchObject({ message: expect.stringMatching(/input, before$/) });
    });

    it('names both for a node of a driven run that goes on with the newest', async () => {
      const error = await mismatch(made('1', 'pin', go), made('2', 'pin', stop), 'driven');
      expect(error).toMatchObject({
        message: expect.stringContaining('version 1 made it, not version 2'),
      });
    });

    it('writes nothing down for a version that is kept, or that is none', async () => {
      for (const one of [made('7', 'pin', go), made(undefined, 'pin', go)]) {
        const loom = harness.loom([one, charge]);
        const worker = loom.worker();
        await worker.start();
        const { id } = await loom.enqueue(one, 1);
        await harness.until(async () => (await stateOf(loom, id)) === 'deferred');
        const fields = Object.keys(await harness.backend.runs.load(id));
        expect(fields.filter((name) => name.endsWith('/v'))).toEqual([]);
        await worker.stop();
      }
    });
  });
});
