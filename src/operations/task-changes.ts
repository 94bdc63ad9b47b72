/** Operations that store and change tasks, and those that send something to them. */
import { coreOf, type Fairloom } from '../client/client.ts';
import { TaskNotFoundError, WrongStateError } from '../domain/errors/errors.ts';
import { untyped } from '../workflow/notation/notation.ts';
import type { Change } from './change-answers.ts';
import { ENQUEUE_FIELDS, enqueueOptions, ownUser } from './enqueue.ts';
import { anything, length, REASON, required, text } from './fields.ts';
import { type Call, type Operation, operation } from './operation.ts';
import { demandSeen } from './owned.ts';
import { done } from './refusal.ts';

/** `enqueue`, `tasks …`, `signal`, `publish` */
export const TASK_CHANGES: readonly Operation[] = [
  operation('enqueue', {
    http: 'POST /tasks',
    command: 'enqueue <name> [input]',
    help: 'Stores a task, by the name of its handler.',
    needs: 'enqueue',
    users: 'subject',
    status: 201,
    input: ENQUEUE_FIELDS,
    run: async ({ loom, view, input }) => {
      const options = await enqueueOptions(loom, view, input);
      const definition = coreOf(loom).handlers.definition(input.name);
      const isHere = definition !== undefined && definition.dynamic === undefined;
      const { id, created, conflict } = isHere
        ? await loom.enqueue(untyped(definition), input.input, options)
        : await loom.enqueueByName(input.name, input.input, options);
      return { id, created, conflict };
    },
  }),
  operation('tasks.cancel', {
    http: 'POST /tasks/{id}/cancel',
    command: 'tasks cancel [id...]',
    help: 'Cancels tasks; running ones are asked to stop.',
    needs: 'cancel',
    effect: 'destroys',
    users: 'subject',
    input: REASON,
    run: async ({ loom, view, input: { id, reason } }) => {
      await demandSeen(loom, view, id);
      const reply = await loom.tasks.cancel(id, { reason });
      if (reply.kind === 'not-found') throw new TaskNotFoundError(id);
      if (reply.kind === 'already-ended') throw new WrongStateError('cancel', id, reply.state);
      return done(id, reply.kind);
    },
  }),
  operation('tasks.redrive', {
    http: 'POST /tasks/{id}/redrive',
    command: 'tasks redrive <id...>',
    help: 'Puts failed tasks back, with fresh attempts.',
    needs: 'redrive',
    users: 'subject',
    run: changed('redriven', (loom, id) => loom.tasks.redrive(id)),
  }),
  operation('tasks.run-now', {
    http: 'POST /tasks/{id}/run-now',
    command: 'tasks run-now <id...>',
    help: 'Makes delayed tasks due now.',
    needs: 'run-now',
    users: 'subject',
    run: changed('due', (loom, id) => loom.tasks.runNow(id)),
  }),
  operation('tasks.remove', {
    http: 'POST /tasks/{id}/remove',
    alsoHttp: 'DELETE /tasks/{id}',
    command: 'tasks remove <id...>',
    help: 'Removes ended tasks for good.',
    needs: 'remove',
    effect: 'destroys',
    users: 'subject',
    run: changed('removed', (loom, id) => loom.tasks.remove(id)),
  }),
  operation('signal', {
    http: 'POST /tasks/{id}/signal',
    command: 'signal <id> <name> [payload]',
    help: 'Sends a signal to a task or run.',
    needs: 'signal',
    users: 'subject',
    input: {
      name: required(text('The name of the signal.', 'name')),
      payload: anything('What the signal carries.'),
      signalId: text('Its id: sent again under the same id it changes nothing.', 'id'),
    },
    run: async ({ loom, view, input: { id, name, payload, signalId } }) => {
      await demandSeen(loom, view, id);
      return { id, name, outcome: await loom.signal(id, name, payload, { signalId }) };
    },
  }),
  operation('publish', {
    http: 'POST /publish',
    command: 'publish <name> <key> [payload]',
    help: 'Publishes an event to the tasks and schedules of one user.',
    needs: 'publish',
    users: 'subject',
    input: {
      name: required(text('What has happened.', 'name')),
      key: required(text('What it has happened to.', 'key')),
      payload: anything('What the event carries.'),
      user: text('The user whose tasks get it.', 'id'),
      eventId: text('Its id: published again under the same id it changes nothing.', 'id'),
      keep: length('How long it is kept for waits that look back; default: 1h.'),
    },
    run: async ({ loom, view, input: { name, key, payload, user, eventId, keep } }) => {
      const options = { user: ownUser(view, user), eventId, keep };
      return { name, key, outcome: await loom.publish(name, key, payload, options) };
    },
  }),
];

/** Changes one task that the caller sees. */
function changed(
  outcome: string,
  change: (loom: Fairloom, id: string) => Promise<unknown>,
): (call: Call<{ readonly id: string }>) => Promise<Change> {
  return async ({ loom, view, input: { id } }) => {
    await demandSeen(loom, view, id);
    await change(loom, id);
    return done(id, outcome);
  };
}
