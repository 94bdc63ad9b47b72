/** What may be said about a task or run that is stored over HTTP. */
import { present } from '../../base/records.ts';
import type { Duration } from '../../base/time.ts';
import type { Fairloom } from '../../client/client.ts';
import { InvalidOptionError, UnknownDependencyError } from '../../domain/errors/errors.ts';
import type { EnqueueOptions } from '../../enqueue/enqueue-options.ts';
import { PRIORITY_NAMES, type PriorityName } from '../../workflow/task-options.ts';
import {
  anything,
  choice,
  type Field,
  integer,
  length,
  number,
  or,
  required,
  text,
  texts,
} from './fields.ts';
import { seenOf } from './owned.ts';
import { missing } from './problem.ts';
import type { View } from './view.ts';

/** Where it goes, and what it gets. */
type PlaceFields = {
  readonly name: Field<string>;
  readonly input: Field<unknown>;
  readonly user: Field<string | undefined>;
  readonly queue: Field<string | undefined>;
  readonly priority: Field<PriorityName | undefined>;
  readonly id: Field<string | undefined>;
  readonly delay: Field<Duration | undefined>;
  readonly executeAfter: Field<number | undefined>;
  readonly idempotencyKey: Field<string | undefined>;
  readonly dependsOn: Field<readonly string[] | undefined>;
};

/** How it is attempted. */
type AttemptFields = {
  readonly retries: Field<number | undefined>;
  readonly timeout: Field<Duration | 'none' | undefined>;
  readonly expiresIn: Field<Duration | undefined>;
  readonly cost: Field<number | undefined>;
};

/** Of a run. */
export const RUN_FIELDS: PlaceFields = {
  name: required(text('Of the task, or of the pipeline.')),
  input: anything('What its handler gets.'),
  user: text('Whose turn it takes; the only one that the caller sees unless it is said.'),
  queue: text('Where it stands in line.'),
  priority: choice('Where it stands among the tasks of its user.', PRIORITY_NAMES),
  id: text('Its id; enqueuing it again changes nothing. For callers that see all users.'),
  delay: length('It does not start before so long.'),
  executeAfter: integer('It does not start before this moment, in ms since the epoch.', {
    least: 0,
    most: 8.64e15,
  }),
  idempotencyKey: text('At most one per key, name, user and queue at a time.'),
  dependsOn: texts('Ids of tasks that must finish before.'),
};

/** Of a task. */
export const ENQUEUE_FIELDS: PlaceFields & AttemptFields = {
  ...RUN_FIELDS,
  retries: integer('Attempts after the first.', { least: 0, most: 1_000_000 }),
  timeout: or(length('How long one attempt may run; `none` for as long as it takes.'), 'none'),
  expiresIn: length('It is not started after so long.'),
  cost: number('Turns that it takes.'),
};

type Said = Pick<
  EnqueueOptions,
  | 'user'
  | 'queue'
  | 'id'
  | 'delay'
  | 'executeAfter'
  | 'idempotencyKey'
  | 'retries'
  | 'timeout'
  | 'expiresIn'
  | 'cost'
> & {
  readonly name: string;
  readonly input: unknown;
  readonly priority: PriorityName | undefined;
  readonly dependsOn: readonly string[] | undefined;
};

/**
 * The options that were said, for a user that the caller sees. A caller that sees some users only learns
 * nothing of ids of others: it chooses none, and what it depends on is its own.
 *
 * @throws the 404 of a user that it does not see; {@link UnknownDependencyError}.
 */
export async function enqueueOptions(
  loom: Fairloom,
  view: View,
  { name, input: _input, ...said }: Said,
): Promise<EnqueueOptions> {
  const user = ownUser(view, said.user);
  if (view.users !== undefined) {
    if (said.id !== undefined) {
      throw new InvalidOptionError('id', 'nothing: the id is chosen here', said.id);
    }
    const { dependsOn = [] } = said;
    const seen = await seenOf(loom, view, dependsOn);
    const other = dependsOn.find((id) => !seen.has(id));
    if (other !== undefined) throw new UnknownDependencyError(name, other);
  }
  return present({ ...said, user });
}

/** The user that a change is for: the one that was said, or the only one that the caller sees. */
export function ownUser(view: View, user: string | undefined): string | undefined {
  if (user === undefined) {
    const [only, ...others] = view.users ?? [];
    if (view.users === undefined || (only !== undefined && others.length === 0)) return only;
    throw new InvalidOptionError('user', 'one of the users that the caller sees', user);
  }
  if (view.sees(user)) return user;
  throw missing(`user ${user}`);
}
