/** Routes that change users, queues and schedules, and that answer questions. */
import type { Fairloom } from '../../client/client.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { PRIORITY_NAMES } from '../../workflow/task-options.ts';
import {
  anything,
  choice,
  integer,
  length,
  number,
  numbers,
  or,
  part,
  required,
  text,
} from '../calls/fields.ts';
import { missing } from '../calls/problem.ts';
import { type Route, route } from '../calls/route.ts';
import type { View } from '../calls/view.ts';
import { demandAsk, demandSchedule } from './rest.ts';
import { userRow } from './users.ts';

const COUNT = { least: 0, most: Number.MAX_SAFE_INTEGER };

const RATE = part('Starts per time.', {
  limit: required(integer('How many may start …', COUNT)),
  per: required(length('… in this time.')),
  burst: integer('How many may start at once after a pause.', COUNT),
});

const PER_USER = {
  weight: or(number('Claim on turns relative to other users.'), 'default'),
  maxRunning: or(integer('So many of its tasks run at once, per queue.', COUNT), 'default'),
  maxQueued: or(integer('So many wait, per queue; more are refused.', COUNT), 'default'),
  rate: or(RATE, 'default'),
} as const;

const QUEUE = text(
  'In this queue alone; in all that have no setting of their own unless it is said.',
);

