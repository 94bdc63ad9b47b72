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
    about: 'The first delay between attempts, or every one.',
    fallback: LIMITS.backoffMs,
  }),
  max: taskLeaf('backoff', 'max', 'duration', {
    about: 'The longest delay.',
    fallback: LIMITS.backoffMaxMs,
  }),
  jitter: taskLeaf('backoff', 'jitter', 'text', {
    about: '`full`: random from 0 to the delay; `equal`: from half of it; `none`.',
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
    about: 'Timeout of one attempt, or `none`. Longer than the lease of every worker.',
    fallback: LIMITS.timeoutMs,
  }),
  queue: taskLeaf('', 'queue', 'text', { about: 'Queue of tasks.', fallback: 'default' }),
  priority: taskLeaf('', 'priority', 'number', {
    about: 'Order among the tasks of one user: 1 to 6, or `very-low` to `critical`.',
    fallback: 'normal',
  }),
  cost: taskLeaf('', 'cost', 'number', {
    about: 'Turns that a task takes from its user.',
    fallback: 1,
  }),
  expiresIn: taskLeaf('', 'expiresIn', 'duration', {
    about: 'A task that has not started this long after it was due ends as failed.',
    otherwise: 'never',
  }),
  keepLogs: taskLeaf('', 'keepLogs', 'text', {
    about:
      'Lines of `ctx.log` that are kept with their task: those of attempts that fail or take longer than a second (`failures`), all (`always`), none (`never`).',
    fallback: 'failures',
  }),
};
