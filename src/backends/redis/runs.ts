import type { RunStore } from '../../domain/backend.ts';
import type { LeaseRef } from '../../domain/leasing.ts';
import { flat, text } from './decode.ts';
import type { ScriptArgument } from './script.ts';
import type { Session } from './session.ts';

/** See `RunStore`: one hash per run. */
export class RedisRuns implements RunStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async checkpoint(
    lease: LeaseRef,
    entries: Readonly<Record<string, string | null>>,
  ): Promise<'ok' | 'lost'> {
    const args: ScriptArgument[] = [lease.id, lease.token];
    for (const [field, value] of Object.entries(entries)) args.push(field, value ?? '');
    const [word] = flat(await this.#session.run('checkpoint', args));
    return text(word) === 'ok' ? 'ok' : 'lost';
  }

  async load(id: string): Promise<Readonly<Record<string, string>>> {
    const reply = await this.#session.command('runs.load', 'HGETALL', [this.#session.keys.run(id)]);
    if (!Array.isArray(reply)) return { ...(reply as Readonly<Record<string, string>>) };
    const entries: [string, string][] = [];
    for (let at = 0; at < reply.length; at += 2) {
      entries.push([text(reply[at]), text(reply[at + 1])]);
    }
    // Not by assignment, which would lose a field named __proto__.
    return Object.fromEntries(entries);
  }
}