/** `/users/…`, `/queues/…`, `/schedules/…`, `/asks/…` */
export const SETTING_ROUTES: readonly Route[] = [
  route('PATCH /users/{user}', {
    summary: 'Changes settings of a user; `default` takes one back.',
    needs: 'configure',
    users: 'subject',
    query: { queue: QUEUE },
    body: PER_USER,
    answer: async ({ loom, view, path, query, body }) => {
      const user = seenUser(view, path.get('user'));
      await loom.users.set(user, body, query);
      return userRow(loom, view, user, query.queue ?? 'default');
    },
  }),
  route('POST /users/{user}/pause', {
    summary: 'Starts nothing more of a user; what runs goes on.',
    needs: 'pause',
    users: 'subject',
    query: { queue: QUEUE },
    answer: async ({ loom, view, path, query }) => {
      const id = seenUser(view, path.get('user'));
      await loom.users.pause(id, query);
      return { id, ok: true, outcome: 'paused' };
    },
  }),
  route('POST /users/{user}/resume', {
    summary: 'Starts tasks of a user again.',
    needs: 'pause',
    users: 'subject',
    query: { queue: QUEUE },
    answer: async ({ loom, view, path, query }) => {
      const id = seenUser(view, path.get('user'));
      await loom.users.resume(id, query);
      return { id, ok: true, outcome: 'resumed' };
    },
  }),
  route('PATCH /queues/{queue}', {
    summary: 'Changes settings of a queue; `default` takes one back.',
    needs: 'configure',
    users: 'whole',
    body: {
      maxRunning: or(integer('So many of its tasks run at once.', COUNT), 'default'),
      rate: or(RATE, 'default'),
      charge: choice('What a turn costs.', ['task', 'time', 'default']),
      priorityWeights: or(numbers('Turns of the priorities 1 to 5.'), 'default'),
      criticalBurst: or(integer('One normal turn after so many critical ones.', COUNT), 'default'),
      retries: or(integer('Attempts after the first.', COUNT), 'default'),
      timeout: or(or(length('How long an attempt may run.'), 'none'), 'default'),
      lease: or(length('How long a worker may be silent.'), 'default'),
      perUser: or(part('For users without settings of their own.', PER_USER), 'default'),
    },
    answer: async ({ loom, path, body }) => {
      const queue = path.get('queue');
      await loom.queues.set(queue, body);
      const status = await loom.queues.get(queue);
      if (status === undefined) throw missing(`queue ${queue}`);
      return status;
    },
  }),
  route('POST /queues/{queue}/pause', {
    summary: 'Starts nothing more of a queue; what runs goes on.',
    needs: 'pause',
    users: 'whole',
    answer: async ({ loom, path }) => {
      const id = path.get('queue');
      await loom.queues.pause(id);
      return { id, ok: true, outcome: 'paused' };
    },
  }),
  route('POST /queues/{queue}/resume', {
    summary: 'Starts tasks of a queue again.',
    needs: 'pause',
    users: 'whole',
    answer: async ({ loom, path }) => {
      const id = path.get('queue');
      await loom.queues.resume(id);
      return { id, ok: true, outcome: 'resumed' };
    },
  }),
  route('PATCH /schedules/{id}', {
    summary: 'Changes a schedule from its next slot on; `default` takes a field back.',
    needs: 'schedule',
    users: 'subject',
    body: {
      cron: text('Its pattern.'),
      every: length('Its period.'),
      timeZone: text('The zone of the pattern.'),
      start: or(integer('No slot before this moment, in ms since the epoch.', COUNT), 'default'),
      end: or(integer('No slot after this moment.', COUNT), 'default'),
      limit: or(integer('It is over after so many tasks.', COUNT), 'default'),
      jitter: or(length('Each slot is late by up to this much.'), 'default'),
      queue: text('Where its tasks stand in line.'),
      priority: choice('Where they stand among those of their user.', PRIORITY_NAMES),
      input: anything('What each task gets.'),
    },
    answer: async ({ loom, view, path, body }) => {
      const { id } = await demandSchedule(loom, view, path.get('id'));
      const said = Object.entries(body).filter(([, value]) => value !== undefined);
      return loom.schedules.update(id, Object.fromEntries(said));
    },
  }),
  route('DELETE /schedules/{id}', {
    summary: 'Takes a schedule away; tasks that it has made stay.',
    needs: 'schedule',
    users: 'subject',
    answer: async ({ loom, view, path }) => {
      const { id } = await demandSchedule(loom, view, path.get('id'));
      await loom.schedules.remove(id);
      return { id, ok: true, outcome: 'removed' };
    },
  }),
  route('POST /schedules/{id}/run', {
    summary: 'Starts the task of a schedule once, now.',
    needs: 'schedule',
    users: 'subject',
    status: 201,
    answer: async ({ loom, view, path }) => {
      const schedule = await demandSchedule(loom, view, path.get('id'));
      const { id, created, conflict } = await loom.schedules.run(schedule.id);
      return { id, created, conflict };
    },
  }),
  route('POST /schedules/{id}/pause', {
    summary: 'Nothing of a schedule fires until it is resumed.',
    needs: 'schedule',
    users: 'subject',
    answer: async ({ loom, view, path }) => {
      const { id } = await demandSchedule(loom, view, path.get('id'));
      return loom.schedules.pause(id);
    },
  }),
  route('POST /schedules/{id}/resume', {
    summary: 'A schedule fires again, from its next slot on.',
    needs: 'schedule',
    users: 'subject',
    answer: async ({ loom, view, path }) => {
      const { id } = await demandSchedule(loom, view, path.get('id'));
      return loom.schedules.resume(id);
    },
  }),
  route('POST /asks/{id}/answer', {
    summary: 'Answers a question; the first answer counts.',
    needs: 'answer',
    users: 'subject',
    body: {
      choice: required(text('One of its choices.')),
      by: text('Who answers; the caller itself where `access` names it.'),
      comment: text('Text for people, kept with the answer.'),
      form: anything('What the form of the question asks for.'),
    },
    answer: async ({ loom, view, path, body }) => answer(loom, view, path.get('id'), body),
  }),
];

function seenUser(view: View, user: string): string {
  if (view.sees(user)) return user;
  throw missing(`user ${user}`);
}

/** Who is known to `access` answers in no other name. */
async function answer(
  loom: Fairloom,
  view: View,
  askId: string,
  said: {
    readonly choice: string;
    readonly by: string | undefined;
    readonly comment: string | undefined;
    readonly form: unknown;
  },
): Promise<{ readonly id: string; readonly choice: string; readonly by: string }> {
  const { id } = await demandAsk(loom, view, askId);
  const { choice: chosen, comment, form } = said;
  const by = view.by ?? said.by;
  if (by === undefined) throw new InvalidOptionError('by', 'who answers', by);
  await loom.asks.answer(id, {
    choice: chosen,
    by,
    comment,
    ...(form === undefined ? {} : { form }),
  });
  return { id, choice: chosen, by };
}
