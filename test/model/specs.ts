/** What the workers of a history serve. */
import type { WorkerSpec } from '../../src/domain/port/backend.ts';
import { QUEUES, USERS } from './steps.ts';

type Variant = Omit<WorkerSpec, 'id' | 'host' | 'concurrency'>;

const [first = '', second = '', third = '', fourth = '', fifth = ''] = USERS;
const [main = ''] = QUEUES;

/** The first four are what the workers start with; `register` may change to any. */
const VARIANTS: readonly Variant[] = [
  { queues: QUEUES, names: ['mail', 'report', 'odd'] },
  { queues: [main], names: ['mail', 'report'] },
  {
    queues: [main],
    names: ['mail', 'report'],
    assignedUsers: [first, second],
    stealTargets: [third, fourth],
  },
  { queues: QUEUES, names: ['mail', 'odd'], assignedUsers: [fifth], stealTargets: 'any' },
  { queues: QUEUES, names: ['mail', 'report'], assignedUsers: [second, third] },
  { queues: [main], names: ['mail'], stealTargets: 'any' },
  { queues: QUEUES, names: ['mail', 'report'], stealTargets: [fourth, first] },
  { queues: QUEUES, names: ['mail'] },
];

/** How many slots a worker has; leases are bounded by the request, so it is only shown. */
const CONCURRENCY = 10;

export function specOf(id: string, variant: number): WorkerSpec {
  const chosen = VARIANTS[variant % VARIANTS.length] ?? { queues: QUEUES, names: [] };
  return { ...chosen, id, host: 'model', concurrency: CONCURRENCY };
}
