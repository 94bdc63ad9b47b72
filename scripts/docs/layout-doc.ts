/** The tables of docs/redis-layout.md, made from src/backends/redis/layout/. The text around them is written by hand. */
import { readFileSync } from 'node:fs';
import { FLAGS, STATE_CODES } from '../../src/backends/redis/layout/codes.ts';
import { type Fields, HASH_FIELDS, PACKED_NAMES } from '../../src/backends/redis/layout/fields.ts';
import type { KeyFamily } from '../../src/backends/redis/layout/key-family.ts';
import { KEYS } from '../../src/backends/redis/layout/keys.ts';
import {
  formatOf,
  offsetsOf,
  PACKED,
  type PackedRecord,
  TEXT_OFFSETS,
  TEXT_WIDTHS,
} from '../../src/backends/redis/layout/packed.ts';
import { QUEUE_KEYS } from '../../src/backends/redis/layout/queue-keys.ts';
import { TASK_KEYS } from '../../src/backends/redis/layout/task-keys.ts';
import {
  INDEX_KEYS,
  NAMESPACE_KEYS,
  WORKER_KEYS,
} from '../../src/backends/redis/layout/worker-keys.ts';

const LAYOUT = new URL('../../src/backends/redis/layout/', import.meta.url);

/** `<!-- made: tasks -->`, the table, `<!-- end -->`. */
const TABLE = /(<!-- made: (\w+) -->\n)[\s\S]*?(\n<!-- end -->)/g;

const TABLES: Readonly<Record<string, () => readonly string[]>> = {
  tasks: () => keyTable(TASK_KEYS),
  queues: () => keyTable(QUEUE_KEYS),
  workers: () => keyTable(WORKER_KEYS),
  namespace: () => keyTable(NAMESPACE_KEYS),
  indexes: () => keyTable(INDEX_KEYS),
  texts: textTable,
  packed: packedTables,
  sums: sumTable,
  codes: codeTable,
  fields: fieldTable,
};

/** The page with its tables regenerated. */
export function renderLayout(page: string): string {
  return page.replaceAll(TABLE, (_, head: string, name: string, foot: string) => {
    const table = TABLES[name];
    if (table === undefined) throw new Error(`docs/redis-layout.md asks for a table "${name}"`);
    return `${head}\n${table().join('\n')}\n${foot}`;
  });
}

/** The parts of the comment on a family. */
interface Note {
  readonly holds: string;
  readonly by: string;
  readonly life: string;
}

function keyTable(families: Readonly<Record<string, KeyFamily>>): readonly string[] {
  const notes = notesIn(
    ['task-keys', 'queue-keys', 'worker-keys'].map((file) =>
      readFileSync(new URL(`${file}.ts`, LAYOUT), 'utf8'),
    ),
  );
  const rows = Object.entries(families).map(([family, { type, name }]) => {
    const note = notes.get(name);
    if (note === undefined) throw new Error(`nothing is said of the keys ${name}`);
    const key = name.replace('{p}', '{p}:');
    return `| \`${key}\` | \`${family}\` | ${type} | ${note.holds} | ${note.by} | ${note.life} |`;
  });
  return [
    '| key | family | type | content | written by | life |',
    '|---|---|---|---|---|---|',
    ...rows,
  ];
}

/** By name of the family: the comment above its line, with `@by` and `@life`. */
function notesIn(sources: readonly string[]): ReadonlyMap<string, Note> {
  const family =
    /\/\*\*\n((?: {3}\*[^\n]*\n)*?) {3}\* @by ([^\n]*)\n {3}\* @life ([^\n]*)\n {3}\*\/\n {2}\w+: \{ type: '\w+', name: '([^']+)' \}/g;
  return new Map(
    sources.flatMap((source) =>
      [...source.matchAll(family)].map(([, text = '', by = '', life = '', name = '']) => {
        const holds = text.replaceAll(/^ {3}\* ?/gm, '').trim();
        return [name, { holds: holds.replaceAll('\n', ' '), by, life }];
      }),
    ),
  );
}

function textTable(): readonly string[] {
  const rows = Object.entries(TEXT_WIDTHS).map(([part, bytes]) => {
    const at = TEXT_OFFSETS[part as keyof typeof TEXT_WIDTHS];
    return `| \`${part}\` | ${at} | ${bytes} |`;
  });
  return ['| part | byte | bytes |', '|---|---:|---:|', ...rows];
}

function packedTables(): readonly string[] {
  const rows = Object.entries<PackedRecord>(PACKED).map(([name, record]) => {
    const offsets = offsetsOf(record);
    const fields = record.fields
      .filter(([, kind]) => kind !== 'x')
      .map(
        ([field, , holds]) => `${offsets[field]} \`${field}\`${holds === '' ? '' : `: ${holds}`}`,
      );
    return `| ${name} | ${record.where} | \`${formatOf(record)}\` | ${fields.join(' · ')} | ${record.rest} |`;
  });
  return ['| record | in | format | byte and field | then |', '|---|---|---|---|---|', ...rows];
}

function sumTable(): readonly string[] {
  const notes = commentsIn(readFileSync(new URL('codes.ts', LAYOUT), 'utf8'));
  const rows = Object.entries(FLAGS).flatMap(([of, flags]) =>
    Object.entries(flags).map(([flag, value]) => {
      return `| ${of} | ${value} | \`${flag}\` | ${notes.get(`${of}.${flag}`) ?? ''} |`;
    }),
  );
  return ['| sum | number | flag | means |', '|---|---:|---|---|', ...rows];
}

/** Comments of one line, by `outer.inner` of the declaration below them. */
function commentsIn(source: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let outer = '';
  let comment = '';
  for (const line of source.split('\n')) {
    outer = /^ {2}(\w+): \{$/.exec(line)?.[1] ?? outer;
    const inner = /^ {4}(\w+): \d+,$/.exec(line)?.[1];
    if (inner !== undefined) found.set(`${outer}.${inner}`, comment);
    comment = /^ {4}\/\*\* (.*?)\.? \*\/$/.exec(line)?.[1] ?? '';
  }
  return found;
}

function codeTable(): readonly string[] {
  const rows = Object.entries(STATE_CODES).map(([state, code]) => `| ${code} | \`${state}\` |`);
  return ['| code | state |', '|---:|---|', ...rows];
}

function fieldTable(): readonly string[] {
  const hashes = Object.entries<Fields>(HASH_FIELDS).flatMap(([family, fields]) =>
    rowsOf(`\`${family}\``, fields),
  );
  const values = Object.entries<Fields>(PACKED_NAMES).flatMap(([value, fields]) =>
    rowsOf(VALUES[value] ?? value, fields),
  );
  return ['| in | field | name | holds |', '|---|---|---|---|', ...hashes, ...values];
}

/** The keys that hold packed values. */
const VALUES: Readonly<Record<string, string>> = {
  facts: 'the rest of `facts`',
  rare: '`x` of these',
  changing: '`y` of these',
  settings: '`c` of `user`',
  workerLists: '`l` of `worker`',
  key: '`k` of `key`',
};

function rowsOf(where: string, fields: Fields): readonly string[] {
  return Object.entries(fields).map(
    ([name, [short, holds]]) => `| ${where} | \`${short}\` | \`${name}\` | ${holds} |`,
  );
}

/** Every family has a row of its own. */
export function familiesWithoutRow(page: string): readonly string[] {
  return Object.keys(KEYS).filter((family) => !page.includes(`| \`${family}\` |`));
}
