/** What holds for every option and argument of every command: a value is not blank, and one value is given once. */
import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander';

/** Options that collect their values; their help says so. */
export function isRepeatable(option: Option): boolean {
  return option.description.includes('may be repeated');
}

/**
 * Refuses a blank argument with exit code 2, for all commands below one; in a list of ids the same id twice is one.
 * To be called once the tree is whole.
 */
export function refuseBlankArguments(command: Command): void {
  for (const argument of command.registeredArguments) refuseBlank(argument);
  for (const child of command.commands) refuseBlankArguments(child);
}

function refuseBlank(argument: Argument): void {
  const { parseArg, variadic } = argument;
  argument.argParser((text: string, before: unknown): unknown => {
    if (text.trim() === '') throw new InvalidArgumentError('The text is blank.');
    if (parseArg !== undefined) return parseArg(text, before);
    if (!variadic) return text;
    const list: readonly unknown[] = Array.isArray(before) ? before : [];
    return list.includes(text) ? list : [...list, text];
  });
}

/**
 * Refuses a blank value and a second value, with exit code 2, for all options below a command. A blank value is an
 * unset variable of a shell: read as "no filter", it would mean everything. Of two values one would be ignored.
 */
export function refuseBlankAndTwice(command: Command): void {
  for (const option of command.options) refuseIn(command, option);
  for (const child of command.commands) refuseBlankAndTwice(child);
}

function refuseIn(command: Command, option: Option): void {
  let isGiven = false;
  command.on(`option:${option.name()}`, (value: string | null) => {
    if (typeof value === 'string' && value.trim() === '') {
      command.error(`error: option '${option.flags}' has no value: the text is blank`);
    }
    if (isGiven && !isRepeatable(option)) {
      command.error(`error: option '${option.flags}' is given twice`);
    }
    isGiven = true;
  });
}
