/** What holds for every option and argument of every command, walked over the whole tree of commands. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Argument, Command, Option } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import { programOf } from '../../../src/cli/program.ts';
import { isRepeatable } from '../../../src/cli/terminal/strict-options.ts';
import { fairloomHere } from '../../support/cli-here.ts';

/** An option with the words that lead to its command. */
interface Place {
  readonly path: readonly string[];
  readonly option: Option;
}

const PROGRAM = programOf({
  ...{ out: process.stdout, err: process.stderr, stdin: Readable.from([]) },
  ...{ env: {}, exitCode: 0 },
});
const VALUES = placesOf(PROGRAM, []).filter(({ option }) => option.required || option.optional);

function placesOf(command: Command, path: readonly string[]): readonly Place[] {
  const own = command.options.map((option) => ({ path, option }));
  return [...own, ...command.commands.flatMap((one) => placesOf(one, [...path, one.name()]))];
}

function flagOf({ long, short }: Option): string {
  return long ?? short ?? '';
}

/** A value that the option takes. */
function someValueOf({ argChoices, parseArg }: Option): string {
  const values = [...(argChoices ?? []), '7', '1h', '1/1s', '2030-01-31T08:00:00Z', '50,30,10,7,3'];
  const fits = (value: string): boolean => {
    try {
      parseArg?.(value, undefined);
      return true;
    } catch {
      return false;
    }
  };
  return values.find(fits) ?? '7';
}

// F116
describe('every option that takes a value', () => {
  it('is walked', () => {
    expect(VALUES.length).toBeGreaterThan(150);
  });

  it.each(['', '  ', '\t\n'])('refuses the blank text %j before it does anything', async (text) => {
    const accepted: string[] = [];
    for (const { path, option } of VALUES) {
      const words = [...path, `${flagOf(option)}=${text}`];
      const { code, stderr, stdout } = await fairloomHere(words);
      const isRefused = code === 2 && stdout === '' && stderr.includes(option.flags);
      if (!isRefused) accepted.push(words.join(' '));
    }
    expect(accepted).toEqual([]);
  });

  it('refuses a second value, unless its help says that it may be repeated', async () => {
    const accepted: string[] = [];
    for (const { path, option } of VALUES) {
      const one = `${flagOf(option)}=${someValueOf(option)}`;
      const { code, stderr } = await fairloomHere([...path, one, one, '--no-such-option']);
      const isRefused = code === 2 && stderr.includes('is given twice');
      if (isRefused === isRepeatable(option)) accepted.push([...path, one].join(' '));
    }
    expect(accepted).toEqual([]);
  });
});

/** An argument with the words that lead to its command. */
interface ArgumentPlace {
  readonly path: readonly string[];
  readonly argument: Argument;
  readonly command: Command;
}

const ARGUMENTS = argumentsOf(PROGRAM, []);

function argumentsOf(command: Command, path: readonly string[]): readonly ArgumentPlace[] {
  const own = command.registeredArguments.map((argument) => ({ path, argument, command }));
  return [...own, ...command.commands.flatMap((one) => argumentsOf(one, [...path, one.name()]))];
}

/** Every argument of a command, one of them with this text. */
function given({ registeredArguments }: Command, one: Argument, text: string): readonly string[] {
  return registeredArguments.map((argument) =>
    argument === one ? text : (argument.argChoices?.[0] ?? 'x'),
  );
}

/** The options without which a command is not begun. */
function mandatoryOf({ options }: Command): readonly string[] {
  return options
    .filter(({ mandatory }) => mandatory)
    .map((option) => `${flagOf(option)}=${someValueOf(option)}`);
}

describe('every argument of every command', () => {
  it('is walked', () => {
    expect(ARGUMENTS.length).toBeGreaterThan(60);
  });

  it.each(['', '  ', '\t\n'])('refuses the blank text %j before it does anything', async (text) => {
    const accepted: string[] = [];
    for (const { path, argument, command } of ARGUMENTS) {
      const words = [...path, ...mandatoryOf(command), '--', ...given(command, argument, text)];
      const { code, stderr, stdout } = await fairloomHere(words);
      const isRefused = code === 2 && stdout === '' && stderr.includes(`'${argument.name()}'`);
      if (!isRefused) accepted.push([...words, stderr].join(' '));
    }
    expect(accepted).toEqual([]);
  });

  it('that may be several is one where it is given twice', () => {
    const several = ARGUMENTS.filter(({ argument }) => argument.variadic);
    expect(several.length).toBeGreaterThan(12);
    for (const { path, argument } of several) {
      const given = ['b', 'a', 'b', 'a'].reduce<unknown>(
        (list, word) => argument.parseArg?.(word, list),
        undefined,
      );
      expect([path, given]).toEqual([path, ['b', 'a']]);
    }
  });
});

/** Commands that take several ids, with what one answers of a task that is due later. */
const SEVERAL: readonly (readonly [words: readonly string[], outcome: string])[] = [
  [['tasks', 'run-now'], 'due'],
  [['tasks', 'cancel', '--yes'], 'canceled'],
  [['tasks', 'remove', '--yes'], 'removed'],
];

describe('an id that is given twice', () => {
  const data = mkdtempSync(join(tmpdir(), 'fairloom-twice-'));
  afterAll(() => rmSync(data, { recursive: true, force: true }));

  it('is changed, counted and answered once', async () => {
    await fairloomHere(['enqueue', 'say', '1', '--id', 'later', '--delay', '1h', '--data', data]);
    for (const [words, outcome] of SEVERAL) {
      const all = [...words, 'later', 'later', '--data', data, '-o', 'json'];
      const { code, stdout, stderr } = await fairloomHere(all);
      expect([words, code, JSON.parse(stdout)]).toEqual([
        words,
        0,
        [{ id: 'later', ok: true, outcome }],
      ]);
      expect(stderr).not.toContain('2 tasks');
    }
  });
});

/** Each names things by ids that are not stored. */
const NAMING: readonly (readonly string[])[] = [
  ['tasks', 'cancel', 'nope'],
  ['tasks', 'remove', 'nope'],
  ['runs', 'cancel', 'nope'],
  ['schedules', 'remove', 'nope'],
  ['dead', 'remove', 'nope'],
  ['dead', 'redrive', 'nope'],
  ['xcom', 'delete', 'nope'],
];

// F145
describe('a command that asks before it changes what ids name', () => {
  const data = mkdtempSync(join(tmpdir(), 'fairloom-named-'));
  afterAll(() => rmSync(data, { recursive: true, force: true }));

  it('is one of these', () => {
    const asking = placesOf(PROGRAM, [])
      .filter(({ option }) => option.long === '--yes')
      .map(({ path }) => path.join(' '));
    const others = ['bulk start', 'copy', 'doctor'];
    expect(asking.filter((one) => !others.includes(one)).sort()).toEqual(
      NAMING.map(([noun, verb]) => `${noun} ${verb}`).sort(),
    );
  });

  it.each(NAMING.flatMap((words) => [[words], [[...words, '--yes']]]))(
    '%j announces nothing that is not stored, and ends with 7',
    async (words) => {
      const { code, stdout, stderr } = await fairloomHere([...words, '--data', data]);
      expect([code, stdout]).toEqual([7, '']);
      expect(stderr).not.toMatch(/^(would )?(cancel|remove|redrive|delete) /m);
    },
  );
});
