/** docs/events.md has every line that the library logs by itself, and nothing else logs. */
import { expect, it } from 'vitest';
import { LOG_LEVELS } from '../../../src/logging/log-events.ts';
import { filesBelow, read } from '../../support/files.ts';

interface Line {
  readonly event: string;
  readonly level: string;
  readonly fields: readonly string[];
}

/** Where a logger is called: the table's own function, and what hands lines on. */
const LOGGERS = [
  'src/logging/log-events.ts',
  'src/logging/logger.ts',
  'src/base/logger.ts',
  // What handlers say.
  'src/attempt/kept-log.ts',
];

function declared(): readonly Line[] {
  const source = read('src/logging/log-events.ts').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const interfaces = new Map(
    [...source.matchAll(/interface (\w+)(?: extends (\w+))? \{([\s\S]*?)\n\}/g)].map(
      ([, name = '', base = '', body = '']) => [name, { base, body }],
    ),
  );
  /** Of a type that is written out, or of an interface of the file and what it extends. */
  const fieldsOf = (type: string): readonly string[] => {
    const { base, body } = interfaces.get(type.trim()) ?? { base: '', body: type };
    const own = [...body.matchAll(/readonly (\w+)\??:/g)].map(([, field = '']) => field);
    return base === '' ? own : [...fieldsOf(base), ...own];
  };
  const body = interfaces.get('LogEvents')?.body ?? '';
  const events = body.matchAll(/'([a-z.-]+)':([\s\S]*?);(?=\s*(?:'[a-z.-]+':|$))/g);
  const levels = new Map<string, string>(Object.entries(LOG_LEVELS));
  return [...events].map(([, event = '', type = '']) => ({
    event,
    level: levels.get(event) ?? '',
    fields: fieldsOf(type),
  }));
}

function written(): readonly Line[] {
  const [, section = ''] = read('docs/events.md').split('## Lines of log');
  const rows = section.matchAll(/^\| `([a-z.-]+)` \| (\w+) \|([^|]*)\|/gm);
  return [...rows].map(([, event = '', level = '', cell = '']) => {
    return { event, level, fields: cell.match(/\w+/g) ?? [] };
  });
}

it('names every line, its level and its fields, in the same order', () => {
  expect(declared().map(({ event }) => event)).toEqual(Object.keys(LOG_LEVELS));
  expect(written()).toEqual(declared());
});

it('no other code of the library logs', () => {
  const files = filesBelow('src', /\.ts$/).filter((file) => !LOGGERS.includes(file));
  const calls = files.filter((file) => {
    return /\b#?log(?:ger)?\??\.(?:debug|info|warn|error)\(/.test(read(file));
  });
  expect(calls).toEqual([]);
});
