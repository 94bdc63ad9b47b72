/** Fingerprints of failures: equal for similar failures; see `errorGroupOf`. */
import { createHash } from 'node:crypto';
import { errorOf } from '../codec/task-error.ts';
import type { Decision } from '../domain/port/backend.ts';
import { culpritOf } from '../domain/task/cause.ts';
import { likeness } from '../domain/task/error-likeness.ts';
import { nameIn } from '../domain/task/task-name.ts';

/** Hexadecimal digits of a fingerprint: 64 bits. */
const DIGITS = 16;

/** The same decision; if the attempt fails, its cause has the fingerprint. */
export function fingerprinted(decision: Decision, name: string): Decision {
  if (decision.type !== 'retry' && decision.type !== 'dead-letter') return decision;
  const { cause } = decision;
  const isFailure = cause.type === 'attempts' || cause.type === 'fatal' || cause.type === 'decider';
  const error = errorOf(decision.error);
  if (!isFailure || error === undefined || culpritOf(cause) !== undefined) return decision;
  const parts = [nameIn(name), cause.node ?? '', error.name, likeness(error.message)];
  const hash = createHash('sha256').update(parts.join('\n')).digest('hex');
  return { ...decision, cause: { ...cause, fingerprint: hash.slice(0, DIGITS) } };
}
