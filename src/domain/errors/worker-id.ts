import { InvalidOptionError } from './caller-errors.ts';
import { isOwn } from './fairloom-error.ts';

/** Another worker that lives has this id. */
export function workerIdTaken(id: string): InvalidOptionError {
  return new InvalidOptionError('id', 'a name that no other live worker has', id);
}

/** Whether it says that. */
export function isWorkerIdTaken(error: unknown): boolean {
  return (
    isOwn<InvalidOptionError>(error, 'INVALID_OPTION') &&
    error.expected === workerIdTaken('').expected
  );
}
