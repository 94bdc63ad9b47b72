/**
 * The path of a newcomer: docs/guide/tutorial.md from its first line to its last, in an empty folder with
 * the packed tarball. The page is the script; a `text` block after a shell block is what it prints.
 */
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beyondFailures, blocksOf, type DocBlock, printsOf } from '../support/docs/doc-blocks.ts';
import { read } from '../support/files.ts';
import { type Consumer, installPacked } from '../support/processes/consumer.ts';
import { type Ended, runProcess } from '../support/processes/run-process.ts';
import { onTerminal } from '../support/processes/terminal.ts';
import { startWorker, type WorkerProcess } from '../support/processes/worker-process.ts';
import { type RedisServer, startRedis } from '../support/redis/redis-server.ts';

const PAGE = 'docs/guide/tutorial.md';
/** The server of the page. */
const SERVER = 'redis://localhost:6379';

const blocks = blocksOf(PAGE);
const shell = blocks.filter(({ language }) => language === 'sh');
const steps = blocks.filter(({ file }) => /^step-\d\.mjs$/.test(file ?? ''));
/** Those that begin in memory. */
const embedded = steps.filter(({ text }) => text.includes('memory()'));

let consumer: Consumer;
let server: RedisServer;
/** What the page exports, and nothing of the layer's own. */
const variables: Record<string, string | undefined> = {};
const workers: WorkerProcess[] = [];

beforeAll(async () => {
  server = await startRedis({ args: ['--appendonly', 'yes'] });
  consumer = await installPacked(['ioredis']);
  for (const { file, text } of blocks) if (file !== undefined) consumer.write(file, text);
  const path = [join(consumer.folder, 'node_modules/.bin'), dirname(process.execPath)];
  variables['PATH'] = [...path, process.env['PATH']].join(delimiter);
  variables['FAIRLOOM_REDIS_URL'] = undefined;
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
  await server?.stop();
  consumer?.remove();
});

describe('the tutorial', () => {
  it('installs, works, explains, redrives, schedules and looks on', () => {
    const commands = shell.flatMap(({ text }) => text.split('\n'));
    const path = [
      ...['npm install fairloom', 'npm install ioredis', 'node shop', 'npx fairloom tasks explain'],
      ...['npx fairloom worker', 'npx fairloom worker', 'npx fairloom dead list'],
      ...['npx fairloom dead redrive', 'npx fairloom schedules set', 'npx fairloom top'],
    ];
    const taken = path.filter((step) => {
      const at = commands.findIndex((command) => command.startsWith(step));
      return at !== -1 && commands.splice(0, at + 1).length > 0;
    });
    expect(taken).toEqual(path);
  });

  it.each(embedded.map((step) => [step.file ?? '', step] as const))(
    '%s runs embedded, and on Redis with one other line',
    async (file, step) => {
      const [old = '', fresh = ''] = oneLine();
      const onRedis = `import { redis } from 'fairloom/redis';\n${step.text.replace(old, fresh)}`;
      expect(onRedis).toContain(fresh);
      consumer.write('on-redis.mjs', onRedis);
      const printed = { code: 0, stdout: `${printsOf(step).join('\n')}\n`, stderr: '' };
      const told = async (command: string): Promise<object> => {
        const ended = await sh(command);
        return { ...ended, stderr: beyondFailures(ended.stderr) };
      };
      expect(await told(`node ${file}`)).toEqual(printed);
      // A database for each step: the page goes on with an empty one.
      const url = `${server.url}/${embedded.indexOf(step) + 1}`;
      expect(await told(`REDIS_URL=${url} node on-redis.mjs`)).toEqual(printed);
    },
  );

  it('the step on a data folder runs as often as one likes, and its tasks are there afterwards', async () => {
    const [step, ...others] = steps.filter((one) => !embedded.includes(one));
    expect({ file: step?.file, others }).toEqual({ file: 'step-5.mjs', others: [] });
    const printed = { code: 0, stdout: 'false\nprinted lighthouse.png\n', stderr: '' };
    for (let time = 0; time < 2; time++) expect(await sh('node step-5.mjs')).toEqual(printed);
    const shown = /`npx (fairloom tasks list [^`]*--data [^`]*)`/.exec(read(PAGE))?.[1] ?? '';
    expect(await sh(shown)).toMatchObject({ code: 0, stdout: expect.stringContaining('poster-1') });
  });

  it('is what the commands do', async () => {
    for (const block of shell) await follow(block);
    expect(workers).toHaveLength(2);
    const ended = await Promise.all(workers.splice(0).map((worker) => worker.end('SIGTERM')));
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    const { stdout } = await sh('fairloom tasks list --all --values -o json');
    const tasks: readonly { readonly input: string; readonly state: string }[] = JSON.parse(stdout);
    expect(tasks.map(({ input, state }) => `${input} ${state}`).toSorted()).toEqual([
      'flyer.png finished',
      'flyer.png finished',
      'globe.png finished',
      'lighthouse.png finished',
      'map.png finished',
    ]);
  });
});

