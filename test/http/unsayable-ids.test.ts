/** Ids that no address can name, since `.` and `..` lead out of their place in it: refused wherever one is given. */
import { event, type Fairloom, signal, task } from 'fairloom';
import { expect, it } from 'vitest';
import { askerOf } from '../support/http/api.ts';
import { eachStore } from '../support/http/stores.ts';

const say = task('say', async (words: string) => words);
const line = say.pipe(say.as('again')).as('line');

/** Each call that gives an id or a name to something, or names it. */
function placesOf(loom: Fairloom, id: string): Readonly<Record<string, () => unknown>> {
  const schedule = { every: '1h', task: say, input: 'x' } as const;
  return {
    'id of a task': () => loom.enqueue(say, 'x', { id }),
    'id of a run': () => loom.enqueue(line, 'x', { id }),
    'user of a task': () => loom.enqueue(say, 'x', { user: id }),
    'queue of a task': () => loom.enqueue(say, 'x', { queue: id }),
    'name of a task': () => loom.enqueueByName(id, 'x'),
    dependency: () => loom.enqueue(say, 'x', { dependsOn: [id] }),
    'idempotency key': () => loom.enqueue(say, 'x', { idempotencyKey: id }),
    'settings of a user': () => loom.users.set(id, { weight: 2 }),
    'pause of a user': () => loom.users.pause(id),
    'settings of a queue': () => loom.queues.set(id, { maxRunning: 2 }),
    'id of a schedule': () => loom.schedules.set(id, schedule),
    'user of a schedule': () => loom.schedules.set('nightly', { ...schedule, user: id }),
    'key of a value': () => loom.xcom.push(id, 'x', { user: 'acme' }),
    'user of a value': () => loom.xcom.push('k', 'x', { user: id }),
    'namespace of a value': () => loom.xcom.push('k', 'x', { user: 'acme', namespace: id }),
    'user of an event': () => loom.publish('paid', 'k', 'x', { user: id }),
    'name of an event': () => event(id, 'k'),
    'name of a signal': () => signal(id),
    'name of a handler': () => task(id, async () => undefined),
    'id of a worker': () => loom.worker({ id }),
    'assigned user of a worker': () => loom.worker({ assignedUsers: [id] }),
    'task that is looked at': () => loom.tasks.get(id),
    'user that is looked for': () => loom.tasks.search({ where: `user:"${id}"` }),
  };
}

eachStore(({ open }) => {
  // F110
  it.each(['.', '..'])('%s is no id and no name, wherever one is given', async (id) => {
    const loom = await open([say, line]);
    for (const [place, call] of Object.entries(placesOf(loom, id))) {
      const refused = await (async () => call())().then(
        () => 'taken',
        (error: unknown) => Reflect.get(Object(error), 'code'),
      );
      expect([place, refused]).toEqual([place, 'INVALID_OPTION']);
    }
    const ask = askerOf(loom);
    for (const json of [{ id }, { user: id }, { queue: id }, { dependsOn: [id] }]) {
      const { status, body } = await ask('/tasks', {
        method: 'POST',
        json: { name: 'say', ...json },
      });
      expect([json, status, body]).toEqual([
        json,
        400,
        expect.objectContaining({ code: 'INVALID_OPTION' }),
      ]);
    }
    expect(await loom.tasks.counts()).toMatchObject({ queued: 0, deferred: 0 });
    // What only looks so is an id like others, and can be named.
    for (const other of ['...', '.a', '%2e', '. ', '/..']) {
      await loom.enqueue(say, 'x', { id: other, user: other });
      const path = encodeURIComponent(other);
      expect((await ask(`/tasks/${path}`)).body).toMatchObject({ id: other });
      expect((await ask(`/users/${path}`)).body).toMatchObject({ user: other });
    }
  });
});
