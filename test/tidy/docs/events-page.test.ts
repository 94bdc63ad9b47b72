/** docs/events.md has every event of a worker, with its fields. */
import { expect, it } from 'vitest';
import { read } from '../../support/files.ts';

const SHARED = fieldsOf(block('AttemptFacts'));

/** The body of an interface, comments taken out. */
function block(name: string): string {
  const source = read('src/events/worker-events.ts').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  return new RegExp(`interface ${name} \\{([\\s\\S]*?)\\n\\}`).exec(source)?.[1] ?? '';
}

function fieldsOf(text: string): readonly string[] {
  return [...text.matchAll(/readonly (\w+)\??:/g)].map(([, name = '']) => name);
}

function declared(): Readonly<Record<string, readonly string[]>> {
  const events = block('WorkerEvents').matchAll(/'([a-z.]+)':([\s\S]*?);(?=\s*(?:'[a-z.]+':|$))/g);
  return Object.fromEntries([...events].map(([, name = '', type = '']) => [name, fieldsOf(type)]));
}

function written(): Readonly<Record<string, readonly string[]>> {
  const [events = ''] = read('docs/events.md').split('## Lines of log');
  const rows = events.matchAll(/^\| `([a-z.]+)` \|([^|]*)\|/gm);
  return Object.fromEntries(
    [...rows].map(([, name = '', cell = '']) => [name, cell.match(/\w+/g) ?? []]),
  );
}

it('names every event and its fields', () => {
  expect(Object.keys(declared()).length).toBeGreaterThan(8);
  expect(written()).toEqual(declared());
});

it('names the fields that events of attempts share', () => {
  const page = read('docs/events.md');
  expect(SHARED.length).toBeGreaterThan(3);
  for (const field of SHARED) expect(page).toContain(`\`${field}\``);
});
