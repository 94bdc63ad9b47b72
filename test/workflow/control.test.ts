/** Controls, policies and channels: small values that the engine must recognise. */
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../src/domain/errors/errors.ts';
import { channel } from '../../src/workflow/channel.ts';
import {
  againControl,
  control,
  controlOf,
  gotoControl,
  nextControl,
  terminateControl,
} from '../../src/workflow/control.ts';
import { groupPolicy } from '../../src/workflow/group-policy.ts';
import { demandStep } from '../../src/workflow/pipeline-definition.ts';
import { definitionOf, dynamic } from '../../src/workflow/task-definition.ts';
import { a } from './kit.ts';

const target = demandStep('test', a);

describe('a control', () => {
  it('is told from an output of any shape', () => {
    const outputs = [undefined, null, 1, 'next', [], { control: 'next' }, { next: 1 }, () => 1];
    expect(outputs.map(controlOf)).toEqual(outputs.map(() => undefined));
    expect(controlOf(JSON.parse(JSON.stringify(nextControl(target, 1))))).toBeUndefined();
    expect(controlOf(Object.create(nextControl(target, 1)))).toBeUndefined();
  });

  it('says what comes next, and cannot be changed', () => {
    const controls = [
      nextControl(target, 1),
      gotoControl(target, 2),
      againControl(3),
      terminateControl(4),
    ];
    expect(controls.map(controlOf)).toEqual(controls);
    expect(controls.map((one) => one[control])).toEqual(['next', 'goto', 'again', 'terminate']);
    expect(controls).toMatchObject([
      { step: target, input: 1 },
      { step: target, input: 2 },
      { input: 3 },
      { value: 4 },
    ]);
    expect(controls.every(Object.isFrozen)).toBe(true);
  });
});

describe('a dynamic definition', () => {
  it('is a task that says so, under any name', () => {
    const fn = async (n: number): Promise<number> => n;
    const loop = dynamic('loop', { maxCycles: 3, queue: 'q' }, fn);
    const definition = definitionOf(loop.as('other'));
    expect(definition).toMatchObject({
      type: 'task',
      name: 'other',
      taskName: 'loop',
      dynamic: { maxCycles: 3 },
      options: { queue: 'q' },
      code: { kind: 'function', handler: fn },
    });
    expect(definitionOf(dynamic('plain', fn)).dynamic).toEqual({ maxCycles: 10 });
    expect(definitionOf(a).dynamic).toBeUndefined();
  });

  it('refuses a wrong option, and what is no function', () => {
    expect(() => dynamic('x', { maxCycles: 1.5 }, async () => 1)).toThrow(InvalidOptionError);
    expect(() => dynamic('x', { retries: -1 }, async () => 1)).toThrow(InvalidOptionError);
    expect(() => dynamic('x', {} as never)).toThrow(InvalidOptionError);
  });
});

describe('a policy and a channel', () => {
  it('have a name and a type', () => {
    const decide = (): boolean => true;
    expect(groupPolicy('quorum', decide)).toEqual({ type: 'policy', name: 'quorum', decide });
    expect(channel<{ n: number }>('stats')).toEqual({ type: 'channel', name: 'stats' });
    expect(Object.isFrozen(channel('stats'))).toBe(true);
    expect(() => groupPolicy('no name', decide)).toThrow(InvalidOptionError);
    expect(() => groupPolicy('quorum', 1 as never)).toThrow(InvalidOptionError);
    expect(() => channel('')).toThrow(InvalidOptionError);
  });
});
