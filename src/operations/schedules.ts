/** Operations on schedules. */

import { present } from '../base/records.ts';
import type { Fairloom } from '../client/client.ts';
import { ScheduleNotFoundError } from '../domain/errors/errors.ts';
import type { Page, PageRequest } from '../domain/port/backend.ts';
import { MISSED_POLICIES, OVERLAP_POLICIES } from '../domain/port/schedule.ts';
import type { ScheduleInfo } from '../schedules/schedule-info.ts';
import {
  anything,
  COUNT,
  COUNT_OR_NONE,
  choice,
  flagged,
  integer,
  length,
  moment,
  or,
  priority,
  required,
  text,
} from './fields.ts';
import { firingsOf } from './firings.ts';
import { type Operation, operation } from './operation.ts';
import { pageOfOwn } from './own-pages.ts';
import { PAGE_FIELDS, pageOf } from './paging.ts';
import { done, missing } from './refusal.ts';
import type { View } from './view.ts';

/** Slots that `next` tells by default, and at most. */
const NEXT = { usual: 5, most: 1_000 };

/** Slots that `history` tells by default, and at most. */
const PAST = { usual: 20, most: 100 };

/** When a schedule fires. */
const WHEN = {
  cron: text('Its pattern: five fields, or six with seconds; or `@daily` and its like.', 'pattern'),
  every: length('Its period.'),
  timeZone: text('The zone of the pattern, as `Europe/Rome`; default: UTC.', 'zone'),
  start: moment('No slot before this moment.'),
  end: moment('No slot after this moment.'),
  limit: flagged(integer('It is over after this many tasks.', COUNT), 'times'),
  jitter: length('Each slot is late by up to this much.'),
  missed: choice(
    'What happens to slots that were missed; default: one.',
    MISSED_POLICIES,
    'policy',
  ),
  overlap: choice(
    'What happens at a slot while the task before still runs; default: skip.',
    OVERLAP_POLICIES,
    'policy',
  ),
} as const;

/** Where the tasks of a schedule wait. */
const WHERE = {
  user: text('The user of its tasks; default: `default`.', 'id'),
  queue: text('The queue of its tasks; default: `default`.', 'name'),
  priority: priority('The priority of its tasks; default: normal.'),
} as const;

/** The same of a stored schedule, of which what is not given stays. */
const CHANGED = {
  ...WHEN,
  timeZone: text('The zone of the pattern, as `Europe/Rome`.', 'zone'),
  missed: choice('What happens to slots that were missed.', MISSED_POLICIES, 'policy'),
  overlap: choice(
    'What happens at a slot while the task before still runs.',
    OVERLAP_POLICIES,
    'policy',
  ),
  start: or(WHEN.start, 'default'),
  end: or(WHEN.end, 'default'),
  limit: or(WHEN.limit, 'default'),
  jitter: or(WHEN.jitter, 'default'),
  user: text('The user of its tasks.', 'id'),
  queue: text('The queue of its tasks.', 'name'),
  priority: priority('The priority of its tasks.'),
} as const;

/** What a schedule starts. */
const STARTS = {
  id: required(text('The schedule.', 'id')),
  name: required(text('The name of a task.', 'name')),
  input: anything('The input of each task.'),
  retries: integer('Attempts after the first.', COUNT_OR_NONE),
} as const;

