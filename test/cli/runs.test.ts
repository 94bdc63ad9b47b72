/** Workflows by the binary: enqueued, looked at, canceled, run again, and run here. */
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { fairloomQuick } from '../support/cli-here.ts';
import { type Ended, fairloom, ROOT } from '../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../support/processes/worker-process.ts';

const MODULE = join(ROOT, 'test/fixtures/cli/workflow.mjs');
const BACKEND = ['--redis', inject('redisUrl'), '--prefix', `runs-${process.pid}`];

const run = (...args: readonly string[]): Promise<Ended> => fairloomQuick([...args, ...BACKEND]);

async function ok(ended: Promise<Ended>): Promise<string> {
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

async function json(...args: readonly string[]): Promise<unknown> {
  return JSON.parse(await ok(run(...args, '-o', 'json')));
}

describe('a pipeline of a module', () => {
  const later = ['--user', 'ann', '--delay', '1h'];

  beforeAll(async () => {
    await ok(run('enqueue', 'etl', '4', '--module', MODULE, '--id', 'late', ...later));
  });

  it('is stored as a run, which is listed and shown', async () => {
    const late = { id: 'late', name: 'etl', form: 'dispatched', state: 'deferred', user: 'ann' };
    expect(await json('runs', 'list')).toMatchObject([late]);
    expect(await json('runs', 'list', '--state', 'finished')).toEqual([]);
    expect(await ok(run('runs', 'list'))).toMatch(
      /^late +etl +dispatched +ann +default +deferred/m,
    );
    expect(await json('runs', 'get', 'late')).toMatchObject({
      ...late,
      input: 4,
      nodes: [
        { node: 'extract', state: 'scheduled' },
        { node: 'transform', state: 'deferred' },
        { node: 'validate', state: 'deferred' },
        { node: '~group.transform', state: 'deferred' },
        { node: 'load', state: 'deferred' },
      ],
    });
    expect(await ok(run('runs', 'get', 'late'))).toMatch(/^extract +scheduled +~r\./m);
    const explained = await ok(run('runs', 'explain', 'late'));
    expect(explained).toMatch(/late is deferred[\s\S]*1 scheduled[\s\S]*extract: delayed/);
  });

  it('is drawn with its states', async () => {
    expect(await ok(run('runs', 'graph', 'late'))).toMatch(/^\|-- extract \[scheduled\]$/m);
    expect(await ok(run('runs', 'graph', 'late', '--format', 'mermaid'))).toMatch(/^flowchart LR/);
    expect(await ok(run('runs', 'graph', 'late', '--format', 'dot'))).toMatch(/^digraph/);
    const { graph } = (await json('runs', 'get', 'late')) as { readonly graph: string };
    expect(await ok(run('graphs', 'show', graph))).toMatch(/^\|-- extract$/m);
    expect(await json('graphs', 'show', graph)).toMatchObject({ graph: { name: 'etl' } });
    expect(await run('graphs', 'show', 'a'.repeat(64))).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('was never stored here'),
    });
  });

  it('is canceled with all of it, once', async () => {
    const id = (await ok(run('enqueue', 'etl', '1', '--module', MODULE, ...later))).trim();
    expect((await run('runs', 'cancel', id)).code).toBe(6);
    expect(await json('runs', 'cancel', id, '--yes', '--wait')).toEqual([
      { id, ok: true, outcome: 'canceled, with 5 nodes' },
    ]);
    expect((await run('runs', 'cancel', id, '--yes')).code).toBe(6);
    expect((await run('runs', 'get', 'nobody')).code).toBe(7);
  });

  describe('with a worker', () => {
    let worker: WorkerProcess;
    beforeAll(async () => {
      worker = await startWorker(['worker', MODULE, ...BACKEND]);
    });
    afterAll(() => worker.end('SIGTERM'));

    it('runs to its end, whose output is printed', async () => {
      const args = ['enqueue', 'etl', '4', '--module', MODULE, '--wait', '30s'];
      expect(await json(...args)).toMatchObject({ result: [5, 41, 2] });
    });

    it('tells which node failed, and is run again from there', async () => {
      const args = ['enqueue', 'etl', '-1', '--module', MODULE, '--id', 'bad', '--wait', '30s'];
      expect(await run(...args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('node "validate" of run bad failed (error): no rows of -1'),
      });
      const again = await json('runs', 'rerun', 'bad', '--id', 'again');
      expect(again).toEqual({ id: 'again', created: true });
      expect(await json('runs', 'get', 'again')).toMatchObject({ past: ['bad'] });
      expect((await run('runs', 'rerun', 'bad', '--from', 'nowhere')).code).toBe(2);
    });

    /** Asks until it has finished. */
    async function finished(id: string): Promise<unknown> {
      for (;;) {
        const shown = await json('runs', 'get', id);
        if (shown !== null && typeof shown === 'object' && 'result' in shown) return shown;
      }
    }

    it('begins at a node, and is bounded, where that is said', async () => {
      const args = ['enqueue', 'etl', '--module', MODULE, '--wait', '30s'];
      const load = ['[[1],2]', '--start-at', 'load', '--max-steps', '1'];
      expect(await json(...args, ...load)).toMatchObject({ result: [1, 2] });
      expect((await run(...args, '4', '--max-steps', '2')).code).toBe(2);
      expect((await run(...args, '4', '--start-at', 'validate')).code).toBe(2);
      const here = ['run', 'extract >> (transform | validate) >> load', '--module', MODULE];
      expect(await json(...here, ...load)).toEqual({ result: [1, 2] });
      const task = ['enqueue', 'extract', '4', '--module', MODULE];
      expect((await run(...task, '--start-at', 'extract')).code).toBe(2);
      expect((await run(...task, '--form', 'driven')).code).toBe(2);
    });

    it('gets another input for a node, in a rerun, a fork and a resume', async () => {
      const bad = ['enqueue', 'etl', '-1', '--module', MODULE, '--id', 'worse', '--wait', '30s'];
      expect((await run(...bad)).code).toBe(1);
      const first = ['--from', 'extract', '--input', '4'];
      expect(await json('runs', 'rerun', 'worse', '--input', '4', '--id', 'whole')).toEqual({
        ...{ id: 'whole', created: true },
      });
      expect(await json('runs', 'rerun', 'worse', ...first, '--id', 'node')).toMatchObject({
        created: true,
      });
      expect(await json('runs', 'fork', 'worse', ...first, '--id', 'forked')).toEqual({
        ...{ id: 'forked', created: true },
      });
      for (const id of ['whole', 'node', 'forked']) {
        expect(await finished(id)).toMatchObject({ result: [5, 41, 2] });
      }
      expect(await ok(run('runs', 'get', 'forked'))).toMatch(/^fork of +worse$/m);
      expect((await run('runs', 'fork', 'worse')).code).toBe(2);
      expect((await run('runs', 'rerun', 'worse', '--input', '{')).code).toBe(2);
      const resume = ['runs', 'resume', 'worse', '--node', 'validate'];
      expect(await run(...resume, '--input', '1')).toMatchObject({
        code: 2,
        stdout: expect.stringContaining('outside groups'),
      });
      expect((await run(...resume)).code).toBe(2);
      const down = ['enqueue', 'etl', '"x"', '--module', MODULE, '--id', 'down', '--retries', '0'];
      expect((await run(...down, '--wait', '30s')).code).toBe(1);
      await ok(run('runs', 'resume', 'down', '--node', 'extract', '--input', '4'));
      expect(await finished('down')).toMatchObject({ result: [5, 41, 2] });
    });

    it('is put back, exported and imported', async () => {
      expect(await json('runs', 'resume', 'bad')).toEqual([
        { id: 'bad', ok: true, outcome: 'resumed' },
      ]);
      expect((await run('runs', 'resume', 'nobody')).code).toBe(7);
      const text = await ok(run('runs', 'export', 'late'));
      expect(JSON.parse(text)).toMatchObject({ format: 'fairloom-run', version: 1, id: 'late' });
      const file = join(tmpdir(), `fairloom-run-${process.pid}.json`);
      writeFileSync(file, text);
      expect(await json('runs', 'import', file, '--id', 'copy', '--user', 'bob')).toEqual({
        id: 'copy',
        created: true,
      });
      rmSync(file);
      expect(await json('runs', 'get', 'copy')).toMatchObject({ user: 'bob', name: 'etl' });
      const args = ['runs', 'import', '-', ...BACKEND];
      const newer = text.replace('"version": 1', '"version": 3');
      expect(await fairloom(args, { stdin: newer })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('$.version is 3; this version reads 2'),
      });
      expect((await run('runs', 'import', `${file}.gone`)).code).toBe(7);
    });

    it('keeps its own tasks out of listings unless it is asked', async () => {
      const names = async (...args: readonly string[]): Promise<readonly string[]> => {
        const rows = (await json(...args)) as readonly { readonly name: string }[];
        return rows.map(({ name }) => name);
      };
      const isOwn = (name: string): boolean => name.startsWith('~');
      expect((await names('tasks', 'list', '--limit', 'all')).some(isOwn)).toBe(false);
      expect((await names('tasks', 'list', '--all', '--limit', 'all')).some(isOwn)).toBe(true);
      expect((await names('dead', 'list')).some(isOwn)).toBe(false);
      expect((await names('dead', 'list', '--all')).some(isOwn)).toBe(true);
    });
  });
});

describe('a workflow written as text', () => {
  const here = (...args: readonly string[]): Promise<Ended> => fairloom(['run', ...args]);

  it('runs here, without a backend', async () => {
    const text = 'extract >> (transform | validate) >> load';
    expect(JSON.parse(await ok(here(text, '4', '--module', MODULE)))).toEqual([5, 41, 2]);
    expect(JSON.parse(await ok(here('etl', '4', '--module', MODULE, '-o', 'json')))).toEqual({
      result: [5, 41, 2],
    });
  });

  it.each([
    ['a text with a mistake', ['extract >> >> load', '4', '--module', MODULE], 2, 'column 12'],
    ['a name that is not there', ['extract >> lod', '4', '--module', MODULE], 2, 'lod'],
    ['no module', ['extract >> load', '4'], 2, '--module'],
    ['a step that fails', ['validate >> load', '[-1]', '--module', MODULE], 1, 'no rows of -1'],
  ] as const)('says what is wrong: %s', async (_, args, code, words) => {
    const ended = await here(...args);
    expect({ code: ended.code, said: ended.stderr.includes(words) }).toEqual({ code, said: true });
  });
});
