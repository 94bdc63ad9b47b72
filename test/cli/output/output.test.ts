/** The pieces that put data on stdout. */
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { shownLength, shownMoment } from '../../../src/cli/terminal/moments.ts';
import { Output, type OutputForm, type View } from '../../../src/cli/terminal/output.ts';
import { styleFor, terminalLine } from '../../../src/cli/terminal/style.ts';
import { cellText, textTable } from '../../../src/cli/terminal/text-table.ts';

interface Row {
  readonly id: string;
  readonly count: number;
}

const VIEW: View<Row> = {
  columns: () => [
    { title: 'ID', cell: ({ id }) => cellText(id) },
    { title: 'COUNT', cell: ({ count }) => String(count), align: 'right' },
  ],
  json: (row) => row,
  id: ({ id }) => id,
  none: 'no rows',
};

function written(form: OutputForm, rows: readonly Row[]): { out: string; err: string } {
  const text = { out: '', err: '' };
  const stream = (name: 'out' | 'err'): Writable =>
    new Writable({
      write: (chunk, _encoding, done) => {
        text[name] += String(chunk);
        done();
      },
    });
  new Output(form, { out: stream('out'), err: stream('err'), env: {} }).rows(rows, VIEW);
  return text;
}

describe('Output', () => {
  const rows = [
    { id: 'a', count: 1 },
    { id: 'bcd', count: 1_000 },
  ];

  it.each([
    ['table', 'ID   COUNT\na        1\nbcd   1000\n'],
    ['json', `${JSON.stringify(rows, undefined, 2)}\n`],
    ['jsonl', '{"id":"a","count":1}\n{"id":"bcd","count":1000}\n'],
    ['id', 'a\nbcd\n'],
  ] as const)('writes %s', (form, out) => {
    expect(written(form, rows)).toEqual({ out, err: '' });
  });

  it('keeps an empty answer readable by programs', () => {
    expect(written('json', [])).toEqual({ out: '[]\n', err: '' });
    expect(written('jsonl', [])).toEqual({ out: '', err: '' });
    expect(written('table', [])).toEqual({ out: '', err: 'no rows\n' });
  });
});

describe('cellText', () => {
  it('lets no text of others move the cursor', () => {
    expect(cellText('a\u001b[2Jb\r\nc\u2028d')).toBe('a\ufffd[2Jb\ufffd\ufffdc\ufffdd');
  });

  it('shortens by characters, never inside one', () => {
    expect(cellText('😀'.repeat(100))).toBe(`${'😀'.repeat(79)}…`);
  });
});

describe('textTable', () => {
  it('aligns wide and colored text by what is seen', () => {
    const lines = textTable(
      ['ab', '日本', styleFor({ isTTY: true }, {}).red('red')],
      [
        { title: 'T', cell: (text) => text },
        { title: 'U', cell: () => 'x' },
      ],
    );
    expect(lines.map(terminalLine)).toEqual([
      'T     U',
      'ab    x',
      '日本  x',
      '\u001b[31mred\u001b[39m   x',
    ]);
  });
});

describe('styleFor', () => {
  const red = (isTTY: boolean, env: NodeJS.ProcessEnv): string =>
    terminalLine(styleFor({ isTTY }, env).red('x'));

  it('colors a terminal, unless NO_COLOR or a dumb terminal forbids it', () => {
    expect(red(true, {})).toBe('\u001b[31mx\u001b[39m');
    expect(red(false, {})).toBe('x');
    expect(red(true, { NO_COLOR: '1' })).toBe('x');
    expect(red(true, { NO_COLOR: '' })).toBe('\u001b[31mx\u001b[39m');
    expect(red(true, { TERM: 'dumb' })).toBe('x');
    expect(red(false, { FORCE_COLOR: '1' })).toBe('\u001b[31mx\u001b[39m');
    expect(red(false, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe('x');
  });
});

describe('moments', () => {
  it.each([
    [0, '0ms'],
    [999.4, '999ms'],
    [1_000, '1.0s'],
    [59_900, '59.9s'],
    [200_000, '3m 20s'],
    [3_600_000, '1h'],
    [90_061_000, '1d 1h'],
  ])('shows %d ms as %s', (ms, text) => {
    expect(shownLength(ms)).toBe(text);
  });

  it('says before and after', () => {
    expect(shownMoment(5_000, 1_000)).toBe('in 4.0s');
    expect(shownMoment(1_000, 5_000)).toBe('4.0s ago');
  });
});
