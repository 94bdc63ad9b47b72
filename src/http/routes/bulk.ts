/** Routes of changes of many tasks. */
import type { BulkAction } from '../../bulk/bulk-record.ts';
import { TaskNotFoundError, WrongStateError } from '../../domain/errors/errors.ts';
import { choice, flag, integer, length, part, required, text } from '../calls/fields.ts';
import { demandShownWhere } from '../calls/hidden-words.ts';
import { PAGE_FIELDS, pageOf } from '../calls/paging.ts';
import { Refusal } from '../calls/problem.ts';
import { type Route, route } from '../calls/route.ts';

/** Each is a permission, too: who may not do it to one task may not do it to many. */
const ACTIONS: readonly BulkAction[] = ['redrive', 'cancel', 'remove', 'run-now'];

const COUNT = { least: 1, most: Number.MAX_SAFE_INTEGER };

/** `/bulk` */
export const BULK_ROUTES: readonly Route[] = [
  route('GET /bulk', {
    summary: 'Changes of many tasks, the newest first.',
    users: 'whole',
    query: PAGE_FIELDS,
    answer: async ({ loom, query }) => loom.bulk.list(pageOf(query)),
  }),
  route('GET /bulk/{id}', {
    summary: 'One change of many tasks, and how far it is.',
    users: 'whole',
    answer: async ({ loom, path }) => {
      const id = path.get('id');
      const bulk = await loom.bulk.get(id);
      if (bulk === undefined) throw new TaskNotFoundError(id);
      return bulk;
    },
  }),
  route('POST /bulk', {
    summary: 'Changes the tasks that a filter means; needs the permission of its action too.',
    needs: 'bulk',
    users: 'whole',
    status: 202,
    body: {
      where: required(text('Which tasks, as `state:failed error:TypeError`.')),
      action: required(choice('What is done to each.', ACTIONS)),
      rate: part('So many are changed per time.', {
        limit: required(integer('How many …', COUNT)),
        per: required(length('… in this time.')),
        burst: integer('How many at once after a pause.', COUNT),
      }),
      dryRun: flag('Only counts what it would change.'),
      reason: text('Why, for people.'),
      queue: text('Whose workers carry it out.'),
    },
    answer: async ({ loom, view, body, api }) => {
      demandShownWhere(api, body.where);
      if (!view.can.includes(body.action)) {
        throw new Refusal('FORBIDDEN', `this needs the permission ${body.action}`);
      }
      return loom.bulk.start({ ...body, by: view.by });
    },
  }),
  route('POST /bulk/{id}/cancel', {
    summary: 'Stops a change of many tasks; what is done stays done.',
    needs: 'bulk',
    users: 'whole',
    body: { reason: text('Kept with it, for people.') },
    answer: async ({ loom, path, body }) => {
      const id = path.get('id');
      const reply = await loom.bulk.cancel(id, body);
      if (reply.kind === 'not-found') throw new TaskNotFoundError(id);
      if (reply.kind === 'already-ended') throw new WrongStateError('cancel', id, reply.state);
      return { id, ok: true, outcome: reply.kind };
    },
  }),
];
