/** Schema of the defaults of tasks. */

import type { DefaultOptions } from '../core/options.ts';
import { LIMITS } from '../domain/limits.ts';
import type { BackoffOptions } from '../workflow/task-options.ts';
import { type Fields, taskLeaf } from './leaves.ts';

const backoff: Fields<BackoffOptions> = {
  kind: taskLeaf('backoff', 'kind', 'text', {
    about: '`exponential`: `base`, twice that, four times that …; `fixed`: `base` every time.',
    fallback: 'exponential',
  }),
  base: taskLeaf('backoff', 'base', 'duration', {
    about: 'The first wait between attempts, or every one.',
    fallback: LIMITS.backoffMs,
  }),
  max: taskLeaf('backoff', 'max', 'duration', {
    about: 'The longest wait.',
    fallback: LIMITS.backoffMaxMs,
  }),
  jitter: taskLeaf('backoff', 'jitter', 'text', {
    about: '`full`: anywhere from 0 to the wait; `equal`: from half of it; `none`.',
    fallback: 'full',
  }),
};

/** Defaults of tasks without an option of the enqueue or the definition. */
export const defaults: Fields<DefaultOptions> = {
  retries: taskLeaf('', 'retries', 'number', {
    about: 'Attempts after the first.',
    fallback: LIMITS.retries,
  }),
  backoff: { kind: 'section', fields: backoff },
  timeout: taskLeaf('', 'timeout', 'duration', {
    about: 'How long one attempt may run, or `none`. Longer than the lease of every worker.',
    fallback: LIMITS.timeoutMs,
  }),
  queue: taskLeaf('', 'queue', 'text', { about: 'Where tasks go.', fallback: 'default' }),
  priority: taskLeaf('', 'priority', 'number', {
    about: 'Order among the tasks of one user: 1 to 6, or `very-low` to `critical`.',
    fallback: 'normal',
  }),
  cost: taskLeaf('', 'cost', 'number', {
    about: 'Turns that a task takes from its user.',
    fallback: 1,
  }),
  expiresIn: taskLeaf('', 'expiresIn', 'duration', {
    about: 'A task that has not started so long after it was due ends as failed.',
    otherwise: 'never',
  }),
  keepLogs: taskLeaf('', 'keepLogs', 'text', {
    about:
      'Which lines of `ctx.log` are kept with their task: of attempts that fail or take longer than a second (`failures`), of all (`always`), of none (`never`).',
    fallback: 'failures',
  }),
};
