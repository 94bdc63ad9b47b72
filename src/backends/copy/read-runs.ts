import { isNumber } from '../../domain/task/channel.ts';
import type { StreamEntry } from '../../domain/task/stream.ts';
import type { Wait } from '../../domain/task/wait.ts';
import type { AskRow, RunRow, SignalsRow, StreamRow } from '../memory/rows/model.ts';
import { HASH_FIELDS } from '../redis/layout/fields.ts';
import { readAskSpec, readEventPair } from '../redis/wire/ask.ts';
import type { KeysReader } from './keys-reader.ts';
import type { RunSource } from './read-tasks.ts';

type Hash = ReadonlyMap<string, Buffer>;

/** What keys say of runs, by id. */
export interface RunKeys {
  readonly journals: ReadonlyMap<string, Hash>;
  readonly channels: ReadonlyMap<string, Hash>;
  /** Since when tasks wait for what is no task. */
  readonly since: ReadonlyMap<string, number>;
  /** Of those that wait for events: the number of the newest when they began. */
  readonly numbers: ReadonlyMap<string, number>;
}

const CHANNEL = HASH_FIELDS.channel;

/** What ties a task to a workflow; `undefined` when nothing does. */
export function runOf(task: RunSource, keys: RunKeys): RunRow | undefined {
  const { id, optional, changing } = task;
  const journal = keys.journals.get(id);
  const channel = keys.channels.get(id);
  const pausedSince = optional.number('pausedSince');
  const pauseReason = optional.text('pauseReason');
  const row: RunRow = {
    isJoin: optional.is('isJoin'),
    owner: optional.text('ownerRun'),
    graph: optional.text('graphHash'),
    waitFor: optional.texts('suspendedFor'),
    wakeOn: optional.text('wakeWord') === 'failure' ? 'failure' : 'all',
    wakeAt: optional.number('wakeDue'),
    ...attendedIn(optional.text('attendedLease')),
    decidesAfter: optional.text('decidesAfter'),
    ...waitOf(task, channel, keys),
    journal: [...(journal ?? [])].map(([field, text]) => [field, text.toString()]),
    channels: channel === undefined ? undefined : valuesIn(channel),
    newestWrites: changing.text('checkpoint'),
    signals: channel === undefined ? undefined : signalsIn(channel),
    asks: channel === undefined ? undefined : asksIn(channel),
    ...(pausedSince === undefined
      ? {}
      : {
          pause: {
            since: pausedSince,
            ...(pauseReason === undefined ? {} : { reason: pauseReason }),
          },
        }),
    pausedBy: optional.text('pausedBy'),
    asideFor: optional.text('asideFor'),
  };
  const { isJoin, waitFor, wakeOn, journal: written, ...rest } = row;
  const isEmpty = !isJoin && waitFor.length === 0 && written.length === 0;
  return isEmpty && Object.values(rest).every((one) => one === undefined) ? undefined : row;
}

/** Fields of a hash that begin so, without that. */
function* fieldsOf(hash: Hash, start: string): Generator<readonly [name: string, text: string]> {
  for (const [field, text] of hash) {
    if (field.startsWith(start)) yield [field.slice(start.length), text.toString()];
  }
}

function attendedIn(text: string | undefined): Pick<RunRow, 'attendedBy' | 'timeLeft'> {
  const [, attendedBy, timeLeft] = text?.match(/^\d+ (\S*)(?: (.+))?$/) ?? [];
  return { attendedBy, timeLeft };
}

function valuesIn(channel: Hash): RunRow['channels'] {
  const values = [...fieldsOf(channel, CHANNEL.value[0])].map(([field, text]) => {
    // A script writes a sum with more digits than it takes to read it back.
    return [field, isNumber(text) ? JSON.stringify(Number(text)) : text] as const;
  });
  const done = [...fieldsOf(channel, CHANNEL.once[0])].map(([mark]) => mark);
  return values.length === 0 && done.length === 0 && !channel.has(CHANNEL.counts[0])
    ? undefined
    : { values, done };
}

