/** What the pages show works: code blocks compile, and run against the build. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  beyondFailures,
  blocksOf,
  type DocBlock,
  docPages,
  printsOf,
} from '../support/docs/doc-blocks.ts';
import { type DocProject, docProject } from '../support/docs/doc-project.ts';
import { type RedisServer, startRedis } from '../support/redis/redis-server.ts';

const LANGUAGES = ['js', 'ts', 'sh', 'yaml', 'mermaid', 'text'];

/** Whether a block is on Redis, by name or by its configuration. */
const isOnRedis = ({ text }: DocBlock): boolean => /fairloom\/(redis|config)/.test(text);

const pages = docPages();
const code = (page: string): readonly DocBlock[] =>
  blocksOf(page).filter(({ language }) => language === 'js' || language === 'ts');

describe('code blocks', () => {
  it('say in which language they are, and as which file they run', () => {
    const unclear = pages
      .flatMap(blocksOf)
      .filter(({ language, file }) => {
        if (!LANGUAGES.includes(language)) return true;
        return (language === 'js' || language === 'ts') && file === undefined;
      })
      .map(({ page, line }) => `${page}:${line}`);
    expect(unclear).toEqual([]);
  });
});

describe.each(pages.filter((page) => code(page).length > 0))('%s', (page) => {
  const blocks = code(page);
  const files = blocksOf(page).filter(({ file }) => file !== undefined);
  let project: DocProject;
  let server: RedisServer | undefined;
  const env = (): Readonly<Record<string, string>> => ({
    REDIS_URL: server?.url ?? '',
    // The layer's own server, which would go before what the page says.
    FAIRLOOM_REDIS_URL: '',
  });

  beforeAll(async () => {
    project = docProject(files);
    // Readers use the default prefix, so they get a server of their own, without its warning.
    if (blocks.some(isOnRedis)) {
      server = await startRedis({ args: ['--appendonly', 'yes'] });
    }
  });

  afterAll(async () => {
    project.remove();
    await server?.stop();
  });

  it('compiles', async () => {
    expect(await project.compile()).toBe('');
  });

  const workers = blocks.filter(({ text }) => text.includes('.serve('));
  const scripts = blocks.filter(
    ({ text, file }) => /^await \w+\.close\(/m.test(text) || file?.endsWith('.test.ts') === true,
  );

  it.each(scripts.map((block) => [block.file ?? '', block] as const))(
    '%s does what it says',
    async (file, block) => {
      const waits = isOnRedis(block) && block.text.includes('.result(');
      const running = waits ? workers.map((worker) => project.start(worker.file ?? '', env())) : [];
      const { code: exitCode, stdout, stderr } = await project.run(file, env());
      const exits = running.map((worker) => once(worker, 'exit'));
      for (const worker of running) worker.kill('SIGTERM');
      const codes = (await Promise.all(exits)).map(([exit]) => exit);
      expect({ exitCode, codes, stderr: beyondFailures(stderr) }).toEqual({
        exitCode: 0,
        codes: running.map(() => 0),
        stderr: '',
      });
      const printed = stdout.trimEnd().split('\n');
      if (!file.endsWith('.test.ts')) expect(printed.filter(Boolean)).toEqual(printsOf(block));
    },
  );
});
