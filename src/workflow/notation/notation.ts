/**
 * Workflows as text: `a >> b` is a, then b with its output; `a << b` the same from right to left;
 * `a | b` both on one input, giving a tuple. `>>` and `<<` bind tighter than `|`, as they do in
 * Python, from which they come; all are read from left to right; parentheses group. The result is
 * the same as that of `pipe` and `parallel`, but for the types, which end here.
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

/** A workflow whose types are not known. */
export type UntypedPipeline = Pipeline<unknown, unknown, unknown>;

/**
 * A workflow of steps at hand: a template with steps in its holes, parted by `>>`, `<<` and `|`.
 *
 * @throws {@link NotationError} with the place where the text goes wrong; a hole counts as three
 * characters.
 * @throws {@link InvalidOptionError} when a hole is no step, or the first is no template.
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
  // `every` passes over holes, which a template has none of.
  return Array.isArray(value) && value.length > 0 && [...value].every(isText);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

/**
 * A workflow of steps by their names, as `extract >> (check | transform) >> load`. The steps are
 * found by the keys of the record or map.
 *
 * @throws {@link NotationError} with the place where the text goes wrong, or of a name that is not
 * known.
 * @throws {@link InvalidOptionError} for what is no text, or no steps by name.
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

/** Names that a message shows. */
const SHOWN_NAMES = 10;

function namesOf(known: ReadonlyMap<string, AnyStep>): string {
  const names = [...known.keys()];
  const more = names.length > SHOWN_NAMES ? ', …' : '';
  const list = names.slice(0, SHOWN_NAMES).join(', ');
  return names.length === 0 ? 'a known step (there is none)' : `one of ${list}${more}`;
}

/** Steps that are read and not yet put together. */
interface Operand {
  /** Several while a chain of `|` is open; parentheses close it. */
  readonly parts: StepDefinition[];
}

type Operator = '>>' | '<<' | '|' | '(';
type StepToken = Token & { readonly kind: 'step' };

/** Reads with two stacks of its own, so that no text is nested too deep for it. */
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

  /** Where a step must come. @returns whether one must still come. */
  #begin(token: Token): boolean {
    if (token.kind === '(') {
      this.#operators.push({ sign: '(', at: token.at });
      return true;
    }
    if (token.kind !== 'step') throw this.#wrong(token, 'a step or "("');
    this.#operands.push({ parts: [this.#resolve(token)] });
    return false;
  }

  /** After a step. @returns whether another must come. */
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

  /** Puts together what the operators on top join. */
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
    // The chain grows in place: a copy at every step would make long ones quadratic.
    left.parts.push(closed(right));
    return left;
  }
  const [first, second] = sign === '<<' ? [right, left] : [left, right];
  return { parts: [closed(first).pipe(closed(second))] };
}

/** One step, of any operand. */
function closed(operand: Operand | undefined): StepDefinition {
  const [only, ...more] = operand?.parts ?? [];
  if (only === undefined || more.length > 0) return tupleOf(operand?.parts ?? []);
  return only;
}

/** A step whose types are not known here: what it is given is checked where it is used. */
export function untyped(step: StepDefinition | AnyStep): UntypedPipeline {
  return step as unknown as UntypedPipeline;
}