function signalsIn(channel: Hash): SignalsRow | undefined {
  if (!channel.has(CHANNEL.signalCounts[0])) return undefined;
  const lines = new Map<string, [number: number, payload: string][]>();
  for (const [field, payload] of fieldsOf(channel, CHANNEL.signal[0])) {
    const colon = field.indexOf(':');
    const name = field.slice(colon + 1);
    const line = lines.get(name) ?? [];
    line.push([Number(field.slice(0, colon)), payload]);
    lines.set(name, line);
  }
  const kept = [...lines].map(([name, line]) => {
    const payloads = line.sort(([a], [b]) => a - b).map(([, payload]) => payload);
    return [name, payloads] as const;
  });
  const ids = [...fieldsOf(channel, CHANNEL.signalId[0])];
  return { kept, ids: ids.sort(([, a], [, b]) => Number(a) - Number(b)).map(([id]) => id) };
}

/** `undefined` when there are none. */
function asksIn(channel: Hash): readonly AskRow[] | undefined {
  const asks = [...fieldsOf(channel, CHANNEL.ask[0])].flatMap(([mark, text]): readonly AskRow[] => {
    const [, asked, over, json] = /^(\d+) (\d*) (.*)$/s.exec(text) ?? [];
    if (json === undefined) return [];
    const closing = channel.get(CHANNEL.askClosing[0] + mark)?.toString();
    const until = over === '' || over === undefined ? undefined : Number(over);
    return [{ mark, ask: readAskSpec(json), askedAt: Number(asked), until, closing }];
  });
  return asks.length === 0 ? undefined : asks;
}

function waitOf(
  { id, optional }: RunSource,
  channel: Hash | undefined,
  { since, numbers }: RunKeys,
): Pick<RunRow, 'wait' | 'waitSince' | 'waitNumber'> {
  const kind = optional.text('awaitKind');
  const name = optional.text('awaitName') ?? '';
  const awaited = awaitedIn(kind, name, optional.texts('awaitTargets'), channel);
  if (awaited === undefined) return {};
  return {
    wait: { for: awaited, entry: optional.text('awaitEntry') ?? '' },
    waitSince: since.get(id) ?? 0,
    waitNumber: numbers.get(id),
  };
}

function awaitedIn(
  kind: string | undefined,
  name: string,
  targets: readonly string[],
  channel: Hash | undefined,
): Wait['for'] | undefined {
  switch (kind) {
    case 'time':
      return { kind };
    case 'signal':
      return { kind, name, targets };
    case 'event':
      return { kind, ...readEventPair(name) };
    case 'ask': {
      const asked = asksIn(channel ?? new Map())?.find(({ mark }) => mark === name);
      return asked === undefined ? undefined : { kind, ask: asked.ask };
    }
    default:
      return undefined;
  }
}

/** The streams of a task, whose record of them is this hash. */
export async function streamsOf(
  reader: KeysReader,
  id: string,
  hash: Hash,
): Promise<readonly StreamRow[]> {
  const { state, writer } = HASH_FIELDS.streams;
  const written = [...fieldsOf(hash, writer[0])];
  const rows = [...fieldsOf(hash, state[0])].map(async ([name, text]): Promise<StreamRow> => {
    const [next, , bytes, closed] = text.split(' ').map(Number);
    const key = `stream:${Buffer.byteLength(id)}:${id}${name}`;
    const entries = (await reader.entries(key)).flatMap(([entryId, fields]) =>
      entryIn(Number(/^\d+/.exec(entryId)?.[0]), fields),
    );
    const writers = written.flatMap(([field, own]): StreamRow['writers'] => {
      if (!field.startsWith(`${name}:`)) return [];
      const [call = '', count] = own.split(' ');
      return [[field.slice(name.length + 1), call, Number(count)]];
    });
    return { name, next: next ?? 0, bytes: bytes ?? 0, closed: closed === 1, entries, writers };
  });
  return Promise.all(rows);
}

function entryIn(next: number, fields: readonly string[]): readonly StreamEntry[] {
  const { head, text } = HASH_FIELDS.stream;
  const fieldOf = (name: string): string => fields[fields.indexOf(name) + 1] ?? '';
  const [, kind, offsets, attempt, node = ''] =
    /^(chunks|reset|end) (\d+) (\d+) (.*)$/s.exec(fieldOf(head[0])) ?? [];
  if (kind !== 'chunks' && kind !== 'reset' && kind !== 'end') return [];
  const from = next - Number(offsets);
  return [{ kind, from, next, attempt: Number(attempt), node, text: fieldOf(text[0]) }];
}
