/** What of a form of settings is sent: what differs alone. */
import { rateOf } from './rates.ts';

/** What a form holds, by field; an empty text takes a setting back. */
export type Texts = Readonly<Record<string, string>>;

/** How a text is sent, and what the command line calls it. */
type Sent = readonly [flag: string, read: (text: string) => unknown];

const OF_USER: Readonly<Record<string, Sent>> = {
  weight: ['--weight', Number],
  maxRunning: ['--max-running', Number],
  maxQueued: ['--max-queued', Number],
  rate: ['--rate', rateOf],
};

const OF_QUEUE: Readonly<Record<string, Sent>> = {
  maxRunning: ['--max-running', Number],
  rate: ['--rate', rateOf],
  charge: ['--charge', String],
  priorityWeights: ['--priority-weights', (text) => text.split(',').map(Number)],
  criticalBurst: ['--critical-burst', Number],
  retries: ['--retries', Number],
  timeout: ['--timeout', String],
  lease: ['--lease', String],
};

/** Of such users; they are replaced together. */
const PER_USER: Readonly<Record<string, Sent>> = {
  userWeight: ['--user-weight', Number],
  userMaxRunning: ['--user-max-running', Number],
  userMaxQueued: ['--user-max-queued', Number],
  userRate: ['--user-rate', rateOf],
};

/** Fields of the API, by those of the form. */
const PER_USER_NAMES: Readonly<Record<string, string>> = {
  userWeight: 'weight',
  userMaxRunning: 'maxRunning',
  userMaxQueued: 'maxQueued',
  userRate: 'rate',
};

/** What is sent, and the flags of the command that does the same. */
export interface SettingChange {
  readonly body: Readonly<Record<string, unknown>>;
  readonly flags: readonly string[];
}

/** Of a user in one queue. */
export function userChange(before: Texts, after: Texts): SettingChange {
  return changeOf(OF_USER, before, after);
}

/** Of a queue, and of its users without settings of their own. */
export function queueChange(before: Texts, after: Texts): SettingChange {
  const own = changeOf(OF_QUEUE, before, after);
  const perUser = perUserOf(before, after);
  return {
    body: { ...own.body, ...perUser.body },
    flags: [...own.flags, ...perUser.flags],
  };
}

function changeOf(
  fields: Readonly<Record<string, Sent>>,
  before: Texts,
  after: Texts,
): SettingChange {
  const changed = Object.entries(fields).flatMap(([key, [flag, read]]) => {
    const text = after[key]?.trim() ?? '';
    if (text === (before[key] ?? '')) return [];
    const value = text === '' ? 'default' : read(text);
    return [{ key, value, flags: [flag, text === '' ? 'default' : text] }];
  });
  return {
    body: Object.fromEntries(changed.map(({ key, value }) => [key, value])),
    flags: changed.flatMap(({ flags }) => flags),
  };
}

function perUserOf(before: Texts, after: Texts): SettingChange {
  const keys = Object.keys(PER_USER);
  const text = (key: string): string => after[key]?.trim() ?? '';
  if (keys.every((key) => text(key) === (before[key] ?? ''))) return { body: {}, flags: [] };
  const given = Object.entries(PER_USER).filter(([key]) => text(key) !== '');
  if (given.length === 0) return { body: { perUser: 'default' }, flags: ['--no-user-defaults'] };
  const perUser = given.map(([key, [, read]]) => [PER_USER_NAMES[key] ?? key, read(text(key))]);
  return {
    body: { perUser: Object.fromEntries(perUser) },
    flags: given.flatMap(([key, [flag]]) => [flag, text(key)]),
  };
}
