import type {
  ChangeReply,
  CheckpointReply,
  NodeWrites,
  PauseReply,
  RunStore,
} from '../../domain/port/backend.ts';
import type { LeaseRef } from '../../domain/port/leasing.ts';
import { type ChannelRefusal, type ChannelWrites, isNumber } from '../../domain/task/channel.ts';
import type { Session } from './connection/session.ts';
import { endStateOf, flat, pairsOf, refusalOf, stateOf, text } from './wire/decode.ts';
import { writesText } from './wire/encode.ts';
import type { ScriptArgument } from './wire/script.ts';

/** Prefix of the fields of a run's channels that are values. */
const VALUE = 'v:';

/** See `RunStore`: a hash per run for its journal, and one for its channels. */
export class RedisRuns implements RunStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async checkpoint(
    lease: LeaseRef,
    entries: Readonly<Record<string, string | null>>,
    channel?: NodeWrites,
  ): Promise<CheckpointReply> {
    const args: ScriptArgument[] = [lease.id, lease.token];
    if (channel === undefined) args.push('', '', '');
    else args.push(channel.key, channel.run, writesText(channel.writes, channel.xcom));
    for (const [field, value] of Object.entries(entries)) args.push(field, value ?? '');
    const reply = await this.#session.run('checkpoint', args);
    const word = flat(reply)[0];
    return word === 'canceling' || word === 'paused' ? word : answerOf(reply);
  }

  async load(id: string): Promise<Readonly<Record<string, string>>> {
    const key = this.#session.keys.run(id);
    // Not by assignment, which would lose a field named __proto__.
    return Object.fromEntries(await this.#fields('runs.load', key));
  }

  async writeChannel(
    { id, token }: LeaseRef,
    { run, writes }: ChannelWrites,
  ): Promise<'ok' | 'lost' | ChannelRefusal> {
    return answerOf(await this.#session.run('writeChannel', [id, token, run, writesText(writes)]));
  }

  async readChannel(
    run: string,
    fields?: readonly string[],
  ): Promise<Readonly<Record<string, string>>> {
    const key = this.#session.keys.channel(run);
    if (fields === undefined) {
      const all = await this.#fields('runs.readChannel', key);
      const values = all.filter(([field]) => field.startsWith(VALUE));
      return Object.fromEntries(
        values.map(([field, value]) => [field.slice(VALUE.length), normalized(value)]),
      );
    }
    if (fields.length === 0) return {};
    const names = fields.map((field) => VALUE + field);
    const reply = flat(await this.#session.command('runs.readChannel', 'HMGET', [key, ...names]));
    const found = fields.flatMap((field, at): readonly [string, string][] => {
      const value = reply[at];
      return typeof value === 'string' ? [[field, normalized(value)]] : [];
    });
    return Object.fromEntries(found);
  }

  async pause(id: string, reason?: string): Promise<PauseReply> {
    const reply = flat(await this.#session.run('pause', [id, 'pause', reason ?? '']));
    const [word, state, since, words] = reply;
    if (word === 'not-found') return { kind: word };
    if (word === 'wrong-state') return { kind: word, state: endStateOf(state) };
    const why = text(words);
    return { kind: 'ok', pause: { since: Number(since), ...(why === '' ? {} : { reason: why }) } };
  }

  async pausePart(id: string, run: string): Promise<ChangeReply> {
    return this.#change([id, 'part', run]);
  }

  async resume(id: string): Promise<ChangeReply> {
    return this.#change([id, 'resume', '']);
  }

  async #change(args: readonly ScriptArgument[]): Promise<ChangeReply> {
    const [word, state] = flat(await this.#session.run('pause', args));
    if (word === 'ok' || word === 'wrong-state') return { kind: word, state: stateOf(state) };
    return { kind: 'not-found' };
  }

  /** A whole hash. */
  async #fields(operation: string, key: string): Promise<readonly [string, string][]> {
    return pairsOf(await this.#session.command(operation, 'HGETALL', [key]));
  }
}

function answerOf(reply: unknown): 'ok' | 'lost' | ChannelRefusal {
  const word = text(flat(reply)[0]);
  return refusalOf(word) ?? (word === 'ok' ? 'ok' : 'lost');
}

/** Lua has written the sums, and formats numbers differently. */
function normalized(value: string): string {
  return isNumber(value) ? JSON.stringify(Number(value)) : value;
}