/** `schedules …` */
export const SCHEDULE_OPERATIONS: readonly Operation[] = [
  operation('schedules.list', {
    http: 'GET /schedules',
    command: 'schedules list',
    help: 'Schedules, by name.',
    users: 'rows',
    input: PAGE_FIELDS,
    run: async ({ loom, view, look, input }) => {
      const read = (page: PageRequest): Promise<Page<ScheduleInfo>> => loom.schedules.list(page);
      if (view.users === undefined) return read(pageOf(input));
      const sees = ({ user }: ScheduleInfo): boolean => view.sees(user);
      return pageOfOwn([{ read, sees }], pageOf(input), look);
    },
  }),
  operation('schedules.get', {
    http: 'GET /schedules/{id}',
    command: 'schedules get <id>',
    help: 'Everything about one schedule.',
    users: 'subject',
    run: async ({ loom, view, input }) => demandSchedule(loom, view, input.id),
  }),
  operation('schedules.next', {
    http: 'GET /schedules/{id}/next',
    command: 'schedules next <id>',
    help: 'The next slots of a schedule.',
    users: 'subject',
    input: {
      count: flagged(
        integer(`How many; default: ${NEXT.usual}.`, { least: 1, most: NEXT.most }),
        '-n, --count',
      ),
    },
    run: async ({ loom, view, input: { count = NEXT.usual, ...named } }) => {
      const { id } = await demandSchedule(loom, view, named.id);
      const slots = await loom.schedules.next(id, count);
      return { id, slots: slots.map((slot) => slot.getTime()) };
    },
  }),
  operation('schedules.history', {
    http: 'GET /schedules/{id}/history',
    help: 'The last slots of a schedule, with the states of their tasks.',
    users: 'subject',
    input: {
      count: integer(`How many; default: ${PAST.usual}.`, { least: 1, most: PAST.most }),
    },
    run: async ({ loom, view, now, input: { id, count = PAST.usual } }) => {
      const schedule = await demandSchedule(loom, view, id);
      return { id: schedule.id, items: await firingsOf(loom, schedule, { count, now }) };
    },
  }),
  operation('schedules.update', {
    http: 'PATCH /schedules/{id}',
    command: 'schedules update <id>',
    help: 'Changes the given fields of a schedule, and keeps the others; `default` resets start, end, limit and jitter.',
    needs: 'schedule',
    users: 'subject',
    input: {
      ...CHANGED,
      input: anything('The input of each task.'),
    },
    run: async ({ loom, view, input: { id, ...patch } }) => {
      const schedule = await demandSchedule(loom, view, id);
      if (patch.user !== undefined && !view.sees(patch.user)) throw missing(`user ${patch.user}`);
      return loom.schedules.update(schedule.id, present(patch));
    },
  }),
  operation('schedules.remove', {
    http: 'DELETE /schedules/{id}',
    command: 'schedules remove <id...>',
    help: 'Removes schedules; tasks that they have made stay.',
    needs: 'schedule',
    effect: 'destroys',
    users: 'subject',
    run: async ({ loom, view, input }) => {
      const { id } = await demandSchedule(loom, view, input.id);
      await loom.schedules.remove(id);
      return done(id, 'removed');
    },
  }),
  operation('schedules.run', {
    http: 'POST /schedules/{id}/run',
    command: 'schedules run <id>',
    help: 'Starts the task of a schedule once, now.',
    needs: 'schedule',
    users: 'subject',
    status: 201,
    run: async ({ loom, view, input }) => {
      const schedule = await demandSchedule(loom, view, input.id);
      const { id, created, conflict } = await loom.schedules.run(schedule.id);
      return { id, created, conflict };
    },
  }),
  operation('schedules.pause', {
    http: 'POST /schedules/{id}/pause',
    command: 'schedules pause <id...>',
    help: 'Stops firing schedules until they are resumed.',
    needs: 'schedule',
    users: 'subject',
    run: async ({ loom, view, input }) => {
      const { id } = await demandSchedule(loom, view, input.id);
      return loom.schedules.pause(id);
    },
  }),
  operation('schedules.resume', {
    http: 'POST /schedules/{id}/resume',
    command: 'schedules resume <id...>',
    help: 'Fires paused schedules again, from the next slot on.',
    needs: 'schedule',
    users: 'subject',
    run: async ({ loom, view, input }) => {
      const { id } = await demandSchedule(loom, view, input.id);
      return loom.schedules.resume(id);
    },
  }),
  operation('schedules.set', {
    command: 'schedules set <id> <name> [input]',
    help: 'Stores or changes a schedule of a task, or of a pipeline of --module; the input is JSON, @file, or - for stdin.',
    needs: 'schedule',
    input: { ...STARTS, ...WHEN, ...WHERE },
    run: async ({ loom, input: { id, name, ...options } }) =>
      loom.schedules.setByName(id, { ...present(options), name }),
  }),
  operation('schedules.on', {
    command: 'schedules on <id> <name> [input]',
    help: 'Starts a task, or a pipeline of --module, at each event; without an input it gets what was published.',
    needs: 'schedule',
    input: {
      ...STARTS,
      event: required(text('The name of the events, as `order.paid`.', 'name')),
      key: text('Events of this key alone; default: of any.', 'key'),
      ...WHERE,
    },
    run: async ({ loom, input: { id, name, event, ...options } }) =>
      loom.schedules.onByName(id, { ...present(options), name, event }),
  }),
  operation('schedules.backfill', {
    command: 'schedules backfill <id>',
    help: 'Stores a task for every slot of a stretch that has passed.',
    needs: 'schedule',
    input: {
      id: required(text('The schedule.', 'id')),
      from: required(moment('Where the stretch begins.')),
      to: moment('Where it ends; default: now.'),
    },
    run: async ({ loom, input: { id, from, to } }) => {
      const { created, existing, refused } = await loom.schedules.backfill(id, { from, to });
      const refusals = refused.map(({ slot, error }) => ({ slot, error: error.message }));
      return { id, created, existing, refused: refusals };
    },
  }),
];

/** @throws {@link ScheduleNotFoundError} also for one of another user. */
async function demandSchedule(loom: Fairloom, view: View, id: string): Promise<ScheduleInfo> {
  const schedule = await loom.schedules.get(id);
  if (schedule === undefined || !view.sees(schedule.user)) throw new ScheduleNotFoundError(id);
  return schedule;
}
