/** Names of the ancestors: each is met with what it is here, by one list. */
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { renderForeign } from '../../scripts/docs/foreign-doc.ts';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { FOREIGN_NAMES } from '../../src/base/foreign-names.ts';
import { programOf } from '../../src/cli/program.ts';
import { Fairloom } from '../../src/client/client.ts';
import { loadConfig } from '../../src/config/load.ts';
import { fairloomHere } from '../support/cli-here.ts';
import { read } from '../support/files.ts';

const of = (kind: string) => FOREIGN_NAMES.filter((one) => one.kind === kind);

// F144
describe('names of ancestors', () => {
  it.each(of('flag'))('$name of $of, on the command line', async ({ name, ours }) => {
    const { code, stderr } = await fairloomHere(['worker', 'tasks.mjs', name, '1']);
    expect(code).toBe(2);
    expect(stderr).toContain(ours);
  });

  it.each(of('config'))('$name of $of, in a configuration', async ({ name, ours }) => {
    const load = loadConfig({ env: {}, overrides: { worker: { [name]: 1 } } as object });
    await expect(load).rejects.toThrow(ours);
  });

  it.each(of('code'))('$name of $of, in a call', async ({ name, ours }) => {
    const loom = new Fairloom({ backend: memory(), logLevel: 'silent' });
    const call = async () => loom.enqueueByName('t', 1, { [name]: 1 });
    await expect(call()).rejects.toThrow(ours);
    await loom.close();
  });

  it('are no names of ours, and stand in the guide as they are', () => {
    const flags = new Set<string>();
    const walk = (command: ReturnType<typeof programOf>): void => {
      for (const { long } of command.options) if (long) flags.add(long);
      for (const child of command.commands) walk(child);
    };
    const shell = { out: process.stdout, err: process.stderr, stdin: Readable.from([]) };
    walk(programOf({ ...shell, env: {}, exitCode: 0 }));
    expect(of('flag').filter(({ name }) => flags.has(name))).toEqual([]);
    const page = read('docs/guide/coming-from.md');
    expect(renderForeign(page)).toBe(page);
  });
});
