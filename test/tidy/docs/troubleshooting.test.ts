/** docs/guide/troubleshooting.md quotes what the code prints, and has every error that reaches users. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type ErrorSamples, errorSamples } from '../../support/docs/error-samples.ts';
import { filesBelow, read } from '../../support/files.ts';

interface Row {
  readonly text: string;
  /** A code, or where else the text appears. */
  readonly code: string;
}

const page = read('docs/guide/troubleshooting.md');
const rows: readonly Row[] = [
  ...page.matchAll(/^\| `([^`]+)` \| (?:`([A-Z_]+)`|(log|command line)) \|/gm),
].map(([, text = '', code, place]) => ({ text, code: code ?? place ?? '' }));

/** The source, with `<>` for what is put into a text at run time. */
const source = filesBelow('src', /(?<!generated)\.ts$/)
  .map((path) => read(path).replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '<>'))
  .join('\n');

const PART = /<[^<>]+>/g;

/** Whether a message is one that a row stands for. */
function stands({ text }: Row, message: string): boolean {
  const literals = text.split(PART).map(escaped);
  return new RegExp(`^${literals.join('[^]+')}$`).test(message);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Whether a text stands in the source as it is, or as the two parts of an option's refusal. */
function isWritten(text: string): boolean {
  const [, option, expected] = /^(\w+): expected ([^<]+), got </.exec(text) ?? [];
  if (option !== undefined) return source.includes(`'${option}', '${expected}'`);
  const literals = text.split(PART);
  return literals.join('').length > 12 && source.includes(literals.join('<>'));
}

let samples: ErrorSamples;
let messages: readonly Row[];

beforeAll(async () => {
  samples = await errorSamples();
  messages = Object.entries(samples).flatMap(([code, made]) =>
    typeof made === 'string' ? [] : made.map(({ message }) => ({ code, text: message })),
  );
});

describe('docs/guide/troubleshooting.md', () => {
  it('quotes nothing but what the code prints', () => {
    const printed = ({ code, text }: Row): boolean =>
      messages.some((made) => made.code === code && stands({ code, text }, made.text)) ||
      isWritten(text);
    expect(rows.length).toBeGreaterThan(60);
    expect(rows.filter((row) => !printed(row))).toEqual([]);
  });

  it('has every error that reaches users, under its code', () => {
    const missing = messages.filter(
      ({ code, text }) => !rows.some((row) => row.code === code && stands(row, text)),
    );
    expect(messages.length).toBeGreaterThan(50);
    expect(missing).toEqual([]);
  });

  it('has each of them but those whose text is not ours', () => {
    const codes = Object.keys(samples);
    const ours = codes.filter((code) => messages.some((made) => made.code === code));
    const quoted = new Set(
      rows.map(({ code }) => code).filter((code) => code === code.toUpperCase()),
    );
    expect([...quoted].sort()).toEqual(ours.toSorted());
    expect(codes.filter((code) => !ours.includes(code))).toEqual(['FATAL', 'RETRY_AFTER']);
  });

  it('quotes what explain says', () => {
    const [, table = ''] = /\| Output \|([\s\S]*?)\n\n/.exec(page) ?? [];
    const said = [...table.matchAll(/^\| (`.+?) \| /gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text),
    );
    expect(said.length).toBeGreaterThan(7);
    expect(said.filter((text) => !source.includes(text.replaceAll(PART, '<>')))).toEqual([]);
  });
});
