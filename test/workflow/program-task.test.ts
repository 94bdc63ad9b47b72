/** Options of tasks that are programs, containers or registered: what is refused, and where. */
import { describe, expect, it } from 'vitest';
import { definitionOf, task } from '../../src/workflow/task-definition.ts';
import { containerFlags } from '../../src/workflow/tasks/container.ts';
import { handlerTask } from '../../src/workflow/tasks/handler-task.ts';
import { processTask } from '../../src/workflow/tasks/module-task.ts';
import { commandTask, containerTask } from '../../src/workflow/tasks/program-task.ts';

const image = 'acme/resize:3';
const digest = `registry:5000/acme/resize@sha256:${'a'.repeat(64)}`;

/** Options of the wrong type are what is tested here. */
type Loose = Parameters<typeof containerTask>[1];

function refusal(make: () => unknown): unknown {
  try {
    make();
    return 'accepted';
  } catch (error) {
    return error;
  }
}

describe('containerTask', () => {
  it.each([image, 'ubuntu', digest, 'localhost:5000/a/b', 'UPPER/case:Tag_1'])(
    'takes %s',
    (one) => {
      expect(containerTask('t', { image: one })).toMatchObject({
        code: { kind: 'container', container: { image: one, engine: 'docker', flags: [] } },
      });
    },
  );

  const flags = ['-v', '--privileged', '-', '--mount=type=bind,source=/,target=/host'];
  it.each([...flags, '', ' acme', 'a b', 'a\nb', 'a;b', '$(id)', 7, undefined, 'a'.repeat(513)])(
    'refuses the image %j: it could be taken for something else',
    (one) => {
      const error = refusal(() => containerTask('t', { image: one } as Loose));
      expect(error).toMatchObject({ code: 'INVALID_OPTION', option: 'task t: image' });
    },
  );

  it.each([
    ['engine', '--host=evil'],
    ['engine', ''],
    ['engine', 'a\0b'],
    ['env', { '-v': 'x' }],
    ['env', { 'A=B': 'x' }],
    ['env', { A: 1 }],
    ['env', { A: 'x\0y' }],
    ['env', ['A']],
    ['passEnv', ['--privileged']],
    ['passEnv', ['A=B']],
    ['passEnv', 'A'],
    ['mounts', {}],
    ['mounts', ['/a:/b']],
    ['mounts', [{ source: '/a,readonly=false', target: '/b' }]],
    ['mounts', [{ source: '/a', target: '/b"' }]],
    ['mounts', [{ source: '/a', target: 'b' }]],
    ['mounts', [{ source: '../a', target: '/b' }]],
    ['mounts', [{ source: '-a', target: '/b' }]],
    ['mounts', [{ source: '/a' }]],
    ['network', '--privileged'],
    ['network', 'container:db'],
    ['memory', '--privileged'],
    ['memory', '1.5g'],
    ['memory', 0],
    ['memory', Number.NaN],
    ['cpus', 0],
    ['cpus', '2'],
    ['cpus', Number.POSITIVE_INFINITY],
    ['engineArgs', '--privileged'],
    ['engineArgs', [1]],
    ['args', 'x'],
    ['args', ['a\0b']],
    ['stdin', 'text'],
    ['stdout', 'yaml'],
  ])('refuses %s: %j', (option, value) => {
    const error = refusal(() => containerTask('t', { image, [option]: value } as Loose));
    expect(error).toMatchObject({ code: 'INVALID_OPTION' });
    expect((error as { option: string }).option).toMatch(new RegExp(`^task t: ${option}\\b`));
  });

  it('puts every value behind its own option, so that none is taken for one', () => {
    const env = { A: '--privileged', B: '' };
    const mounts = [{ source: '/--x', target: '/--y', writable: true }];
    const made = containerFlags('t', { env, mounts, memory: 1024, cpus: 2, network: 'host' });
    expect(made).toEqual([
      ...['--env', 'A=--privileged', '--env', 'B='],
      ...['--mount', 'type=bind,source=/--x,target=/--y'],
      ...['--network', 'host', '--memory', '1024', '--cpus', '2'],
    ]);
  });

  it('keeps a copy of what it was given', () => {
    const args = ['a'];
    const made = definitionOf(containerTask('t', { image, args }));
    args.push('b');
    expect(made.code).toMatchObject({ container: { args: ['a'] } });
  });
});

describe('commandTask', () => {
  it.each([
    ['command', ''],
    ['command', undefined],
    ['command', 'a\0b'],
    ['cwd', ''],
    ['cwd', 7],
    ['env', { 'A B': 'x' }],
    ['env', null],
    ['args', [1]],
    ['stdin', true],
    ['stdout', ''],
  ])('refuses %s: %j', (option, value) => {
    const options = { command: 'true', [option]: value } as Parameters<typeof commandTask>[1];
    const error = refusal(() => commandTask('t', options));
    expect(error).toMatchObject({ code: 'INVALID_OPTION' });
    expect((error as { option: string }).option).toMatch(new RegExp(`^task t: ${option}\\b`));
  });

  it('takes the options of any task', () => {
    const made = commandTask('t', { command: 'true', queue: 'media', retries: 1, cost: 2 });
    expect(definitionOf(made).options).toEqual({ queue: 'media', retries: 1, cost: 2 });
    expect(() => commandTask('t', { command: 'true', retries: -1 })).toThrow('retries');
  });
});

describe('processTask and handlerTask', () => {
  it('refuse what is no module, export or name', () => {
    const module = new URL('file:///x.js');
    const text = 'x.js' as unknown as URL;
    expect(() => processTask('t', { module: text })).toThrow('task t: module');
    const exportName = 7 as unknown as string;
    expect(() => processTask('t', { module, exportName })).toThrow('exportName');
    expect(() => handlerTask('t', { handler: 'a b' })).toThrow('task t: handler');
    expect(() => handlerTask('t', {} as never)).toThrow('task t: handler');
  });

  it('are tasks like any other: named anew, and put together', () => {
    const one = handlerTask<number, string>('one', { handler: 'gpu' }).as('two');
    expect(definitionOf(one)).toMatchObject({ name: 'two', taskName: 'one' });
    const pipeline = one.pipe(task('next', (text: string) => text));
    expect(pipeline.type).toBe('pipeline');
  });
});
