/** Operations on changes of many tasks. */
import type { BulkAction } from '../bulk/bulk-record.ts';
import { TaskNotFoundError, WrongStateError } from '../domain/errors/errors.ts';
import { choice, flag, REASON, rate, required, text } from './fields.ts';
import { demandShownWhere } from './hidden-words.ts';
import { type Operation, operation } from './operation.ts';
import { PAGE_FIELDS, pageOf } from './paging.ts';
import { done, Refusal } from './refusal.ts';

/** Each is a permission, too: a caller that may not do it to one task may not do it to many. */
const ACTIONS: readonly BulkAction[] = ['redrive', 'cancel', 'remove', 'run-now'];

/** `bulk …` */
export const BULK_OPERATIONS: readonly Operation[] = [
  operation('bulk.list', {
    http: 'GET /bulk',
    command: 'bulk list',
    help: 'Changes of many tasks, the newest first.',
    input: PAGE_FIELDS,
    run: async ({ loom, input }) => loom.bulk.list(pageOf(input)),
  }),
  operation('bulk.get', {
    http: 'GET /bulk/{id}',
    command: 'bulk get <id>',
    help: 'One change of many tasks: its progress, and its first errors.',
    run: async ({ loom, input: { id } }) => {
      const bulk = await loom.bulk.get(id);
      if (bulk === undefined) throw new TaskNotFoundError(id);
      return bulk;
    },
  }),
  operation('bulk.start', {
    http: 'POST /bulk',
    command: 'bulk start <action>',
    help: 'Changes the tasks that match a filter, by workers; needs the permission of its action too.',
    needs: 'bulk',
    effect: 'destroys',
    status: 202,
    input: {
      where: required(text('Which tasks, as `state:failed error:TypeError`.', 'filter')),
      action: required(choice('What is done to each.', ACTIONS)),
      rate: rate('How many are changed per time, as 10/1s.'),
      dryRun: flag('Only counts what it would change.'),
      reason: text('Why; stored with it, and with what it cancels.'),
      queue: text('The queue whose workers carry it out; default: `default`.', 'name'),
    },
    run: async ({ loom, view, input, api }) => {
      demandShownWhere(api, input.where);
      if (!view.can.includes(input.action)) {
        throw new Refusal('FORBIDDEN', `this needs the permission ${input.action}`);
      }
      return loom.bulk.start({ ...input, by: view.by });
    },
  }),
  operation('bulk.cancel', {
    http: 'POST /bulk/{id}/cancel',
    command: 'bulk cancel <id...>',
    help: 'Stops changes of many tasks; tasks that are changed stay so.',
    needs: 'bulk',
    input: REASON,
    run: async ({ loom, input: { id, reason } }) => {
      const reply = await loom.bulk.cancel(id, { reason });
      if (reply.kind === 'not-found') throw new TaskNotFoundError(id);
      if (reply.kind === 'already-ended') throw new WrongStateError('cancel', id, reply.state);
      return done(id, reply.kind);
    },
  }),
];
