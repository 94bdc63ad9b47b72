/** Verbs that take something away show what, and ask before they do it. */
import { createInterface } from 'node:readline/promises';
import { mapInChunks } from '../../base/chunks.ts';
import { shownNode } from '../../domain/task/node-name.ts';
import { counted } from '../terminal/counted.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import type { Output } from '../terminal/output.ts';
import { cellText } from '../terminal/text-table.ts';
import type { Followers } from './dry-run.ts';

/** Lines of the sample. */
const SAMPLE = 5;

/** Ids that are looked up at once. */
const AT_ONCE = 16;

/** What the caller has said beforehand, and what the question is about. */
export interface ConfirmOptions {
  readonly yes?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  /** What the things are. Default `task`. */
  readonly noun?: string | undefined;
  /** There are more than those shown. */
  readonly more?: boolean | undefined;
  /** What would end with them. */
  readonly followers?: Followers | undefined;
}

/**
 * Shows how many and which things a verb will touch, on stderr. True when it should be done:
 * `--yes` was given, or a person at the terminal agreed. False for `--dry-run`.
 *
 * @throws {@link CliError} (refused) when there is no terminal to ask at, or the person said no.
 */
export async function confirm(
  verb: string,
  things: readonly string[],
  options: ConfirmOptions,
  output: Output,
): Promise<boolean> {
  const { noun = 'task', more = false } = options;
  const count = `${more ? 'more than ' : ''}${counted(things.length, noun)}`;
  output.note(
    `${options.dryRun === true ? 'would ' : ''}${verb} ${count}${things.length > 0 ? ':' : ''}`,
  );
  for (const thing of things.slice(0, SAMPLE)) output.note(`  ${cellText(thing)}`);
  if (things.length > SAMPLE) output.note(`  … and ${things.length - SAMPLE} more`);
  if (options.followers !== undefined) noteFollowers(options.followers, output);
  if (options.dryRun === true || things.length === 0) return false;
  if (options.yes === true) return true;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw new CliError(EXIT.refused, `${verb} needs --yes without a terminal`);
  }
  const following = options.followers?.count ?? 0;
  const all = following === 0 ? count : `${count} and ${following} more with it`;
  const question = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await question.question(`${verb} ${all}? [y/N] `);
    if (/^y(es)?$/i.test(answer.trim())) return true;
  } finally {
    question.close();
  }
  throw new CliError(EXIT.refused, 'nothing was done');
}

/**
 * The same for things that were named by their ids: only those that are stored are announced.
 *
 * @throws what `missing` makes of the first id when none is stored.
 */
export async function confirmNamed(
  verb: string,
  ids: readonly string[],
  options: ConfirmOptions & {
    readonly isStored: (id: string) => Promise<boolean>;
    readonly missing: (id: string) => Error;
  },
  output: Output,
): Promise<boolean> {
  const known = await mapInChunks(ids, AT_ONCE, async (id) => await options.isStored(id));
  const stored = ids.filter((_, at) => known[at]);
  const [first] = ids;
  if (stored.length === 0 && first !== undefined) throw options.missing(first);
  return confirm(verb, stored, options, output);
}

/** Tasks that were not selected and would end with the selected ones. */
function noteFollowers({ all, count, more }: Followers, output: Output): void {
  if (count === 0) return;
  output.note(`and with it ${more ? 'more than ' : ''}${count} that would end:`);
  for (const { id, state, with: upstream } of all.slice(0, SAMPLE)) {
    output.note(`  ${cellText(shownNode(id))} (${state}, with ${cellText(upstream)})`);
  }
  if (count > SAMPLE) output.note(`  … and ${count - SAMPLE} more`);
}
