/** Routes that change tasks, and those that send something to them. */
import { coreOf, type Fairloom } from '../../client/client.ts';
import { TaskNotFoundError, WrongStateError } from '../../domain/errors/errors.ts';
import { untyped } from '../../workflow/notation/notation.ts';
import { ENQUEUE_FIELDS, enqueueOptions, ownUser } from '../calls/enqueue.ts';
import { anything, REASON, required, text } from '../calls/fields.ts';
import { demandSeen } from '../calls/owned.ts';
import { type Route, route } from '../calls/route.ts';
import type { View } from '../calls/view.ts';

/** `/tasks/…` and `/publish` */
export const TASK_CHANGES: readonly Route[] = [
  route('POST /tasks', {
    summary: 'Stores a task, by the name of its handler.',
    needs: 'enqueue',
    users: 'subject',
    status: 201,
    body: ENQUEUE_FIELDS,
    answer: async ({ loom, view, body }) => {
      const options = await enqueueOptions(loom, view, body);
      const definition = coreOf(loom).handlers.definition(body.name);
      const isHere = definition !== undefined && definition.dynamic === undefined;
      const { id, created, conflict } = isHere
        ? await loom.enqueue(untyped(definition), body.input, options)
        : await loom.enqueueByName(body.name, body.input, options);
      return { id, created, conflict };
    },
  }),
  route('POST /tasks/{id}/cancel', {
    summary: 'Cancels a task; one that runs is asked to stop.',
    needs: 'cancel',
    users: 'subject',
    body: REASON,
    answer: async ({ loom, view, path, body }) => {
      const id = path.get('id');
      await demandSeen(loom, view, id);
      const reply = await loom.tasks.cancel(id, body);
      if (reply.kind === 'not-found') throw new TaskNotFoundError(id);
      if (reply.kind === 'already-ended') throw new WrongStateError('cancel', id, reply.state);
      return { id, ok: true, outcome: reply.kind };
    },
  }),
  route('POST /tasks/{id}/redrive', {
    summary: 'Puts a failed task back, with fresh attempts.',
    needs: 'redrive',
    users: 'subject',
    answer: async ({ loom, view, path }) => {
      const id = path.get('id');
      await demandSeen(loom, view, id);
      await loom.tasks.redrive(id);
      return { id, ok: true, outcome: 'redriven' };
    },
  }),
  route('POST /tasks/{id}/run-now', {
    summary: 'Makes a delayed task due now.',
    needs: 'run-now',
    users: 'subject',
    answer: async ({ loom, view, path }) => {
      const id = path.get('id');
      await demandSeen(loom, view, id);
      await loom.tasks.runNow(id);
      return { id, ok: true, outcome: 'due' };
    },
  }),
  route('POST /tasks/{id}/remove', {
    summary: 'Takes an ended task away for good.',
    needs: 'remove',
    users: 'subject',
    answer: async ({ loom, view, path }) => remove(loom, view, path.get('id')),
  }),
  route('DELETE /tasks/{id}', {
    summary: 'The same: takes an ended task away for good.',
    needs: 'remove',
    users: 'subject',
    answer: async ({ loom, view, path }) => remove(loom, view, path.get('id')),
  }),
  route('POST /tasks/{id}/signal', {
    summary: 'Sends a signal to a task or run.',
    needs: 'signal',
    users: 'subject',
    body: {
      name: required(text('Of the signal.')),
      payload: anything('What it carries.'),
      signalId: text('Names it: sent again under this id it changes nothing.'),
    },
    answer: async ({ loom, view, path, body }) => {
      const id = path.get('id');
      await demandSeen(loom, view, id);
      const { name, payload, signalId } = body;
      return { id, name, outcome: await loom.signal(id, name, payload, { signalId }) };
    },
  }),
  route('POST /publish', {
    summary: 'Publishes an event to the tasks and schedules of one user.',
    needs: 'publish',
    users: 'subject',
    body: {
      name: required(text('What has happened.')),
      key: required(text('To what.')),
      payload: anything('What it carries.'),
      user: text('Whose tasks hear of it.'),
      eventId: text('Names it: published again under this id it changes nothing.'),
    },
    answer: async ({ loom, view, body }) => {
      const { name, key, payload, eventId } = body;
      const user = ownUser(view, body.user);
      const outcome = await loom.publish(name, key, payload, { user, eventId });
      return { name, key, outcome };
    },
  }),
];

async function remove(
  loom: Fairloom,
  view: View,
  id: string,
): Promise<{ readonly id: string; readonly ok: true; readonly outcome: string }> {
  await demandSeen(loom, view, id);
  await loom.tasks.remove(id);
  return { id, ok: true, outcome: 'removed' };
}
