/** Workflows as text: the same graphs as pipe() and parallel(), and errors that say where. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError, NotationError } from '../../src/domain/errors/errors.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import { compile } from '../../src/workflow/compile.ts';
import { notation, parseNotation } from '../../src/workflow/notation/notation.ts';
import { parallel } from '../../src/workflow/parallel.ts';
import type { AnyStep } from '../../src/workflow/step.ts';
import { a, b, c, d, orderOf, shapeOf, step } from './kit.ts';

const steps = { a, b, c, d };

const ab = a.pipe(b);

describe('the notation', () => {
  it.each<[string, AnyStep]>([
    ['a', a],
    ['a >> b', ab],
    ['a>>b', ab],
    ['b << a', ab],
    ['a >> b >> c', ab.pipe(c)],
    ['c << b << a', ab.pipe(c)],
    ['b << a >> c', ab.pipe(c)],
    ['a | b', parallel(a, b)],
    ['a | b | c', parallel(a, b, c)],
    ['(a | b) | c', parallel(parallel(a, b), c)],
    ['a | (b | c)', parallel(a, parallel(b, c))],
    ['a >> (b | c) >> d', a.pipe(parallel(b, c)).pipe(d)],
    ['a >> b | c', parallel(ab, c)],
    ['c | a >> b', parallel(c, ab)],
    ['((a >> b) | c) >> d', parallel(ab, c).pipe(d)],
    ['d << ((a >> b) | c)', parallel(ab, c).pipe(d)],
    ['a >> (b >> (c >> d))', ab.pipe(c).pipe(d)],
    ['((((a))))', a],
    [' \n a\n  >>\tb ', ab],
  ])('%s is what it looks like', (text, expected) => {
    expect(shapeOf(parseNotation(text, steps))).toBe(shapeOf(expected));
  });

  it('is the same in a template, with steps in its holes', () => {
    expect(shapeOf(notation`${a} >> (${b} | ${c}) >> ${d}`)).toBe(
      shapeOf(parseNotation('a >> (b | c) >> d', steps)),
    );
    expect(shapeOf(notation`${d} << ${ab}`)).toBe(shapeOf(ab.pipe(d)));
    expect(notation`${a}`.type).toBe('pipeline');
  });

  it('finds steps by the keys of a record or a map', () => {
    const extract = parseNotation(
      'first >> second',
      new Map(Object.entries({ first: a, second: b })),
    );
    expect(shapeOf(extract)).toBe(shapeOf(ab));
    expect(() => parseNotation('toString', {})).toThrow(NotationError);
  });

  // A-W26
  it('keeps every edge of ((a >> b) | c) >> d', () => {
    expect(orderOf(notation`((${a} >> ${b}) | ${c}) >> ${d}`)).toEqual([
      'a<b',
      'a<d',
      'b<d',
      'c<d',
    ]);
  });

  // O65
  it('reads what is long or deep without a deep stack', () => {
    const many = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, at) => [`t${at}`, step(`t${at}`)]),
    );
    const names = Object.keys(many);
    expect(compile(parseNotation(names.join(' >> '), many)).nodes).toHaveLength(10_000);
    expect(compile(parseNotation(names.join('|'), many)).nodes).toMatchObject([
      { members: { length: 10_000 } },
    ]);
    const deep = `${'('.repeat(100_000)}a${')'.repeat(100_000)}`;
    expect(shapeOf(parseNotation(deep, steps))).toBe(shapeOf(a));
    const right = names.reduceRight(
      (text, name) => (text === '' ? name : `${name}>>(${text})`),
      '',
    );
    expect(compile(parseNotation(right, many)).nodes).toHaveLength(10_000);
  });
});

describe('errors of the notation', () => {
  it.each<[string, number, string]>([
    ['', 0, 'a step or "("'],
    ['   ', 3, 'a step or "("'],
    ['a >>', 4, 'a step or "("'],
    ['>> a', 0, 'a step or "("'],
    ['a >> >> b', 5, 'a step or "("'],
    ['a | )', 4, 'a step or "("'],
    ['()', 1, 'a step or "("'],
    ['a b', 2, '">>", "<<", "|" or the end'],
    ['(a b)', 3, '">>", "<<", "|" or ")"'],
    ['a (b)', 2, '">>", "<<", "|" or the end'],
    ['a)', 1, '">>", "<<", "|" or the end'],
    ['(a', 2, '")" for the "(" at character 1'],
    ['b >> (a | c', 11, '")" for the "(" at character 6'],
    ['a > b', 2, 'a name, ">>", "<<", "|", "(" or ")"'],
    ['a >> 😀', 5, 'a name, ">>", "<<", "|", "(" or ")"'],
    ['a >> nobody', 5, 'one of a, b, c, d'],
  ])('%j goes wrong at %i', (text, position, expected) => {
    expect(() => parseNotation(text, steps)).toThrow(
      expect.objectContaining({ code: 'NOTATION', position, expected }),
    );
  });

  it('name line and column, and what was there', () => {
    const read = (): unknown => parseNotation('a\n  >> b\n  >> | c', steps);
    expect(read).toThrow('notation, line 3, column 6: expected a step or "(", got "|"');
    expect(read).toThrow(expect.objectContaining({ line: 3, column: 6, position: 14 }));
  });

  it('name the place in a template', () => {
    expect(() => notation`${a} ${b}`).toThrow(
      expect.objectContaining({ position: 4, expected: '">>", "<<", "|" or the end' }),
    );
    expect(() => notation`${a} >> name`).toThrow(NotationError);
    expect(() => notation`${a} >> ${'b' as never}`).toThrow(InvalidOptionError);
  });

  it('show a few of many names, or that there are none', () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`s${at}`, a]));
    expect(() => parseNotation('x', many)).toThrow(/one of s0, .* s9, …, got "x"/);
    expect(() => parseNotation('x', {})).toThrow(/there is none/);
  });

  it('refuse texts beyond the limit, and what is no text', () => {
    const long = ' '.repeat(LIMITS.notationLength + 1);
    expect(() => parseNotation(long, steps)).toThrow(InvalidOptionError);
    expect(() => parseNotation(1 as never, steps)).toThrow(InvalidOptionError);
  });

  it('are the only thing that a text of these signs can throw', () => {
    const sign = fc.constantFrom('a', 'b', ' ', '>>', '<<', '|', '(', ')', '>', '\n', 'é');
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 12 }), (signs) => {
        const text = signs.join('');
        let pipeline: AnyStep | undefined;
        let position = 0;
        try {
          pipeline = parseNotation(text, steps);
        } catch (error) {
          if (!(error instanceof NotationError)) throw error;
          position = error.position;
        }
        expect(pipeline !== undefined || position <= text.length).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a text', () => {
  type Tree = 'leaf' | { readonly sign: '>>' | '<<' | '|'; readonly parts: readonly [Tree, Tree] };

  const tree = fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constant<Tree>('leaf'),
      fc.record({
        sign: fc.constantFrom('>>', '<<', '|'),
        parts: fc.tuple(tie('tree'), tie('tree')),
      }),
    ),
  })).tree;

  it('has the graph that pipe() and parallel() make of its parts', () => {
    fc.assert(
      fc.property(tree, (whole) => {
        const known: Record<string, AnyStep> = {};
        const write = (part: Tree): { readonly text: string; readonly step: AnyStep } => {
          if (part === 'leaf') {
            const name = `n${Object.keys(known).length}`;
            known[name] = step(name);
            return { text: name, step: step(name) };
          }
          const [left, right] = part.parts.map(write) as [Written, Written];
          const text = `(${left.text} ${part.sign} ${right.text})`;
          if (part.sign === '|') return { text, step: parallel(left.step, right.step) };
          const [first, second] = part.sign === '>>' ? [left, right] : [right, left];
          return { text, step: (first.step as typeof a).pipe(second.step as typeof a) };
        };
        type Written = ReturnType<typeof write>;
        const { text, step: expected } = write(whole);
        expect(shapeOf(parseNotation(text, known))).toBe(shapeOf(expected));
      }),
      { numRuns: 1_000 },
    );
  });
});
