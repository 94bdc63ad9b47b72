/** The text of docs/cli-output.md, made from src/cli/views/json-shapes.ts. */
import { fileURLToPath } from 'node:url';
import { type TypeTable, typeTables } from './type-tables.ts';

const SHAPES = fileURLToPath(new URL('../../src/cli/views/json-shapes.ts', import.meta.url));

/** Types that have a page or a format of their own. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['Config', 'The tree of [options](configuration.md), each with its value; secrets are masked.'],
  [
    'TaskGraph',
    'A graph as data; `format` is the version of its layout. See [workflows](guide/workflows.md).',
  ],
]);

const HEAD = `# Output for programs

What commands print with \`-o json\`. With \`-o jsonl\` it is the same on one line, and an array is a
document per line. This page is made from \`src/cli/views/json-shapes.ts\` by \`npm run docs\`; tests hold the
commands to it.

The shapes are stable. Until the next major version fields may be added, also values of a field that
says what kind of thing something is (\`state\`, \`kind\`, \`check\`); nothing is renamed or taken away,
and no type changes. So read what you know and pass over the rest. What stands in \`outcome\`,
\`text\`, \`why\`, \`reason\` and \`message\` is for people, and may be worded anew at any time.

A field with a question mark is absent where it has no meaning; nothing is \`null\` but what a task
itself has made. Moments are ms since the epoch on the backend's clock, and lengths of time are ms.
Types with a name are exported by the package, but for the few that only the command line makes.

## By command
`;

const NOTES = `Besides: \`tasks list\`, \`runs list\`, \`schedules list\`, \`users list\` and \`dead list\`
print 50 rows, and say on stderr when there are more (\`--limit\`). \`runs export\` prints JSON also
without \`-o\`. \`demo\` takes \`--json\` instead. \`config show --origin\` prints
\`{ config, origins }\`, origins by path, and \`config show -o jsonl\` a document
\`{ option, value, origin? }\` per option.
`;

/** The page. */
export function renderOutput(): string {
  const { root, tables } = typeTables(SHAPES, 'JsonShapes', new Set(ELSEWHERE.keys()));
  const printing = root.filter(({ type }) => type !== '');
  const silent = root.filter(({ type }) => type === '').map(({ path }) => `\`${path}\``);
  return [
    HEAD,
    '| Command | Prints |',
    '|---|---|',
    ...printing.map(({ path, type }) => `| \`${path}\` | \`${type}\` |`),
    '',
    `No JSON comes from ${silent.join(', ')}.`,
    '',
    NOTES,
    '## Types',
    '',
    ...tables.flatMap(section),
    ...[...ELSEWHERE].flatMap(([name, text]) => [`### ${name}`, '', text, '']),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
}

function section({ name, about, fields }: TypeTable): readonly string[] {
  return [
    `### ${name}`,
    '',
    about,
    '',
    '| Field | Type | Meaning |',
    '|---|---|---|',
    ...fields.map(
      ({ path, isOptional, type, about: text }) =>
        `| \`${path}${isOptional ? '?' : ''}\` | \`${cell(type)}\` | ${cell(text)} |`,
    ),
    '',
  ];
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
