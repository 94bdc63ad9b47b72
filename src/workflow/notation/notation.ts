/**
 * Workflows as text: `a >> b` runs a, then b with its output; `a << b` is the same from right to
 * left; `a | b` runs both on one input and gives a tuple. `>>` and `<<` bind tighter than `|`, as
 * in Python; all are left-associative; parentheses group. The result equals that of `pipe` and
 * `parallel`, but without types.
 */
import { InvalidOptionError, NotationError } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import { tupleOf } from '../parallel.ts';
import { demandStep, PipelineDefinition, type StepDefinition } from '../pipeline-definition.ts';
import type { AnyStep, Pipeline } from '../step.ts';
import {
  shownToken,
  type Token,
  type Tokens,
  tokensOf,
  tokensOfTemplate,
} from './notation-tokens.ts';

/** A workflow without known types. */
export type UntypedPipeline = Pipeline<unknown, unknown, unknown>;

/**
 * Composes steps by a template: steps in its holes, joined by `>>`, `<<` and `|`.
 *
 * @example
 * ```ts
 * import { Fairloom, memory, notation, task } from 'fairloom';
 *
 * const extract = task('extract', async (n: number) => n + 1);
 * const half = task('half', async (n: number) => n / 2);
 * const double = task('double', async (n: number) => n * 2);
 * const loom = new Fairloom({ backend: memory(), tasks: [extract, half, double] });
 * console.log(await loom.run(notation`${extract} >> (${half} | ${double})`, 7)); // prints [ 4, 16 ]
 * await loom.close();
 * ```
 *
 * @throws {@link NotationError} with the position of the fault; a hole counts as three characters.
 * @throws {@link InvalidOptionError} when a hole is not a step, or the first argument is not a
 * template.
 */
export function notation(
  strings: TemplateStringsArray,
  ...steps: readonly AnyStep[]
): UntypedPipeline {
  if (!isTemplate(strings)) throw new InvalidOptionError('notation', 'a template', strings);
  const parser = new Parser(tokensOfTemplate(strings), (token) => {
    const hole = token.hole ?? 0;
    return demandStep(`notation: hole ${hole + 1}`, steps[hole]);
  });
  return untyped(parser.pipeline());
}

