/** What callers hand in beside inputs: an option that there is not is refused, wherever it stands. */
import { type Fairloom, InvalidOptionError, task } from 'fairloom';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { embedded, type Harness } from '../../support/backends.ts';
import { line, optionCases, plainTask } from '../../support/docs/option-calls.ts';

/** What a call throws or rejects with. */
async function thrownBy(act: () => unknown): Promise<unknown> {
  try {
    await act();
  } catch (error) {
    return error;
  }
  return undefined;
}

const NAMES = Object.entries(optionCases({} as never)).flatMap(([type, { calls }]) =>
  Object.keys(calls).map((name) => [type, name] as const),
);

embedded((open) => {
  let harness: Harness;

  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness.close());

  // F26
  it.each(NAMES)('%s: %s refuses an option that there is not', async (type, name) => {
    const loom = harness.loom([plainTask, line]);
    const { valid, calls, at = (options) => options } = optionCases(loom)[type] ?? never();
    const act = calls[name] ?? never();
    for (const value of [1, undefined]) {
      const options = at({ ...valid, zzz: value });
      const error = await thrownBy(() => act(options as never));
      expect(error).toBeInstanceOf(InvalidOptionError);
      expect(error).toMatchObject({ message: expect.stringContaining('there is no option "zzz"') });
      expect((error as InvalidOptionError).option).toMatch(/(^|\.)zzz$/);
    }
    for (const none of [null, 5, 'text', [1], Symbol('s')]) {
      const error = await thrownBy(() => act(at(none as never) as never));
      expect(error).toBeInstanceOf(InvalidOptionError);
    }
  });

  it('options may be of a class, and stand behind an accessor', async () => {
    const loom = harness.loom([plainTask]);
    class Options {
      readonly user = 'acme';
      get delay(): number {
        return 60_000;
      }
    }
    await loom.enqueue(plainTask, 1, new Options());
    expect(await loom.tasks.counts()).toMatchObject({ queued: 0, scheduled: 1 });
  });

  // F26
  describe('a misspelled option', () => {
    it.each([
      ['usr', 'user', { usr: 'acme' }],
      ['dellay', 'delay', { dellay: 5 }],
      ['retry', 'retries', { retry: 3 }],
      ['tenant', 'user', { tenant: 'a' }],
      ['Priority', 'priority', { Priority: 'high' }],
    ])('%s means %s', async (option, meant, options) => {
      const loom = harness.loom([plainTask]);
      const error = await thrownBy(() => loom.enqueue(plainTask, 1, options as never));
      expect(error).toMatchObject({
        option,
        expected: `"${meant}"`,
        message: `enqueue: there is no option "${option}"; did you mean "${meant}"?`,
      });
      expect(await loom.tasks.counts()).toMatchObject({ queued: 0, scheduled: 0 });
    });

    it('is named with its place', async () => {
      const loom = harness.loom([plainTask]);
      const options = { rate: { limt: 5, per: '1s' } };
      expect(await thrownBy(() => loom.users.set('u', options as never))).toMatchObject({
        option: 'rate.limt',
        message: 'rate: there is no option "limt"; did you mean "limit"?',
      });
    });

    it('says which there are when none is near', async () => {
      const loom = harness.loom([plainTask]);
      const error = await thrownBy(() => loom.run(plainTask, 1, { maxTurns: 3 } as never));
      expect(error).toMatchObject({
        message: 'run: there is no option "maxTurns"; there are user, signal, maxSteps, startAt',
      });
    });

    it('may be inherited, or of a class; what all objects have is no option', async () => {
      const loom = harness.loom([plainTask]);
      class Options {
        usr = 'acme';
      }
      for (const options of [Object.create({ usr: 'acme' }), new Options()]) {
        expect(await thrownBy(() => loom.enqueue(plainTask, 1, options))).toMatchObject({
          option: 'usr',
        });
      }
      expect(await loom.enqueue(plainTask, 1, Object.create({ user: 'acme' }))).toBeDefined();
      const bare = Object.assign(Object.create(null), { user: 'acme' });
      expect(await loom.enqueue(plainTask, 1, bare)).toBeDefined();
    });

    it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
      'may be %s',
      async (key) => {
        const loom = harness.loom([plainTask]);
        const options = JSON.parse(`{ "${key}": 1 }`);
        expect(await thrownBy(() => loom.enqueue(plainTask, 1, options))).toMatchObject({
          option: key,
        });
      },
    );
  });
});

/** Values that name no option, or no known one. */
const NOBODY: readonly (readonly [string, unknown])[] = [
  ['nothing', undefined],
  ['null', null],
  ['an id', 'id'],
  ['a list of ids', ['id']],
  ['an empty object', {}],
  ['a limit alone', { limit: 5 }],
  ['a misspelled user', { usr: 'z' }],
  ['a user that is not set', { user: undefined }],
  ['fields that are not set', { user: undefined, queue: undefined, name: undefined }],
  ['all beside a user', { all: true, user: 'a' }],
  ['all: false', { all: false }],
  ['all: 1', { all: 1 }],
  ['a user that is null', { user: null }],
  ['a user that is empty', { user: '' }],
  ['a list as user', { user: ['a'] }],
];

embedded((open) => {
  // F62
  describe('a change of many', () => {
    const failing = task('failing', { retries: 0 }, async () => {
      throw new RangeError('no');
    });
    let harness: Harness;
    let loom: Fairloom;

    beforeEach(async () => {
      harness = await open();
      loom = harness.loom([failing]);
      await loom.worker().start();
      for (const user of ['a', 'a', 'b']) {
        const handle = await loom.enqueue(failing, undefined, { user });
        await handle.result().catch(() => undefined);
      }
    });
    afterEach(() => harness.close());

    it.each(NOBODY)('that means %s is refused, and changes nothing', async (_, which) => {
      for (const change of ['remove', 'redrive'] as const) {
        const error = await thrownBy(() => loom.dead[change](which as never));
        expect(error).toBeInstanceOf(InvalidOptionError);
      }
      expect((await loom.tasks.counts()).failed).toBe(3);
    });

    it('means a user, a queue, a name, or all', async () => {
      expect(await loom.dead.remove({ user: 'b' })).toMatchObject({ changed: 1 });
      expect(await loom.dead.remove({ queue: 'other' })).toMatchObject({ changed: 0 });
      expect(await loom.dead.remove({ name: 'failing', limit: 1 })).toMatchObject({ more: true });
      expect(await loom.dead.remove({ all: true })).toMatchObject({ changed: 1, more: false });
      expect((await loom.tasks.counts()).failed).toBe(0);
    });
  });
});

function never(): never {
  throw new Error('not in the table');
}
