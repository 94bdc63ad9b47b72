/** What reads or writes the files of a data folder by itself, beside each kind of process that may have it open. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { differences } from '../../support/docs/documented-output.ts';
import { type Ended, fairloom, ROOT } from '../../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../../support/processes/worker-process.ts';

const TASKS = join(ROOT, 'test/fixtures/cli/tasks.mjs');
const PREFIX = `maintenance-${process.pid}`;

const root = mkdtempSync(join(tmpdir(), 'fairloom-maintenance-'));
const processes: WorkerProcess[] = [];

afterAll(async () => {
  await Promise.all(processes.map((process) => process.end('SIGKILL')));
  rmSync(root, { recursive: true, force: true });
  const client = new Redis(inject('redisUrl'));
  const keys = await client.keys(`${PREFIX}*`);
  if (keys.length > 0) await client.unlink(...keys);
  client.disconnect();
});

const run = (args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> =>
  fairloom(args, { cwd: root, env });

async function started(...args: readonly string[]): Promise<WorkerProcess> {
  const process = await startWorker(args, 'working', { cwd: root });
  processes.push(process);
  return process;
}

/** A folder that was closed in order, with a task that has ended. */
const closed = join(root, 'closed');
/** The same, whose owner was killed: its socket is there. */
const dead = join(root, 'dead');
/** A folder whose owner works on a task. */
const open = join(root, 'open');
const gate = join(root, 'gate');
let owner: WorkerProcess;

/** Has a folder open, and is no worker. */
const HOLDER = `
  import { file } from ${JSON.stringify(join(ROOT, 'dist/file.js'))};
  const backend = file(process.argv[2]);
  await backend.inspect.ping();
  console.error('open');
  setInterval(() => undefined, 1_000);
`;

/** With sockets, which are not open. */
function copyOf(folder: string): string {
  const copy = mkdtempSync(join(root, 'copy-'));
  execFileSync('cp', ['-a', `${folder}/.`, copy]);
  return copy;
}

const socketsOf = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => /^(?:owner|claim)-/.test(name));

/** All files, and what is in them. */
const filesOf = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder).map((name) => {
      const path = join(folder, name);
      return [name, statSync(path).isFile() ? readFileSync(path, 'base64') : ''];
    }),
  );

beforeAll(async () => {
  const worker = await started('worker', TASKS, '--data', closed);
  await run(['enqueue', 'double', '4', '--id', 'done', '--wait', '60s', '--data', closed]);
  await worker.end('SIGTERM');
  execFileSync('cp', ['-a', closed, dead]);
  const holder = join(root, 'holder.mjs');
  writeFileSync(holder, HOLDER);
  const killed = await startWorker([dead], 'open', { bin: holder });
  await killed.end('SIGKILL');
  await run(['enqueue', 'double', '4', '--redis', inject('redisUrl'), '--prefix', PREFIX]);
  owner = await started('worker', TASKS, '--lease', '10m', '--data', open);
  await run(['enqueue', 'gated', JSON.stringify(gate), '--id', 'gated', '--data', open]);
  const isStarted = async (): Promise<boolean> =>
    (await run(['tasks', 'get', 'gated', '-o', 'json', '--data', open])).stdout.includes(
      '"started"',
    );
  await vi.waitUntil(isStarted, { timeout: UNTIL_MS });
  await owned(open);
});

/** Until a process that goes on has the folder open: the commands of before have ended. Answers its segment of the log. */
async function owned(folder: string): Promise<string> {
  const segment = (): string | undefined => {
    const [epoch = ''] = socketsOf(folder).map((name) => name.slice('owner-'.length));
    return readdirSync(folder).find((name) => name.startsWith(`log-${epoch}-`));
  };
  return vi.waitUntil(segment, { timeout: UNTIL_MS });
}

/** How long something may take on a machine that is busy, in ms. */
const UNTIL_MS = 300_000;

/** Who has the folder open. */
type OwnerKind = 'nobody' | 'answers' | 'frozen' | 'dead';

/** How a command ends, by exit code and what it says. */
type Cell = readonly [code: number | null, says: string];

/** A command on a folder; the place is another one, for what it needs beside that. */
interface Row {
  readonly args: (folder: string, place: string) => readonly string[];
  /** Whether the place has data. */
  readonly fromData?: boolean;
  readonly cells: Readonly<Record<OwnerKind, Cell>>;
}

const COPIED: Cell = [0, 'copied '];
const OPEN: Cell = [6, 'is open in another process: stop it'];
const SILENT: Cell = [6, 'is open in another process, which does not answer: stop it'];
const FULL: Cell = [6, 'the target is not empty'];
const WELL: Cell = [0, 'records and their indexes agree'];
const LOOKED: Cell = [
  6,
  'only the files were looked at: another process has the folder open, and does not answer',
];