/** What the page says is the one line: before and after. */
function oneLine(): readonly (string | undefined)[] {
  const change = blocks.find(({ language, text }) => language === 'text' && /^- /.test(text));
  const [before = '', after = ''] = change?.text.split('\n').map((line) => line.slice(2)) ?? [];
  const backend = /backend: \w+\([^)]*\)/;
  expect(after.replace(backend, '')).toBe(before.replace(backend, ''));
  return [before, after].map((line) => backend.exec(line)?.[0]);
}

/** The commands of one block in order; the last one shows what the page shows. */
async function follow(block: DocBlock): Promise<void> {
  const where = `${block.page}:${block.line}`;
  const next = blocks[blocks.indexOf(block) + 1];
  const shown = next?.language === 'text' ? next.text : undefined;
  let printed = '';
  const commands = block.text.trimEnd().split('\n');
  for (const command of commands) {
    if (command === commands.at(-1) && shown !== undefined && onlyLooks(command)) {
      const all = async (): Promise<string> => shape(printed + (await ok(command, where)));
      await expect.poll(all, { message: where }).toBe(shape(shown));
      return;
    }
    if (command.startsWith('npx fairloom top')) return lookOn(command, shown ?? '');
    printed += await ok(command, where);
  }
  if (shown !== undefined) expect(shape(printed), where).toBe(shape(shown));
}

/** Does one command as a reader would; what it prints. */
async function ok(command: string, where: string): Promise<string> {
  const words = command.split(' ');
  const [, variable, value = ''] = /^export (\w+)=(.*)$/.exec(command) ?? [];
  if (variable !== undefined) {
    variables[variable] = value.replace(SERVER, server.url);
    return '';
  }
  if (command.startsWith('npm install ')) {
    // Done offline, from the tarball and from what lies beside us.
    expect(existsSync(join(consumer.folder, 'node_modules', words.at(-1) ?? ''))).toBe(true);
    return '';
  }
  if (command.startsWith('npx fairloom worker ')) {
    const place = { bin: bin(), cwd: consumer.folder, env: variables };
    workers.push(await startWorker(words.slice(2), 'working', place));
    return '';
  }
  const { code, stdout, stderr } = await sh(command.replace(/^npx /, ''));
  const why = code === 0 ? '' : stderr;
  expect({ command, code, why }, where).toEqual({ command, code: 0, why: '' });
  return stdout;
}

async function lookOn(command: string, shown: string): Promise<void> {
  const words = [process.execPath, bin(), ...command.split(' ').slice(2)];
  const top = onTerminal(words, { cwd: consumer.folder, env: variables });
  const lines = shown.split('\n').filter((line) => line !== '');
  // What was measured by then may be there already.
  const literally = lines.map((line) =>
    line
      .trim()
      .replaceAll(/[^\w ]/g, '\\$&')
      .replaceAll(/ +/g, ' +')
      .replaceAll('\\–', '(?:–|[\\d.]+ ?\\w+)'),
  );
  // Later frames say after the first line how fast it goes.
  await top.shows(new RegExp(literally.join('[^\\n]*\\s+')));
  top.press('q');
  expect(await top.ended).toMatchObject({ code: 0 });
}

/** Whether it may be repeated: it changes nothing. */
function onlyLooks(command: string): boolean {
  return /^npx fairloom \w+ (?:list|get|explain)\b/.test(command);
}

/** Without what differs from run to run: lengths of time, and the widths that follow them. */
function shape(text: string): string {
  return text
    .replaceAll(/\b[\d.]+ ?(?:ms|s) ago\b/g, 'ago')
    .replaceAll(/ +/g, ' ')
    .trimEnd();
}

/** The command of the installed package, which `npx` would find. */
function bin(): string {
  return join(consumer.folder, 'node_modules/.bin/fairloom');
}

function sh(command: string): Promise<Ended> {
  return runProcess('sh', ['-c', command], { cwd: consumer.folder, env: variables });
}
