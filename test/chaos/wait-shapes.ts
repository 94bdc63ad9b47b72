/** The workflows of `npm run chaos -- --waits n`: they sleep, and wait for signals, events and people. */
import { each, ref, type Task } from 'fairloom';
import { type Shape, SIGNALED, type Token, WAITING_SHAPES } from './run-shapes.ts';
import { answerTwice, answerWhenOver, publishOnce, publishStarting, readLive } from './wakers.ts';

const add = ref<Task<unknown, Token>>('add');
const split = ref<Task<Token, Token[]>>('split');
const listen = ref<Task<Token, Token>>('listen');
const decide = ref<Task<Token, Token>>('decide');
const doubt = ref<Task<Token, Token>>('doubt');
const speak = ref<Task<Token, Token>>('speak');

const one = (name: string) => add.as(name);
const driven = { form: 'driven' } as const;

/** What comes with a wait is added by who has brought it; the rest is of the nodes. */
const SHAPES: readonly Shape[] = [
  ...WAITING_SHAPES,
  {
    name: 'a node that waits for an event',
    step: one('a')
      .pipe(listen as never)
      .pipe(one('z') as never),
    options: {},
    wake: publishOnce,
    sum: ({ v }) => v + 3 + SIGNALED,
  },
  {
    name: 'members that wait for one event',
    step: split.pipe(each(listen)).pipe(one('z') as never),
    options: driven,
    wake: publishOnce,
    sum: ({ v }) => 2 * v + 4 + 2 * SIGNALED,
  },
  {
    name: 'an event that starts a task, too',
    step: one('a')
      .pipe(listen as never)
      .pipe(one('z') as never),
    options: driven,
    wake: publishStarting,
    sum: ({ v }) => v + 3 + SIGNALED,
  },
  {
    name: 'a question that two answer at once',
    step: one('a')
      .pipe(decide as never)
      .pipe(one('z') as never),
    options: {},
    wake: answerTwice,
    sum: ({ v }) => v + 3,
  },
  {
    name: 'a question that two answer at once, driven',
    step: one('a')
      .pipe(decide as never)
      .pipe(one('z') as never),
    options: driven,
    wake: answerTwice,
    sum: ({ v }) => v + 3,
  },
  {
    name: 'a question whose time is over when it is answered',
    step: one('a')
      .pipe(doubt as never)
      .pipe(one('z') as never),
    options: driven,
    wake: answerWhenOver,
    sum: ({ v }) => v + 3,
  },
  {
    name: 'a node that tells, sleeps, and tells more',
    step: one('a')
      .pipe(speak as never)
      .pipe(one('z') as never),
    options: driven,
    wake: readLive,
    sum: ({ v }) => v + 3,
  },
];

/** Those of `--waits`. */
export const WAIT_SHAPES: readonly Shape[] = SHAPES;