function isTemplate(value: unknown): boolean {
  // `every` skips holes of an array; a template has none.
  return Array.isArray(value) && value.length > 0 && [...value].every(isText);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

/**
 * Composes steps by their names: `extract >> (check | transform) >> load`. Names are keys of the
 * record or map.
 *
 * @example
 * ```ts
 * import { Fairloom, memory, parseNotation, task } from 'fairloom';
 *
 * const half = task('half', async (n: number) => n / 2);
 * const double = task('double', async (n: number) => n * 2);
 * const loom = new Fairloom({ backend: memory(), tasks: [half, double] });
 * console.log(await loom.run(parseNotation('double >> half', { half, double }), 7)); // prints 7
 * await loom.close();
 * ```
 *
 * @throws {@link NotationError} with the position of the fault, or of an unknown name.
 * @throws {@link InvalidOptionError} when the text is not a text, or the steps are neither record
 * nor map.
 */
export function parseNotation(
  text: string,
  steps: Readonly<Record<string, AnyStep>> | ReadonlyMap<string, AnyStep>,
): UntypedPipeline {
  if (typeof text !== 'string' || text.length > LIMITS.notationLength) {
    const most = `a text of at most ${LIMITS.notationLength} characters`;
    throw new InvalidOptionError('notation', most, text);
  }
  if (typeof steps !== 'object' || steps === null) {
    throw new InvalidOptionError('steps', 'an object or map of steps by name', steps);
  }
  const known: ReadonlyMap<string, AnyStep> =
    steps instanceof Map ? steps : new Map(Object.entries(steps));
  const parser = new Parser(tokensOf(text), (token) => {
    const step = known.get(token.text);
    if (step !== undefined) return demandStep(`notation: ${token.text}`, step);
    throw new NotationError(text, token.at, namesOf(known), shownToken(token));
  });
  return untyped(parser.pipeline());
}

/** Number of names that a message lists. */
const SHOWN_NAMES = 10;

function namesOf(known: ReadonlyMap<string, AnyStep>): string {
  const names = [...known.keys()];
  const more = names.length > SHOWN_NAMES ? ', …' : '';
  const list = names.slice(0, SHOWN_NAMES).join(', ');
  return names.length === 0 ? 'a known step (there is none)' : `one of ${list}${more}`;
}

/** Parsed steps that are not combined yet. */
interface Operand {
  /** More than one while a chain of `|` is open; parentheses close it. */
  readonly parts: StepDefinition[];
}

type Operator = '>>' | '<<' | '|' | '(';
type StepToken = Token & { readonly kind: 'step' };

/** Parses with two explicit stacks, so that nesting cannot overflow the call stack. */
class Parser {
  readonly #source: Tokens;
  readonly #resolve: (token: StepToken) => StepDefinition;
  readonly #operands: Operand[] = [];
  readonly #operators: { readonly sign: Operator; readonly at: number }[] = [];

  constructor(source: Tokens, resolve: (token: StepToken) => StepDefinition) {
    this.#source = source;
    this.#resolve = resolve;
  }

  pipeline(): PipelineDefinition {
    let wantsStep = true;
    for (const token of this.#source.tokens) {
      wantsStep = wantsStep ? this.#begin(token) : this.#continueWith(token);
    }
    const first = closed(this.#operands.pop());
    if (first instanceof PipelineDefinition) return first;
    return new PipelineDefinition({ kind: 'sequence', first, second: undefined });
  }

  /** Reads a token where a step is required. @returns whether a step is still required. */
  #begin(token: Token): boolean {
    if (token.kind === '(') {
      this.#operators.push({ sign: '(', at: token.at });
      return true;
    }
    if (token.kind !== 'step') throw this.#wrong(token, 'a step or "("');
    this.#operands.push({ parts: [this.#resolve(token)] });
    return false;
  }

  /** Reads a token after a step. @returns whether another step is required. */
  #continueWith(token: Token): boolean {
    switch (token.kind) {
      case '>>':
      case '<<':
      case '|':
        this.#reduce(token.kind === '|' ? ['>>', '<<', '|'] : ['>>', '<<']);
        this.#operators.push({ sign: token.kind, at: token.at });
        return true;
      case ')':
        this.#close(token);
        return false;
      case 'end':
        this.#end(token);
        return false;
      default:
        throw this.#wrong(token, this.#afterStep());
    }
  }

  #close(token: Token): void {
    this.#reduce(['>>', '<<', '|']);
    if (this.#operators.pop() === undefined) throw this.#wrong(token, this.#afterStep());
    this.#operands.push({ parts: [closed(this.#operands.pop())] });
  }

  #end(token: Token): void {
    this.#reduce(['>>', '<<', '|']);
    const open = this.#operators.at(-1);
    if (open === undefined) return;
    throw this.#wrong(token, `")" for the "(" at character ${open.at + 1}`);
  }

  /** Combines the operands of the operators on top of the stack. */
  #reduce(signs: readonly Operator[]): void {
    for (;;) {
      const sign = this.#operators.at(-1)?.sign;
      if (sign === undefined || sign === '(' || !signs.includes(sign)) return;
      this.#operators.pop();
      const right = this.#operands.pop();
      const left = this.#operands.pop();
      this.#operands.push(joined(sign, left, right));
    }
  }

  #afterStep(): string {
    const isOpen = this.#operators.some(({ sign }) => sign === '(');
    return isOpen ? '">>", "<<", "|" or ")"' : '">>", "<<", "|" or the end';
  }

  #wrong(token: Token, expected: string): NotationError {
    return new NotationError(this.#source.text, token.at, expected, shownToken(token));
  }
}

function joined(sign: Operator, left: Operand | undefined, right: Operand | undefined): Operand {
  if (sign === '|' && left !== undefined) {
    // Appends in place: a copy per step would be quadratic.
    left.parts.push(closed(right));
    return left;
  }
  const [first, second] = sign === '<<' ? [right, left] : [left, right];
  return { parts: [closed(first).pipe(closed(second))] };
}

/** An operand as one step. */
function closed(operand: Operand | undefined): StepDefinition {
  const [only, ...more] = operand?.parts ?? [];
  if (only === undefined || more.length > 0) return tupleOf(operand?.parts ?? []);
  return only;
}

/** A step with unknown types: its input is checked where it is used. */
export function untyped(step: StepDefinition | AnyStep): UntypedPipeline {
  return step as unknown as UntypedPipeline;
}
