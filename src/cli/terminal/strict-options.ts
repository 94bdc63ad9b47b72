/** What holds for every option of every command: a value is not blank, and one value is given once. */
import type { Command, Option } from 'commander';

/** Options that collect their values; their help says so. */
export function isRepeatable(option: Option): boolean {
  return option.description.includes('may be repeated');
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
