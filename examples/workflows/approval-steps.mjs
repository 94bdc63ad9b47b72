// The pipeline of approval.mjs: an expense is paid only if a person of finance approves it.
import { ask, task } from 'fairloom';

/** The time that finance has to answer: a day or two in a real company. */
const PATIENCE = '3s';

const check = task('check', (/** @type {{ what: string, euros: number }} */ expense) => expense);

/** A question with a timeout: after `PATIENCE` the outcome is that there is no answer. */
const asked = ask({
  name: 'ask-soon',
  title: (/** @type {{ what: string, euros: number }} */ { what, euros }) =>
    `Pay ${euros} € for ${what}?`,
  choices: ['approve', 'reject'],
  for: ['role:finance'],
  timeout: PATIENCE,
  onTimeout: { value: 'nobody answered' },
});

/** The same without a timeout. */
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

/** Waits for an answer without a timeout. */
export const expense = check.pipe(askedLong).pipe(pay).as('expense');

/** Ends with the timeout if there is no answer. */
export const hasty = check.pipe(asked).pipe(pay).as('hasty');
