/** Operations on queues, and the settings that users share with them. */
import {
  COUNT,
  COUNT_OR_NONE,
  choice,
  type Field,
  integer,
  length,
  number,
  or,
  part,
  type Rate,
  rate,
  weights,
} from './fields.ts';
import { type Operation, operation } from './operation.ts';
import { done, missing } from './refusal.ts';

/** Settings of one user. */
export const USER_SETTINGS: {
  readonly weight: Field<number | 'default' | undefined>;
  readonly maxRunning: Field<number | 'default' | undefined>;
  readonly maxQueued: Field<number | 'default' | undefined>;
  readonly rate: Field<Rate | 'default' | undefined>;
} = {
  weight: or(number('Claim on turns relative to other users, 0.01 to 1000.'), 'default'),
  maxRunning: or(integer('How many of its tasks run at once, per queue.', COUNT), 'default'),
  maxQueued: or(
    integer('How many of its tasks wait, per queue; more are refused.', COUNT),
    'default',
  ),
  rate: or(rate('How many of its tasks start per time, per queue, as `100/1m`.'), 'default'),
};

/** The same for users of a queue without settings of their own. */
const DEFAULT_SETTINGS: typeof USER_SETTINGS = {
  weight: or(number('The weight of users without settings of their own.'), 'default'),
  maxRunning: or(integer('How many tasks of each such user run at once.', COUNT), 'default'),
  maxQueued: or(
    integer('How many tasks of each such user wait; more are refused.', COUNT),
    'default',
  ),
  rate: or(rate('How many tasks of each such user start per time, as `100/1m`.'), 'default'),
};

/** `queues …` */
export const QUEUE_OPERATIONS: readonly Operation[] = [
  operation('queues.list', {
    http: 'GET /queues',
    command: 'queues list',
    help: 'Every queue, with its settings and counts.',
    run: async ({ loom }) => ({ items: await loom.queues.list() }),
  }),
  operation('queues.get', {
    http: 'GET /queues/{queue}',
    command: 'queues get <queue>',
    help: 'One queue, with its settings and counts.',
    run: async ({ loom, input }) => {
      const status = await loom.queues.get(input.queue);
      if (status === undefined) throw missing(`queue ${input.queue}`);
      return status;
    },
  }),
  operation('queues.set', {
    http: 'PATCH /queues/{queue}',
    command: 'queues set <queue>',
    help: 'Changes settings of a queue; `default` takes one back.',
    needs: 'configure',
    input: {
      maxRunning: or(integer('How many of its tasks run at once.', COUNT), 'default'),
      rate: or(rate('How many of its tasks start per time, as `100/1m`.'), 'default'),
      charge: or(choice('What a turn costs.', ['task', 'time']), 'default'),
      priorityWeights: or(weights('Turns of the priorities 1 to 5, as 1,2,4,8,16.'), 'default'),
      criticalBurst: or(integer('Critical tasks before one normal turn.', COUNT), 'default'),
      retries: or(integer('Attempts after the first.', COUNT_OR_NONE), 'default'),
      timeout: or(or(length('How long an attempt may run, or `none`.'), 'none'), 'default'),
      lease: or(length('How long a worker may be silent.'), 'default'),
      perUser: or(
        part('For users without settings of their own.', DEFAULT_SETTINGS, 'user'),
        'default',
      ),
    },
    run: async ({ loom, input: { queue, ...settings } }) => {
      await loom.queues.set(queue, settings);
      const status = await loom.queues.get(queue);
      if (status === undefined) throw missing(`queue ${queue}`);
      return status;
    },
  }),
  operation('queues.pause', {
    http: 'POST /queues/{queue}/pause',
    command: 'queues pause <queue>',
    help: 'Stops starting tasks of a queue; running tasks continue.',
    needs: 'pause',
    run: async ({ loom, input }) => {
      await loom.queues.pause(input.queue);
      return done(input.queue, 'paused');
    },
  }),
  operation('queues.resume', {
    http: 'POST /queues/{queue}/resume',
    command: 'queues resume <queue>',
    help: 'Starts tasks of a paused queue again.',
    needs: 'pause',
    run: async ({ loom, input }) => {
      await loom.queues.resume(input.queue);
      return done(input.queue, 'resumed');
    },
  }),
];
