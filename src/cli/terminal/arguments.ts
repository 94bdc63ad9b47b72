/** Texts of the command line turned into values; what cannot be is refused with exit code 2. */

import { readFile } from 'node:fs/promises';
import { InvalidArgumentError, Option } from 'commander';
import { messageOf } from '../../base/message-of.ts';
import { type Duration, isDuration } from '../../base/time.ts';
import { TASK_STATES } from '../../domain/task/task.ts';
import { CliError, EXIT } from './exit-code.ts';

/** `250ms`, `30s`, `5m`, `2h`, `7d`; a bare number is milliseconds. */
export function durationArgument(text: string): Duration {
  const value = /^-?\d+$/.test(text) ? Number(text) : text;
  if (!isDuration(value)) {
    throw new InvalidArgumentError('Expected a length such as 250ms, 30s, 5m, 2h or 7d.');
  }
  return value;
}

/** A whole number, at least `least`. */
export function integerArgument(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^-?\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`Expected a whole number, at least ${least}.`);
  };
}

/** A number above 0. */
export function positiveArgument(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('Expected a number above 0.');
}

/** `--state`: one of the seven. */
export function stateOption(help: string): Option {
  return new Option('--state <state>', help).choices(TASK_STATES);
}

/** An option whose words a shell may offer, while others are read by `parse`. */
export function offering<T>(
  option: Option,
  words: readonly string[],
  parse: (text: string) => T,
): Option {
  option.argParser(parse);
  option.argChoices = [...words];
  return option;
}

/** `--limit`: a number of rows, or `all`. */
export function limitArgument(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY;
  try {
    return integerArgument(1)(text);
  } catch {
    throw new InvalidArgumentError('Expected a whole number, at least 1, or all.');
  }
}

/** A rate as it is written on the command line: `100/1m`, or `100/1m/20` with a burst of 20. */
export interface RateArgument {
  readonly limit: number;
  readonly per: Duration;
  readonly burst?: number;
}

/** `limit/per` or `limit/per/burst`. */
export function rateArgument(text: string): RateArgument {
  const [limit = '', per = '', burst, ...rest] = text.split('/');
  const count = integerArgument(1);
  const unit = /^(ms|s|m|h|d)$/.test(per) ? `1${per}` : per;
  if (per === '' || rest.length > 0) {
    throw new InvalidArgumentError('Expected a rate such as 100/1m, or 100/1m/20 with a burst.');
  }
  const rate = { limit: count(limit), per: durationArgument(unit) };
  return burst === undefined ? rate : { ...rate, burst: count(burst) };
}

/** A port, 0 to 65535. */
export function portArgument(text: string): number {
  const port = integerArgument(0)(text);
  if (port <= PORT_MAX) return port;
  throw new InvalidArgumentError(`Expected a port, at most ${PORT_MAX}.`);
}

const PORT_MAX = 65_535;

/** Collects a repeated option: lists are not parted by commas, which ids may hold. */
export function repeated(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

/** `json`, `@file`, `-` (stdin); nothing is no input. */
export async function inputArgument(
  text: string | undefined,
  stdin: AsyncIterable<string | Buffer>,
): Promise<unknown> {
  if (text === undefined) return undefined;
  const [json, from] = await inputText(text, stdin);
  try {
    return JSON.parse(json);
  } catch (error) {
    const problem = messageOf(error);
    throw new CliError(EXIT.usage, `${from} is not JSON: ${problem}`, `a text needs quotes: '"…"'`);
  }
}

/**
 * The JSON that was given, and what to call its place in a refusal: `-` is stdin, `@path` a file,
 * and anything else the text itself.
 */
export async function inputText(
  text: string,
  stdin: AsyncIterable<string | Buffer>,
): Promise<readonly [json: string, from: string]> {
  if (text === '-') {
    const chunks: Buffer[] = [];
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
    return [Buffer.concat(chunks).toString('utf8'), 'the input on stdin'];
  }
  if (!text.startsWith('@')) return [text, 'the input'];
  const path = text.slice(1);
  try {
    return [await readFile(path, 'utf8'), path];
  } catch (error) {
    const problem = messageOf(error);
    throw new CliError(EXIT.notFound, `the input cannot be read: ${problem}`);
  }
}