const COPIES = { nobody: COPIED, answers: OPEN, frozen: SILENT, dead: COPIED };
const REDIS = (): readonly string[] => ['--to', inject('redisUrl')];

const ROWS: Readonly<Record<string, Row>> = {
  'a copy out of it': {
    args: (folder, place) => ['copy', '--from', folder, '--to', place],
    cells: COPIES,
  },
  'a copy out of it, by force': {
    args: (folder, place) => ['copy', '--from', folder, '--to', place, '--force'],
    cells: COPIES,
  },
  'a copy to Redis, by force': {
    args: (folder, place) => [
      ...['copy', '--from', folder, ...REDIS(), '--force'],
      ...['--to-prefix', `${PREFIX}-${place.split('-').at(-1)}`],
    ],
    cells: COPIES,
  },
  'a copy into it': {
    args: (folder, place) => ['copy', '--from', place, '--to', folder],
    fromData: true,
    cells: { nobody: FULL, answers: OPEN, frozen: SILENT, dead: FULL },
  },
  'a copy into it, by force': {
    args: (folder, place) => ['copy', '--from', place, '--to', folder, '--force'],
    fromData: true,
    cells: { nobody: FULL, answers: OPEN, frozen: SILENT, dead: FULL },
  },
  'a copy over it': {
    args: (folder, place) => ['copy', '--from', place, '--to', folder, '--overwrite'],
    fromData: true,
    cells: COPIES,
  },
  'a copy over it, by force': {
    args: (folder, place) => ['copy', '--from', place, '--to', folder, '--overwrite', '--force'],
    fromData: true,
    cells: COPIES,
  },
  'a copy of Redis over it, by force': {
    args: (folder) => [
      ...['copy', '--from', inject('redisUrl'), '--prefix', PREFIX],
      ...['--to', folder, '--overwrite', '--force'],
    ],
    cells: COPIES,
  },
  doctor: {
    args: (folder) => ['doctor', '--data', folder],
    cells: { nobody: WELL, answers: WELL, frozen: LOOKED, dead: WELL },
  },
  'doctor --repair': {
    args: (folder) => ['doctor', '--repair', '--data', folder],
    cells: { nobody: WELL, answers: WELL, frozen: LOOKED, dead: WELL },
  },
};

async function cellsOf(
  kind: OwnerKind,
  folderOf: () => string,
): Promise<Readonly<Record<string, Cell>>> {
  const cells = Object.entries(ROWS).map(async ([name, { args, fromData = false, cells }]) => {
    const place = fromData ? copyOf(closed) : mkdtempSync(join(root, 'place-'));
    const { code, stdout, stderr } = await run(args(folderOf(), place));
    const [, says] = cells[kind];
    const said = `${stdout}${stderr}`;
    return [name, [code, said.includes(says) ? says : said]] as const;
  });
  return Object.fromEntries(await Promise.all(cells));
}

const expected = (kind: OwnerKind): Readonly<Record<string, Cell>> =>
  Object.fromEntries(Object.entries(ROWS).map(([name, { cells }]) => [name, cells[kind]]));

describe('maintenance', () => {
  it('is done on a folder without an owner', async () => {
    expect(await cellsOf('nobody', () => copyOf(closed))).toEqual(expected('nobody'));
  });

  it('is done on a folder whose owner is dead', async () => {
    expect(socketsOf(dead)).toHaveLength(1);
    expect(await cellsOf('dead', () => copyOf(dead))).toEqual(expected('dead'));
  });

  // F95
  it('of files is refused while their owner answers, and doctor asks that', async () => {
    const sockets = socketsOf(open);
    expect(sockets).toHaveLength(1);
    expect(await cellsOf('answers', () => open)).toEqual(expected('answers'));
    expect(socketsOf(open)).toEqual(sockets);
  });

  // F95
  it('is refused while their owner lives and does not answer; that goes on with what it had in hand', async () => {
    owner.signal('SIGSTOP');
    const sockets = socketsOf(open);
    const files = filesOf(open);
    expect(await cellsOf('frozen', () => open)).toEqual(expected('frozen'));
    const { stdout } = await run(['doctor', '-o', 'json', '--data', open]);
    const diagnosis: unknown = JSON.parse(stdout);
    expect(differences(diagnosis, 'Diagnosis')).toEqual([]);
    expect(diagnosis).toMatchObject({
      checks: [{ check: 'data' }, { check: 'commits', verdict: 'ok' }, { check: 'backend' }],
      data: { isOpen: true, damage: [], refusal: { kind: 'silent' } },
    });
    expect(filesOf(open)).toEqual(files);
    owner.signal('SIGCONT');
    writeFileSync(gate, '');
    const gated = async (): Promise<unknown> =>
      JSON.parse((await run(['tasks', 'get', 'gated', '-o', 'json', '--data', open])).stdout);
    await expect
      .poll(gated)
      .toMatchObject({ state: 'finished', attempts: [{ decision: 'finish' }] });
    expect(socketsOf(open)).toEqual(sockets);
  });

  // F95
  it('repairs a damaged folder of a frozen owner only when that is dead', async () => {
    const folder = copyOf(closed);
    const frozen = await started('worker', TASKS, '--data', folder);
    const name = await owned(folder);
    await run(['enqueue', 'double', '4', '--id', 'next', '--wait', '60s', '--data', folder]);
    frozen.signal('SIGSTOP');
    const path = join(folder, name);
    const bytes = readFileSync(path);
    const at = bytes.indexOf('"next"');
    expect(at).toBeGreaterThan(0);
    writeFileSync(path, bytes.fill(0xff, at, at + 4));
    const files = filesOf(folder);
    const refused = await run(['doctor', '--repair', '--data', folder]);
    expect(refused).toMatchObject({ code: 6, stdout: expect.stringContaining(name) });
    expect(filesOf(folder)).toEqual(files);
    await frozen.end('SIGKILL');
    const repaired = await run(['doctor', '--repair', '--data', folder]);
    expect(repaired.stdout).toContain('warning  repaired: ');
  });
});

