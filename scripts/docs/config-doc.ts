/** The reference of docs/configuration.md, made from the schema. */
import { ROOT } from '../../src/config/options.ts';
import { type Leaf, optionsOf, type SchemaNode } from '../../src/config/schema.ts';
import { InvalidOptionError } from '../../src/domain/errors/errors.ts';
import { withSection } from './section.ts';

const START = '<!-- The reference is written by `npm run docs`, from src/config/options.ts. -->';
const END = '<!-- End of the reference. -->';

/** The page with its reference replaced. */
export function renderConfiguration(page: string): string {
  return withSection(page, { start: START, end: END, text: reference() });
}

function reference(): string {
  return Object.entries(ROOT.fields)
    .map(([name, node]) => sectionText(name, node))
    .join('\n');
}

function sectionText(name: string, node: SchemaNode): string {
  const options = optionsOf(ROOT).filter(
    ({ path }) => path === name || path.startsWith(`${name}.`),
  );
  const rows = options.map(({ path, leaf, variable }) => {
    const named = variable === undefined ? '' : `\`${variable}\``;
    return `| \`${path}\` | ${cell(leaf.about)} | ${cell(takes(leaf))} | ${cell(fallback(leaf))} | ${named} |`;
  });
  return [
    `### ${name}`,
    '',
    ...(node.kind === 'leaf' || node.about === undefined ? [] : [node.about, '']),
    '| Option | What it does | Takes | Default | Variable |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** Calls the option's own check with a value that no option accepts. */
function takes(leaf: Leaf): string {
  try {
    leaf.check(Symbol('nothing'));
  } catch (error) {
    if (error instanceof InvalidOptionError) return readable(error.expected);
    throw error;
  }
  throw new Error(`this option takes anything: ${leaf.about}`);
}

function readable(expected: string): string {
  return expected
    .replace(/^ms or a text such as "30s", from (\d+) to (\d+) ms$/, (_, least, most) => {
      return `a length, ${length(Number(least))} to ${length(Number(most))}`;
    })
    .replace(/ from (\d+) to 9007199254740991$/, ', at least $1')
    .replace(/"([^"]*)"/g, '`$1`');
}

function fallback({ fallback: value, otherwise }: Leaf): string {
  if (otherwise !== undefined) return otherwise;
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function length(ms: number): string {
  if (ms === 0) return '0';
  const years = ms / 31_557_600_000;
  if (years >= 1) return `${years} years`;
  const units: readonly (readonly [string, number])[] = [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ];
  const [unit, one] = units.find(([, each]) => ms % each === 0) ?? ['ms', 1];
  return `${ms / one}${unit}`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
