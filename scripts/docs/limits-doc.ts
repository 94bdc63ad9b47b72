/** The text of docs/limits.md. */
import { STEP_BOUNDS } from '../../src/domain/step-bounds.ts';

/** One limit, as `LIMIT_TABLE` in src/domain/limits.ts declares it. */
export interface Limit {
  readonly value: number | string;
  readonly unit: string;
  readonly why: string;
}

/** Reads `LIMIT_TABLE`, and refuses an entry without value, unit or reason. */
export async function loadLimits(): Promise<ReadonlyMap<string, Limit>> {
  const source = new URL('../../src/domain/limits.ts', import.meta.url);
  const module: { readonly LIMIT_TABLE?: unknown } = await import(source.href);
  if (typeof module.LIMIT_TABLE !== 'object' || module.LIMIT_TABLE === null) {
    throw new Error(
      'src/domain/limits.ts must export LIMIT_TABLE, a record of { value, unit, why }',
    );
  }
  return new Map(
    Object.entries(module.LIMIT_TABLE).map(([name, entry]) => [name, limit(name, entry)]),
  );
}

/** Limits that only scripts use. */
const BOUNDS: ReadonlyMap<string, Limit> = new Map(Object.entries<Limit>(STEP_BOUNDS));

/** Tables in the order of the code. */
export function renderLimits(limits: ReadonlyMap<string, Limit>): string {
  return [
    '# Limits',
    '',
    'Every loop, batch, buffer and string has a maximum. This page is made from',
    '`src/domain/limits.ts` and `src/domain/step-bounds.ts` by `npm run docs`; change the',
    'numbers there.',
    '',
    ...table(limits),
    '',
    '## What one step does',
    '',
    'Each of these bounds a part of one step, and few of them only scripts on Redis; what is left waits\nfor the next.',
    '',
    ...table(BOUNDS),
    '',
  ].join('\n');
}

function table(limits: ReadonlyMap<string, Limit>): readonly string[] {
  return [
    '| Limit | Value | Unit | Why this number |',
    '|---|---:|---|---|',
    ...[...limits].map(
      ([name, { value, unit, why }]) =>
        `| \`${name}\` | ${number(value)} | ${cell(unit)} | ${cell(why)} |`,
    ),
  ];
}

function limit(name: string, entry: unknown): Limit {
  if (typeof entry === 'object' && entry !== null) {
    const { value, unit, why }: Partial<Record<keyof Limit, unknown>> = entry;
    const valued = typeof value === 'number' || typeof value === 'string';
    if (valued && typeof unit === 'string' && typeof why === 'string') return { value, unit, why };
  }
  throw new Error(`LIMIT_TABLE.${name} must be { value, unit, why }`);
}

function number(value: number | string): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : cell(value);
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ');
}
