import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CopyCounts } from '../../backends/copy/counts.ts';
import { maskedUrl } from '../../base/masked-url.ts';
import { entriesIn } from '../../base/records.ts';
import { configFor, type GlobalOptions, outputOf, type Shell } from '../terminal/session.ts';
import { terminalLine } from '../terminal/style.ts';
import type { JsonShapes } from '../views/json-shapes.ts';

interface CopyFlags extends GlobalOptions {
  readonly from: string;
  readonly to: string;
  readonly toPrefix?: string;
  readonly overwrite?: boolean;
  readonly force?: boolean;
}

/** Tasks between two lines that say how far it has come. */
const STEP = 10_000;

/** `fairloom copy` */
export function addCopy(program: Command, shell: Shell): void {
  program
    .command('copy')
    .description('copy all data between stores: data folders and namespaces of Redis')
    .requiredOption('--from <place>', 'a folder, or redis://…; nothing may work there meanwhile')
    .requiredOption('--to <place>', 'a folder, or redis://…; empty')
    .option('--to-prefix <name>', 'of keys of the target; default: as of the source (--prefix)')
    .option('--overwrite', 'take away first what is in the target')
    .option(
      '--force',
      'also while workers live there: what they work on may run twice. Not of a folder that a process has open',
    )
    .action(async (_flags: unknown, command: Command) => {
      const options = command.optsWithGlobals<CopyFlags>();
      const { overwrite = false, force = false } = options;
      const output = outputOf(options, shell);
      const prefix = await prefixOf(options, shell);
      const [from, to] = [
        placeOf(options.from, prefix),
        placeOf(options.to, options.toPrefix ?? prefix),
      ];
      const { copyBetween } = await import('../../backends/copy/copy-between.ts');
      const { FOLDERS } = await import('../../backends/copy/folders.ts');
      const onTasks = (count: number, of: number): void => {
        if (count % STEP === 0 && count < of) {
          shell.err.write(`${terminalLine(`${count} of ${of} tasks`)}\n`);
        }
      };
      const counts = await copyBetween({ from, to, overwrite, force, onTasks }, FOLDERS);
      const places = { from: shown(from), to: shown(to) };
      output.one({
        json: { ...places, counts } satisfies JsonShapes['copy'],
        id: places.to,
        text: [`copied ${places.from} to ${places.to}`, ...linesOf(counts)],
      });
    });
}

type Place =
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string }
  | { readonly kind: 'folder'; readonly folder: string };

function placeOf(text: string, prefix: string): Place {
  return /^rediss?:\/\//i.test(text)
    ? { kind: 'redis', url: text, prefix }
    : { kind: 'folder', folder: resolve(text) };
}

/** Without its password. */
function shown(place: Place): string {
  return place.kind === 'redis' ? `${maskedUrl(place.url)} ${place.prefix}` : place.folder;
}

async function prefixOf(options: CopyFlags, shell: Shell): Promise<string> {
  if (options.prefix !== undefined) return options.prefix;
  const { config } = await configFor(options, shell);
  return config.redis.keyPrefix;
}

function linesOf(counts: CopyCounts): readonly string[] {
  const width = Math.max(...entriesIn(counts).map(([name]) => name.length));
  return entriesIn(counts).map(([name, count]) => `${name.padEnd(width)}  ${count}`);
}
