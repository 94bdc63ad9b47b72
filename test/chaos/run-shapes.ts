/** The workflows of `npm run chaos -- --runs n`, and what each gives. Handlers: `run-worker.mjs`. */

import { dynamic, each, parallel, ref, type Step, type Task } from 'fairloom';
import type { AnyStep } from 'fairloom/types';
import type { SeededRandom } from './seeded-random.ts';
import type { Waking, Witness } from './wakers.ts';

/** A number, and a mark that tells which result of which start it is. */
export interface Token {
  readonly v: number;
  readonly mark: string;
  /** Rounds that `walk` is to make. */
  readonly left?: number;
}

/** One run as it is to be sent, and how it is to end. */
export interface Shape {
  readonly name: string;
  readonly step: AnyStep;
  readonly options: { readonly form?: 'driven'; readonly retries?: number };
  /** What comes of this input: the sum of the tokens in the output. With `fails`: either. */
  readonly sum?: (input: Token) => number;
  /** Signals `go` that it waits for, each with {@link SIGNALED}. */
  readonly signals?: number;
  /** Ends its other waits, and sees what comes of that. */
  readonly wake?: (waking: Waking) => Promise<Witness>;
  /** What it fails with, if it is to fail. */
  readonly fails?: string;
}

/** What comes with each signal: far more than nodes add. */
export const SIGNALED = 1_000;

type Node = Step<Token, Token>;
type Gather = Step<unknown, Token>;

const add = ref<Task<unknown, Token>>('add');
const split = ref<Task<Token, Token[]>>('split');
const hopeless = ref<Task<Token, Token>>('hopeless');
const slow = ref<Task<Token, Token>>('slow');
const flaky = ref<Task<Token, Token>>('flaky');
const sub = ref<Task<Token, Token>>('sub');
const hear = ref<Task<Token, Token>>('hear');
/** Its code is the workers'; this is what the graph says of it. */
const walk = dynamic('walk', { retries: 4 }, (input: Token) => input);

const one = (name: string): Node => add.as(name) as unknown as Node;
const all = (name: string): Gather => add.as(name);
const driven = { form: 'driven' } as const;

const line = one('a')
  .pipe(parallel({ b: one('b'), c: one('c').pipe(one('d')) }))
  .pipe(all('e'));
const lineSum = ({ v }: Token): number => v + 2 + (v + 3) + 1;

const LEAF: Node = one('leaf');

/** Groups in members of groups, `depth` deep. */
function nested(depth: number): Node {
  if (depth === 0) return LEAF;
  const options = { name: `g${depth}`, ...(depth === 2 ? { concurrency: 1 } : {}) };
  return split
    .as(`split${depth}`)
    .pipe(each(nested(depth - 1), options))
    .pipe(all(`sum${depth}`)) as unknown as Node;
}

function nestedSum(depth: number, v: number): number {
  return depth === 0 ? v + 1 : nestedSum(depth - 1, v) + nestedSum(depth - 1, v + 1) + 1;
}

const loop = walk.pipe(all('after') as never) as unknown as Node;
/** Each round adds one; then two members add one each, and what follows adds one. */
const loopSum = ({ v, left = 0 }: Token): number => 2 * (v + left + 1) + 1;

const subSum = (v: number): number => 2 * (v + 2) + 1;

/** Those that sleep and wait for signals. */
export const WAITING_SHAPES: readonly Shape[] = [
  {
    name: 'a node that waits for a signal',
    step: one('a').pipe(hear).pipe(all('z')),
    options: {},
    signals: 1,
    sum: ({ v }) => v + 3 + SIGNALED,
  },
  {
    name: 'nodes that wait for signals, driven',
    step: hear.as('h1').pipe(hear.as('h2')).pipe(all('z')),
    options: driven,
    signals: 2,
    sum: ({ v }) => v + 3 + 2 * SIGNALED,
  },
  {
    name: 'members that wait for signals to their run',
    step: split.pipe(each(hear)).pipe(all('z')),
    options: driven,
    signals: 2,
    sum: ({ v }) => 2 * v + 4 + 2 * SIGNALED,
  },
];

const SHAPES: readonly Shape[] = [
  { name: 'line', step: line, options: {}, sum: lineSum },
  { name: 'line, driven', step: line, options: driven, sum: lineSum },
  ...[2, 3, 4].map(
    (depth): Shape => ({
      name: `groups, ${depth} deep`,
      step: nested(depth),
      options: driven,
      sum: ({ v }) => nestedSum(depth, v),
    }),
  ),
  { name: 'loop', step: loop, options: driven, sum: loopSum },
  {
    name: 'loops in a group',
    step: split.pipe(each(loop)).pipe(all('z')),
    options: driven,
    sum: ({ v }) => loopSum({ v, mark: '' }) + loopSum({ v: v + 1, mark: '' }) + 1,
  },
  {
    name: 'handler that runs steps',
    step: sub.pipe(all('z')),
    options: {},
    sum: ({ v }) => subSum(v) + 1,
  },
  {
    name: 'handlers that run steps, in a group',
    step: split.pipe(each(sub)).pipe(all('z')),
    options: driven,
    sum: ({ v }) => subSum(v) + subSum(v + 1) + 1,
  },
  ...WAITING_SHAPES,
  {
    name: 'best effort',
    step: parallel({ good: one('good'), hopeless }, { policy: 'bestEffort' }).pipe(all('z')),
    options: {},
    sum: ({ v }) => v + 2,
  },
  {
    name: 'at least one, failing fast',
    step: parallel(
      { good: one('good'), hopeless },
      { policy: { atLeast: 1 }, failFast: true },
    ).pipe(all('z')),
    options: driven,
    sum: ({ v }) => v + 2,
  },
  {
    name: 'a policy of its own',
    step: parallel({ x: one('x'), y: one('y'), hopeless }, { policy: { name: 'most' } }).pipe(
      all('z'),
    ),
    options: driven,
    sum: ({ v }) => 2 * (v + 1) + 1,
  },
  {
    name: 'a member that fails',
    step: split.pipe(each(parallel({ good: one('good'), hopeless }))),
    options: driven,
    fails: 'it was to fail',
  },
  {
    name: 'a member that fails fast',
    step: parallel({ hopeless, slow }, { failFast: true }),
    options: driven,
    fails: 'it was to fail',
  },
  {
    name: 'a group whose time is up',
    step: parallel({ good: one('good'), slow }, { timeout: 500 }),
    options: driven,
    // When no worker could look before all had ended, it finishes.
    sum: ({ v }) => 2 * (v + 1),
    fails: 'TimedOutError',
  },
  {
    name: 'a producer that is retried',
    step: parallel({ flaky, good: one('good') }).pipe(all('z')),
    options: { ...driven, retries: 3 },
    sum: ({ v }) => 2 * (v + 1) + 1,
  },
];

/** Every shape has been come to after so many. */
export const SHAPE_COUNT: number = SHAPES.length;

/** The shapes in turn, each time in another order. */
export function* shapesOf(
  seeded: SeededRandom,
  shapes: readonly Shape[] = SHAPES,
): Generator<Shape, never> {
  for (;;) yield* seeded.shuffled(shapes);
}
