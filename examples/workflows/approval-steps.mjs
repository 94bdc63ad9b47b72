// The pipeline of approval.mjs: an expense is paid when somebody of finance approves it, and not else.
import { ask, task } from 'fairloom';

/** How long finance has: a day or two in a real company. */
const PATIENCE = '3s';

const check = task('check', (/** @type {{ what: string, euros: number }} */ expense) => expense);

/** Whose silence is no consent: after `PATIENCE` the answer is that there is none. */
const asked = ask({
  name: 'ask-soon',
  title: (/** @type {{ what: string, euros: number }} */ { what, euros }) =>
    `Pay ${euros} € for ${what}?`,
  choices: ['approve', 'reject'],
  for: ['role:finance'],
  timeout: PATIENCE,
  onTimeout: { value: 'nobody answered' },
});

/** The same for what may take as long as it takes. */
const askedLong = ask({
  title: (/** @type {{ what: string, euros: number }} */ { what, euros }) =>
    `Pay ${euros} € for ${what}?`,
  choices: ['approve', 'reject'],
  for: ['role:finance'],
});

const pay = task('pay', (/** @type {Answer} */ answer) => {
  if (!answer.answered) return `not paid: ${answer.value}`;
  return answer.choice === 'approve' ? `paid: ${answer.by} approved` : `not paid: ${answer.by}`;
});

/** @typedef {import('fairloom').AskAnswered<'approve' | 'reject'>
 *    | import('fairloom').AskUnanswered<string>} Answer */

/** Waits until somebody answers. */
export const expense = check.pipe(askedLong).pipe(pay).as('expense');

/** Is over when nobody does in time. */
export const hasty = check.pipe(asked).pipe(pay).as('hasty');