/** Lets calls of the file system or the network of a process fail. */
const failing = (code: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
});

const READ_ONLY = failing(`
  import net from 'node:net';
  net.Server.prototype.listen = function () {
    const error = new Error('listen EROFS: read-only file system');
    process.nextTick(() => this.emit('error', Object.assign(error, { code: 'EROFS', syscall: 'listen' })));
    return this;
  };
`);

const FULL_DISK = failing(`
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const full = () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });
  const { write, writeSync } = fs;
  fs.write = (fd, ...rest) => (fd > 2 ? rest.at(-1)(full()) : write(fd, ...rest));
  fs.writeSync = (fd, ...rest) => {
    if (fd > 2) throw full();
    return writeSync(fd, ...rest);
  };
  syncBuiltinESMExports();
`);

describe('doctor says what the files tell, and then why they cannot be opened,', () => {
  it('where the file system is read-only; and a copy says that it needs a lock', async () => {
    const folder = copyOf(closed);
    const files = filesOf(folder);
    const why = `${folder} cannot be locked: its file system is read-only (EROFS)`;
    for (const more of [[], ['--repair']]) {
      const { code, stdout } = await run(['doctor', ...more, '--data', folder], READ_ONLY);
      expect(code).toBe(4);
      expect(stdout).toMatch(/^ok {2}.*\nok {2}every commit is there\nfailed {2}only the files/);
      expect(stdout).toContain(why);
    }
    const to = join(root, 'nothing');
    const copied = await run(['copy', '--from', folder, '--to', to], READ_ONLY);
    expect(copied).toMatchObject({ code: 4, stderr: expect.stringContaining(why) });
    expect(existsSync(to)).toBe(false);
    expect(filesOf(folder)).toEqual(files);
  });

  it('where the disk is full', async () => {
    const folder = copyOf(closed);
    const { code, stdout } = await run(['doctor', '--data', folder], FULL_DISK);
    expect(code).toBe(6);
    expect(stdout).toMatch(/^ok {2}.*\nok {2}every commit is there\nfailed {2}only the files/);
    expect(stdout).toContain('the backend takes no new work (the disk of the data folder is full)');
    expect((await run(['doctor', '--data', folder])).code).toBe(0);
  });

  it('where a repair has no room', async () => {
    const folder = copyOf(dead);
    const state = readdirSync(folder).filter((name) => name.startsWith('state-'));
    for (const name of state) writeFileSync(join(folder, name), 'no snapshot');
    const { code, stdout } = await run(['doctor', '--repair', '--data', folder], FULL_DISK);
    expect(code).toBe(4);
    expect(stdout).toContain('ENOSPC');
    expect(stdout).toMatch(/^warning {2}/m);
    const repaired = await run(['doctor', '--repair', '--data', folder]);
    expect(repaired.stdout).toContain('warning  repaired: ');
  });
});

it('a folder that cannot be made is refused at once', async () => {
  for (const folder of ['/proc/x', '/proc/x/y', '/dev/null/x']) {
    expect(await run(['status', '--data', folder])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(folder.slice(0, 7)),
    });
    const into = await run(['copy', '--from', copyOf(closed), '--to', folder]);
    expect(into).toMatchObject({ code: 4, stderr: expect.stringContaining('copy: ') });
  }
});
