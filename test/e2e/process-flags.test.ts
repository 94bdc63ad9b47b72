/** Hosts of handlers, whose program was started with flags. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { ROOT, runProcess } from '../support/processes/run-process.ts';

const HANDLERS = pathToFileURL(join(ROOT, 'test/fixtures/flag-handlers.mjs')).href;

const USE = `
  const handler = { module: new URL(${JSON.stringify(HANDLERS)}), exportName: 'flags' };
  const inThread = threadTask('in-thread', handler);
  const inProcess = processTask('in-process', handler);
  const loom = new Fairloom({ backend: memory(), tasks: [inThread, inProcess], log: silentLogger });
  const told = [await loom.run(inThread), await loom.run(inProcess)];
  await loom.close();
  console.log(JSON.stringify(told));
`;
const NAMES = '{ Fairloom, memory, processTask, silentLogger, threadTask }';
const MODULE = `import ${NAMES} from 'fairloom';${USE}`;
const SCRIPT = `import('fairloom').then(async (${NAMES}) => {${USE}});`;

interface Start {
  /** Before `-e`. */
  readonly args?: readonly string[];
  readonly options?: string;
  /** What it is read as. */
  readonly code: string;
  /** Flags of the hosts: of a thread, of a process. */
  readonly kept?: readonly [readonly string[], readonly string[]];
}

const NONE = [[], []] as const;

/** Newer versions of Node have it no more. */
const DEFAULT_TYPE = '--experimental-default-type';
const hasDefaultType = process.allowedNodeEnvironmentFlags.has(DEFAULT_TYPE);

const STARTS: readonly Start[] = [
  { args: ['--input-type=module'], code: MODULE },
  { args: ['--input-type', 'module'], code: MODULE },
  { args: ['--input-type=commonjs'], code: SCRIPT },
  { options: '--input-type=module', code: MODULE },
  {
    args: ['--conditions=kept', '--input-type=module'],
    code: MODULE,
    kept: [['--conditions=kept'], ['--conditions=kept']],
  },
  // A thread cannot be given a limit of the whole process, and inherits all flags.
  {
    args: ['--max-old-space-size=200', '--input-type=module'],
    code: MODULE,
    kept: [['--max-old-space-size=200', '--input-type=module'], ['--max-old-space-size=200']],
  },
  ...(hasDefaultType
    ? [
        { args: [`${DEFAULT_TYPE}=module`], code: MODULE },
        { args: [DEFAULT_TYPE, 'module'], code: MODULE },
        { options: `${DEFAULT_TYPE}=module`, code: MODULE },
      ]
    : []),
];

for (const { args = [], options, code, kept = NONE } of STARTS) {
  const how = options === undefined ? args.join(' ') : `NODE_OPTIONS=${options}`;
  // F17
  it(`threads and processes run handlers of a program under ${how}`, async () => {
    const {
      code: exit,
      stdout,
      stderr,
    } = await runProcess(process.execPath, [...args, '-e', code], {
      cwd: ROOT,
      env: { NODE_OPTIONS: options },
    });
    expect({ exit, said: stderr }).toEqual({ exit: 0, said: '' });
    expect(JSON.parse(stdout)).toEqual(kept);
  });
}
