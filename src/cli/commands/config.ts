import type { Command } from 'commander';
import { originText } from '../../config/given.ts';
import type { ReadConfig } from '../../config/load.ts';
import { Secret } from '../../config/secret.ts';
import { Output, type View } from '../terminal/output.ts';
import { configFor, type GlobalOptions, type Shell } from '../terminal/session.ts';
import { terminalLine } from '../terminal/style.ts';
import { cellText } from '../terminal/text-table.ts';

interface Options extends GlobalOptions {
  readonly origin?: boolean;
}

interface Row {
  readonly option: string;
  readonly value: unknown;
  readonly origin: string;
}

/** `fairloom config show` */
export function addConfig(program: Command, shell: Shell): void {
  program
    .command('config')
    .description('what the options are, and who says so')
    .command('show')
    .description('the configuration that a command would use; secrets are masked; -o yaml too')
    .option('--origin', 'also where each value comes from')
    .action((_options: unknown, command: Command) =>
      show(command.optsWithGlobals<Options>(), shell),
    );
}

async function show(options: Options, shell: Shell): Promise<void> {
  const loaded = await configFor(options, shell);
  const { output: form, origin: isOriginWanted = false } = options;
  if (form === 'yaml') {
    const { toYaml, toYamlWithOrigins } = await import('../../config/to-yaml.ts');
    const yaml = isOriginWanted ? toYamlWithOrigins(loaded) : toYaml(loaded.config);
    shell.out.write(yaml.split('\n').map(terminalLine).join('\n'));
    return;
  }
  const output = new Output(form, shell);
  const { config, origins } = loaded;
  if (form === 'json') {
    const names = [...origins].map(([path, origin]) => [path, originText(origin)] as const);
    const json = isOriginWanted ? { config, origins: Object.fromEntries(names) } : config;
    output.one({ json, id: '', text: [] });
    return;
  }
  output.rows(rowsOf(loaded), viewOf(isOriginWanted));
}

function rowsOf({ values, origins }: ReadConfig): readonly Row[] {
  return [...values].map(([option, value]) => {
    const origin = origins.get(option);
    return { option, value, origin: origin === undefined ? 'default' : originText(origin) };
  });
}

function viewOf(isOriginWanted: boolean): View<Row> {
  const columns = [
    { title: 'OPTION', cell: ({ option }: Row) => cellText(option) },
    { title: 'VALUE', cell: ({ value }: Row) => cellText(textOf(value)) },
  ];
  const origin = { title: 'ORIGIN', cell: (row: Row) => row.origin };
  return {
    columns: () => (isOriginWanted ? [...columns, origin] : columns),
    json: ({ option, value, origin: from }) =>
      isOriginWanted ? { option, value, origin: from } : { option, value },
    id: ({ option }) => option,
    none: 'no options',
  };
}

function textOf(value: unknown): string {
  if (value instanceof Secret) return String(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
