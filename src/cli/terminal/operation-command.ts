/** Commands that are made of operations: arguments, flags and help are those of the table. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { epochMs } from '../../base/globals.ts';
import type { Fairloom } from '../../client/client.ts';
import { isOwn } from '../../domain/errors/errors.ts';
import type { Field } from '../../operations/fields.ts';
import { Look } from '../../operations/look.ts';
import type { Given, Operation } from '../../operations/operation.ts';
import { View } from '../../operations/view.ts';
import { inputArgument, limitArgument, offering, repeated } from './arguments.ts';
import { CliError, EXIT, type ExitCode } from './exit-code.ts';
import { jsonLines, type Output } from './output.ts';
import { type NamedSteps, type Shell, withLoom } from './session.ts';

/** One call of such a command. */
export interface CommandCall<Input = Given, Own = Given> {
  readonly loom: Fairloom;
  readonly output: Output;
  readonly shell: Shell;
  /** Steps that modules export. */
  readonly steps: NamedSteps;
  /** Arguments and flags of the operation, by the names of its fields. */
  readonly input: Input;
  /** Flags of the command alone. */
  readonly own: Own;
  /** Of a command that takes several ids. */
  readonly ids: readonly string[];
  /** Rows of a listing, at most. */
  readonly limit: number;
  /** Does the operation, with more input or other. */
  readonly run: (more?: Given) => Promise<unknown>;
}

/** What a command adds to its operation. */
export interface Shown {
  /** Flags that the operation does not have. */
  readonly flags?: (command: Command) => Command;
  /** Fields that the command needs and its operation does not, or the other way round. */
  readonly needs?: Readonly<Record<string, boolean>>;
  /** Does it, and writes what it answers. */
  readonly show: (call: CommandCall) => Promise<ExitCode | undefined>;
}

/** What a command shows whose input and own flags have these types. */
export function shows<Input = Given, Own = Given>(
  show: (call: CommandCall<Input, Own>) => Promise<ExitCode | undefined>,
  more: Omit<Shown, 'show'> = {},
): Shown {
  // Its operation has fields of these types, and its flags have parsers that make them.
  return { ...more, show: (call) => show(call as CommandCall<Input, Own>) };
}

/** Without a text of its own an answer is written as JSON. */
const AS_JSON: Shown = {
  show: async ({ run, output, input }) => {
    const answer = Object(await run());
    output.one({
      json: answer,
      id: String(answer.id ?? input['id'] ?? ''),
      text: jsonLines(answer),
    });
    return undefined;
  },
};

