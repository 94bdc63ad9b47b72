/** One test's view of streams: who writes, and what is read, in short words. */

import { setImmediate } from '../../base/globals.ts';
import type { Leased } from '../../domain/port/backend.ts';
import type { StreamPlace } from '../../domain/port/streams.ts';
import {
  blockOf,
  chunksOf,
  type StreamEntry,
  type StreamFacts,
  type StreamWrite,
} from '../../domain/task/stream.ts';
import type { Kit } from '../kit.ts';

type Appended = ReturnType<Kit['backend']['streams']['append']>;

/** One call of a handler: what it writes is counted, as a client does. */
export class Writer {
  readonly #kit: Kit;
  readonly #whose: Pick<StreamWrite, 'name' | 'node' | 'call' | 'attempt'>;
  leased: Leased;
  ordinal = 0;

  constructor(kit: Kit, leased: Leased, fields: Partial<StreamWrite> = {}) {
    this.#kit = kit;
    this.leased = leased;
    this.#whose = { name: 'tokens', node: '', call: leased.token, attempt: 1, ...fields };
  }

  async write(...chunks: readonly string[]): Promise<Awaited<Appended>> {
    const answer = await this.send(chunks);
    if (answer === 'ok') this.ordinal += chunks.length;
    return answer;
  }

  /** The same, and what was sent counts as if the answer was lost. */
  send(chunks: readonly string[], closes = false): Appended {
    const { id, token } = this.leased;
    const { ordinal } = this;
    const write = { ...this.#whose, ordinal, count: chunks.length, text: blockOf(chunks), closes };
    return this.#kit.backend.streams.append({ worker: 'w', id, token }, write);
  }

  close(...chunks: readonly string[]): Appended {
    return this.send(chunks, true);
  }
}

/** A task that is leased. */
export async function leasedTask(kit: Kit, id = 'task'): Promise<Leased> {
  await kit.add({ id });
  return kit.leaseOne();
}

/** The handler of such a task. */
export async function writing(kit: Kit, fields: Partial<StreamWrite> = {}): Promise<Writer> {
  return new Writer(kit, await leasedTask(kit), fields);
}

/** Which entries are read, and how many at once. */
interface Pages {
  readonly id?: string;
  readonly name?: string;
  readonly from?: number;
  readonly limit?: number;
}

/** Everything from an offset on, page by page. */
export async function entries(
  kit: Kit,
  { id = 'task', name = 'tokens', from = 0, limit = 16 }: Pages = {},
): Promise<readonly StreamEntry[]> {
  const found: StreamEntry[] = [];
  for (let at = from; ; ) {
    const page = await kit.backend.streams.read(id, name, at, limit);
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined) return found;
    at = last.next;
  }
}

/** What entries say, in short. */
export function shown(found: readonly StreamEntry[]): readonly string[] {
  return found.map(({ kind, from, next, attempt, node, text }) => {
    const chunks = chunksOf(text)?.join(',') ?? 'damaged';
    return `${kind} ${from}-${next} ${attempt}${node === '' ? '' : ` ${node}`} ${chunks}`.trim();
  });
}

/** What is known of the streams of a task, but for how long they are. */
export async function factsOf(
  kit: Kit,
  id = 'task',
): Promise<readonly Omit<StreamFacts, 'bytes'>[]> {
  const facts = await kit.backend.streams.list(id);
  return facts.map(({ bytes: _, ...rest }) => rest);
}

/** A place in a stream of the task. */
export function place(from: number, name = 'tokens'): StreamPlace {
  return { id: 'task', name, from };
}

/** Whether a wait has answered, as far as that can be seen without letting time pass. */
export async function isOver(wait: Promise<void>): Promise<boolean> {
  let over = false;
  void wait.then(() => {
    over = true;
  });
  for (let turns = 0; turns < 50 && !over; turns++) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  return over;
}
