/** Writes what tasks have written down themselves: journals, channels, signals, questions, streams. */
import { utf8Bytes } from '../../base/json.ts';
import { LIMITS } from '../../domain/limits.ts';
import { CHANNEL_NUMBER_BYTES, isNumber } from '../../domain/task/channel.ts';
import { entryHead } from '../../domain/task/stream.ts';
import type { TaskEntry } from '../memory/store/entities.ts';
import type { RunFacts } from '../memory/store/run-facts.ts';
import { HASH_FIELDS } from '../redis/layout/fields.ts';
import { askSpecText } from '../redis/wire/ask.ts';
import type { Target } from './keys-writer.ts';

const { channel: CHANNEL, streams: STREAMS, stream: STREAM } = HASH_FIELDS;

/** Writes all of it. */
export async function writeRun(target: Target, entry: TaskEntry): Promise<void> {
  const { writer, keys } = target;
  const { run } = entry.optional;
  for (const [field, text] of run?.journal ?? [])
    await writer.hash(keys.run(entry.id), field, text);
  if (run !== undefined) {
    const key = keys.channel(entry.id);
    await writeValues(target, key, run);
    await writeSignals(target, key, run);
    await writeAsks(target, key, run);
  }
  await writeStreams(target, entry);
}

async function writeValues({ writer }: Target, key: string, { channels }: RunFacts): Promise<void> {
  if (channels === undefined) return;
  let bytes = 0;
  let count = 0;
  for (const [field, text] of Object.entries(channels.read())) {
    await writer.hash(key, CHANNEL.value[0] + field, text);
    count++;
    bytes += utf8Bytes(field) + (isNumber(text) ? CHANNEL_NUMBER_BYTES : utf8Bytes(text));
  }
  for (const mark of channels.marks()) {
    await writer.hash(key, CHANNEL.once[0] + mark, '1');
    bytes += utf8Bytes(mark);
  }
  await writer.hash(key, CHANNEL.counts[0], `${count} ${bytes}`);
}

async function writeSignals({ writer }: Target, key: string, { signals }: RunFacts): Promise<void> {
  if (signals === undefined) return;
  let kept = 0;
  let bytes = 0;
  for (const [name, payloads] of signals.all()) {
    for (const [at, payload] of payloads.entries()) {
      await writer.hash(key, `${CHANNEL.signal[0]}${at + 1}:${name}`, payload);
      kept++;
      bytes += utf8Bytes(payload);
    }
    await writer.hash(key, CHANNEL.signalLine[0] + name, `1 ${payloads.length + 1}`);
  }
  let sent = 0;
  for (const id of signals.allIds()) {
    sent++;
    await writer.hash(key, CHANNEL.signalPlace[0] + (sent % LIMITS.signalIds), id);
    await writer.hash(key, CHANNEL.signalId[0] + id, sent);
  }
  await writer.hash(key, CHANNEL.signalCounts[0], `${kept} ${bytes} ${sent}`);
}

async function writeAsks({ writer }: Target, key: string, { asks }: RunFacts): Promise<void> {
  for (const [mark, { record, closing }] of asks ?? []) {
    const {
      taskId: _id,
      task: _task,
      user: _user,
      askedAt,
      until,
      closing: _closing,
      ...spec
    } = record;
    const text = `${askedAt} ${until ?? ''} ${askSpecText(spec)}`;
    await writer.hash(key, CHANNEL.ask[0] + mark, text);
    if (closing !== undefined) await writer.hash(key, CHANNEL.askClosing[0] + mark, closing);
  }
}

async function writeStreams({ writer, keys }: Target, entry: TaskEntry): Promise<void> {
  const { streams } = entry.optional;
  if (streams === undefined) return;
  const key = keys.streams(entry.id);
  await writer.hash(key, STREAMS.count[0], streams.size);
  for (const [name, { next, first, bytes, closed, entries, writers }] of streams) {
    const facts = `${next} ${first} ${bytes} ${closed ? 1 : 0}`;
    await writer.hash(key, STREAMS.state[0] + name, facts);
    for (const [node, { call, written }] of writers) {
      await writer.hash(key, `${STREAMS.writer[0]}${name}:${node}`, `${call} ${written}`);
    }
    for (const one of entries) {
      const head = entryHead(one.kind, one.next - one.from, one);
      const fields = [STREAM.head[0], head, STREAM.text[0], one.text];
      await writer.send('XADD', keys.stream(entry.id, name), `${one.next}-0`, ...fields);
    }
  }
}
