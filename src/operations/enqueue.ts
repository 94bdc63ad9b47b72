/** What may be said about a task or run that is stored over HTTP. */
import { present } from '../base/records.ts';
import type { Duration } from '../base/time.ts';
import type { Fairloom } from '../client/client.ts';
import { InvalidOptionError, UnknownDependencyError } from '../domain/errors/errors.ts';
import type { EnqueueOptions } from '../enqueue/enqueue-options.ts';
import type { PriorityName } from '../workflow/task-options.ts';
import {
  anything,
  type Field,
  flagged,
  integer,
  length,
  moment,
  number,
  or,
  priority,
  required,
  text,
  texts,
  type Values,
} from './fields.ts';
import { seenOf } from './owned.ts';
import { missing } from './refusal.ts';
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
  name: required(text('The name of the task, or of the pipeline.', 'name')),
  input: anything('The input of its handler.'),
  user: text('The user whose turn it takes; default: `default`.', 'id'),
  queue: text('The queue it waits in; default: `default`.', 'name'),
  priority: priority('Its priority among the tasks of its user; default: normal.'),
  id: text('Its id; enqueuing it again changes nothing.', 'id'),
  delay: length('How long it waits before its first start.'),
  executeAfter: flagged(moment('It does not start before this moment.'), 'at'),
  idempotencyKey: text('At most one task per key, name, user and queue at a time.', 'key'),
  dependsOn: texts('Ids of tasks that must finish before.', 'id'),
};

/** Of a task. */
export const ENQUEUE_FIELDS: PlaceFields & AttemptFields = {
  ...RUN_FIELDS,
  retries: integer('Attempts after the first.', { least: 0, most: 1_000_000 }),
  timeout: or(length('How long one attempt may run; `none` for no limit.'), 'none'),
  expiresIn: length('How long it may wait; after that it is not started.'),
  cost: number('Turns that it takes; default: 1.'),
};

type Said = Values<PlaceFields> & Partial<Values<AttemptFields>>;

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