/** Adds the command of an operation, below its noun. */
export function addOperation(
  program: Command,
  shell: Shell,
  operation: Operation,
  { flags = (command) => command, needs = {}, show }: Shown = AS_JSON,
): void {
  const { command: usage = '', help, input, effect } = operation;
  const words = usage.split(' ');
  const places = words.filter((word) => /^[<[]/.test(word));
  const verbs = words.slice(0, words.length - places.length);
  const nouns = verbs.slice(0, -1);
  const command = nouns
    .reduce(below, program)
    .command([verbs.at(-1), ...places].join(' '))
    .description(lineText(help));
  const names = places.map((place) => place.replaceAll(/[<>[\].]/g, ''));
  const isPaged = input['cursor'] !== undefined;
  const fields = Object.entries(input).filter(([name]) => {
    return !names.includes(name) && !(isPaged && (name === 'limit' || name === 'cursor'));
  });
  const readers = fields.map(([name, field]) =>
    addField(command, name, { ...field, isRequired: needs[name] ?? field.isRequired }),
  );
  if (isPaged) command.option('--limit <n|all>', 'rows', limitArgument, 50);
  if (effect === 'destroys') {
    command.option('-y, --yes', 'do not ask');
    if (input['dryRun'] === undefined) {
      command.option('--dry-run', 'show what would be done, and do nothing');
    }
  }
  flags(command);
  command.action((...given: unknown[]) => {
    const said = command.opts();
    return withLoom(shell, command, async (loom, output, steps) => {
      const values: Record<string, unknown> = {};
      for (const [at, name] of names.entries()) {
        const isJson = input[name]?.line.kind === 'json';
        const value = given[at];
        if (value === undefined) continue;
        values[name] = isJson ? await inputArgument(String(value), shell.stdin) : value;
      }
      for (const read of readers) Object.assign(values, await read(said, shell));
      const ids: unknown = values['id'];
      const run = (more: Given = {}): Promise<unknown> =>
        operation.run(aroundOf(loom), { ...values, ...more });
      const { limit } = said;
      const call = { loom, output, shell, steps, input: values, own: said, run };
      return show({ ...call, ids: Array.isArray(ids) ? ids : [], limit: Number(limit) });
    });
  });
}

/** A command line sees and does everything that its backend lets it. */
function aroundOf(loom: Fairloom): Parameters<Operation['run']>[0] {
  const view = new View('all');
  const api = { namespace: undefined, hidesPayloads: false, hidesWords: false };
  const look = new Look(loom, view, Number.POSITIVE_INFINITY);
  return { loom, view, now: epochMs(), look, api };
}

function below(parent: Command, noun: string): Command {
  return parent.commands.find((one) => one.name() === noun) ?? parent.command(noun);
}

/** Values of a field, out of what commander has read. */
type Reader = (said: Given, shell: Shell) => Given | Promise<Given>;

function addField(command: Command, name: string, field: Field<unknown>): Reader {
  const { kind, flag, value, fields = {} } = field.line;
  if (kind === 'fields') return addFields(command, name, flag ?? name, fields);
  const flags = flag?.startsWith('-') ? flag : `--${kebab(flag ?? name)}`;
  const words = kind === 'flag' ? flags : `${flags} <${kind === 'json' ? 'json' : value}>`;
  const option = new Option(words, lineText(field.about));
  if (kind === 'list') option.description += '; may be repeated';
  if (kind === 'json') option.description += ', as JSON, @file, or - for stdin';
  if (kind === 'list') option.argParser(repeated);
  else if (field.line.isChoice) option.choices(field.line.words ?? []);
  else if (kind === 'value') offering(option, field.line.words ?? [], parserOf(name, field));
  if (option.argChoices?.length === 0) delete option.argChoices;
  command.addOption(field.isRequired ? option.makeOptionMandatory() : option);
  return async (said, { stdin }) => {
    const given = said[option.attributeName()];
    if (given === undefined) return {};
    return { [name]: kind === 'json' ? await inputArgument(String(given), stdin) : given };
  };
}

/** A flag for each field of an object, and one that takes the whole back. */
function addFields(
  command: Command,
  name: string,
  prefix: string,
  fields: Operation['input'],
): Reader {
  const readers = Object.entries(fields).map(([inner, field]) => {
    const flag = `${prefix}-${kebab(inner)}`;
    return addField(command, inner, { ...field, line: { ...field.line, flag } });
  });
  const none = new Option(`--no-${prefix}-defaults`, `take back what was set for such ${prefix}s`);
  command.addOption(none);
  return async (said, shell) => {
    const all = await Promise.all(readers.map((read) => read(said, shell)));
    const object: Given = Object.assign({}, ...all);
    const isGiven = Object.keys(object).length > 0;
    const takesBack = said[none.attributeName()] === false;
    if (isGiven && takesBack) {
      const problem = `--no-${prefix}-defaults stands against the other --${prefix} options`;
      throw new CliError(EXIT.usage, problem);
    }
    if (takesBack) return { [name]: 'default' };
    return isGiven ? { [name]: object } : {};
  };
}

/** What a field may not hold is refused before the command begins. */
function parserOf(name: string, field: Field<unknown>): (text: string) => unknown {
  return (text) => {
    try {
      return field.read(name, field.line.parse(text));
    } catch (error) {
      if (!isOwn(error, 'INVALID_OPTION')) throw error;
      throw new InvalidArgumentError(`Expected ${field.expected}.`);
    }
  };
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** A sentence of the table as the help of commands has them. */
function lineText(sentence: string): string {
  const [first = '', ...rest] = sentence.replace(/\.$/, '').replaceAll('`', '"');
  return first.toLowerCase() + rest.join('');
}
