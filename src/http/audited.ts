/** Makes a change that was asked for over HTTP, with a line in the log and an entry of the audit. */
import { isRecord } from '../base/records.ts';
import { coreOf, type Fairloom } from '../client/client.ts';
import { say } from '../logging/log-events.ts';
import { keepAudit } from '../operations/audit.ts';
import { problemOf } from './problem.ts';
import type { Route } from './routes.ts';

/** Of the change. */
interface Asked {
  readonly loom: Fairloom;
  readonly one: Route;
  readonly requestId: string;
  readonly by: string | undefined;
  /** Who else asks in the same way shares its room in the audit: the name, or what may be seen. */
  readonly caller: string;
  /** What the path names. */
  readonly target: string;
}

/** Rejects as the change does. */
export async function audited(asked: Asked, change: () => Promise<unknown>): Promise<unknown> {
  try {
    const value = await change();
    await keep(asked, asked.one.status, value);
    return value;
  } catch (error) {
    const { status, code } = problemOf(error, asked.requestId);
    await keep(asked, status, { outcome: code });
    throw error;
  }
}

/** That the audit cannot be kept is no reason to say that the change was not made. */
async function keep(
  { loom, one, requestId, by, caller, target }: Asked,
  status: number,
  value: unknown,
): Promise<void> {
  const { clock, log } = coreOf(loom);
  const answer = isRecord(value) ? value : {};
  const { id = '', outcome = 'done' } = answer;
  const entry = {
    requestId,
    action: one.name,
    target: target === '' ? String(id) : target,
    status,
    outcome: String(outcome),
  };
  say(log, 'http.change', `${one.name} ${entry.target}: ${entry.outcome}`, { ...entry, by });
  try {
    const named = by === undefined ? {} : { by };
    await keepAudit(loom, { ...entry, at: clock.now(), ...named }, caller);
  } catch (error) {
    say(log, 'http.audit-not-kept', 'an entry of the audit was lost', { requestId, error });
  }
}
