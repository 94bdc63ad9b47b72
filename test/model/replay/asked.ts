/** What is asked in a history, in a form in which one answer of one step can be compared. */
import type { Backend, TaskFacts, TaskFilter } from '../../../src/domain/port/backend.ts';
import { type Call, forecast, send } from '../calls.ts';
import type { Oracle } from '../oracle/oracle.ts';
import { shownQueue, shownUser } from '../state.ts';

/** A call that looks. */
export type Look =
  | { readonly type: 'get' | 'status' | 'facts'; readonly ids: readonly string[] }
  | { readonly type: 'user'; readonly user: string; readonly queue: string }
  | { readonly type: 'queue'; readonly queue: string }
  | { readonly type: 'list'; readonly filter: TaskFilter }
  | { readonly type: 'attempts'; readonly id: string }
  | { readonly type: 'workers' };

export type Asked = Call | Look;

const PAGE = { limit: 5 };

export async function answerOf(backend: Backend, call: Asked): Promise<unknown> {
  const { inspect, runs } = backend;
  switch (call.type) {
    case 'get':
      return inspect.get(call.ids);
    case 'status':
      return inspect.status(call.ids);
    case 'facts':
      return shownFacts(await inspect.facts(call.ids[0] ?? ''));
    case 'user':
      return shownUser(await backend.users.get(call.user, call.queue));
    case 'queue':
      return shownQueue(await backend.queues.get(call.queue));
    case 'list':
      return (await inspect.list(call.filter, PAGE)).items;
    case 'attempts':
      return inspect.attempts(call.id);
    case 'workers':
      return (await backend.workers.list()).map(({ id, running, attempts, lastSeenAt }) => {
        return { id, running, attempts, lastSeenAt };
      });
    // Those that the model looks at once more.
    case 'checkpoint':
      return runs.checkpoint(call.lease, call.entries, call.channel);
    case 'writeChannel':
      return runs.writeChannel(call.lease, call.channel);
    case 'writeValues':
      return backend.xcom.write(call.writes);
    case 'getSchedule':
      return backend.schedules.get(call.id);
    case 'signal':
      return backend.waits.signal(call.id, call.signal);
    case 'answerAsk':
      return backend.asks.answer(call.id, call.answer);
    default:
      return send(backend, call);
  }
}

/** What is told of a task, without its user and queue, of which it depends on the engine what is remembered. */
function shownFacts(facts: TaskFacts | undefined): unknown {
  if (facts === undefined) return undefined;
  const { user: _user, queue: _queue, shares: _shares, dependents, ...shown } = facts;
  return { ...shown, dependents: dependents && { ...dependents, cursor: undefined } };
}

/** What the oracle says of it. */
export function forecastOf(oracle: Oracle, call: Call): unknown {
  const told = forecast(oracle, call);
  switch (call.type) {
    case 'checkpoint':
    case 'writeChannel':
    case 'signal':
    case 'answerAsk':
      return (told as { readonly answer: unknown }).answer;
    case 'writeValues':
      return undefined;
    case 'getSchedule': {
      const { record, now } = told as { readonly record: unknown; readonly now: number };
      return { record, now };
    }
    default:
      return told;
  }
}

const LOOKS: Readonly<Record<Look['type'], true>> = {
  get: true,
  status: true,
  facts: true,
  user: true,
  queue: true,
  list: true,
  attempts: true,
  workers: true,
};

export function isLook(call: Asked): call is Look {
  return Object.hasOwn(LOOKS, call.type);
}
