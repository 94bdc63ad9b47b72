/** Limits of waits for signals and for people; part of `limits.ts`. */
import { type Limit, limit } from './limit.ts';

/** Names of these limits. */
export type WaitLimitName =
  | 'signals'
  | 'signalBytes'
  | 'signalIds'
  | 'askChoices'
  | 'askNames'
  | 'askBytes'
  | 'events'
  | 'eventBytes'
  | 'eventKeepMs'
  | 'eventLeastMs'
  | 'eventSchedules'
  | 'eventInputBytes';

/** Part of `LIMIT_TABLE`. */
export const WAIT_LIMITS: Readonly<Record<WaitLimitName, Limit>> = {
  signals: limit(1_000, 'signals', 'kept for one task until it waits for them'),
  signalBytes: limit(1_048_576, 'bytes', 'of the signals kept for one task; as a payload'),
  signalIds: limit(1_000, 'ids', 'of signals to one task: repeats of the newest are recognized'),
  askChoices: limit(32, 'choices', 'of one question: as many as a person can read'),
  askNames: limit(16, 'names', 'that one question is for: two indexes for each have it'),
  askBytes: limit(65_536, 'bytes', 'of a question, or of the data of an answer: read by people'),
  events: limit(32, 'events', 'kept of one name and key for waits that look back; the newest'),
  eventBytes: limit(32_768, 'bytes', 'of an event: so many are kept in a MiB'),
  eventKeepMs: limit(3_600_000, 'ms', 'default time that an event is kept'),
  eventSchedules: limit(16, 'schedules', 'that fire at events of one user and name, in one step'),
  eventInputBytes: limit(32_768, 'bytes', "of a schedule's input around an event; as an event"),
  eventLeastMs: limit(
    60_000,
    'ms',
    'a repeated call is recognized, and waits are woken, meanwhile',
  ),
};
