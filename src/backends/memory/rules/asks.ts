/** Questions of suspended tasks: opened and closed with the wait; the first answer is accepted. */
import { LIMITS } from '../../../domain/limits.ts';
import type { AskStore, Page, PageRequest } from '../../../domain/port/backend.ts';
import {
  type AskFilter,
  type AskRecord,
  type AskReply,
  type AskSpec,
  askAnswerText,
  askPlace,
  type GivenAnswer,
  readClosing,
} from '../../../domain/task/ask.ts';
import type { TaskEntry } from '../store/entities.ts';
import { reindex } from '../store/ready-index.ts';
import type { AskEntry } from '../store/run-facts.ts';
import type { Store } from '../store/store.ts';
import { answerWait, endIfOver } from './signals.ts';

type Step = <T>(act: () => T) => Promise<T>;

/** See `AskStore`. */
export function askStore(store: Store, step: Step, look: Step): AskStore {
  return {
    answer: (id, answer) => step(() => answerAsk(store, id, answer)),
    get: (id) => look(() => recordOf(store, findAsk(store, id)?.ask)),
    list: (filter, page) => look(() => list(store, filter, page)),
  };
}

/** Opens the question of a suspended task; the end of its time is known by then. */
export function openAsk(store: Store, entry: TaskEntry, spec: AskSpec): void {
  const facts = entry.ownRun();
  const until = facts.wakeAt === undefined ? {} : { until: facts.wakeAt };
  const { id: taskId, name: task } = entry;
  const { user } = entry.owner;
  const record = { ...spec, taskId, task, user, askedAt: store.now, ...until };
  facts.asks ??= new Map();
  facts.asks.set(askPlace(spec.id)?.mark ?? '', { record, closing: undefined });
  store.asks.add(record);
}

function findAsk(
  store: Store,
  id: string,
): { readonly entry: TaskEntry; readonly ask: AskEntry } | undefined {
  const place = askPlace(id);
  const entry = store.records.get(place?.taskId ?? '');
  const ask = entry?.optional.run?.asks?.get(place?.mark ?? '');
  return entry === undefined || ask === undefined ? undefined : { entry, ask };
}

function recordOf(store: Store, ask: AskEntry | undefined): AskRecord | undefined {
  if (ask?.closing !== undefined) return { ...ask.record, closing: readClosing(ask.closing) };
  const until = ask?.record.until;
  if (ask === undefined || until === undefined || until > store.now) return ask?.record;
  return { ...ask.record, closing: { how: 'timed-out', at: until } };
}

function answerAsk(store: Store, id: string, answer: GivenAnswer): AskReply {
  const found = findAsk(store, id);
  if (found === undefined) return { kind: 'not-found' };
  const { entry, ask } = found;
  const payload = askAnswerText(answer);
  if (ask.closing !== undefined || endIfOver(store, entry)) {
    if (ask.closing?.endsWith(` ask ${payload}`)) return { kind: 'answered' };
    return { kind: 'closed', closing: readClosing(ask.closing ?? '') };
  }
  const { choices } = ask.record;
  if (!choices.includes(answer.choice)) return { kind: 'no-choice', choices };
  answerWait(store, entry, { by: 'ask', payload });
  reindex(store, entry.owner);
  return { kind: 'answered' };
}

function list(store: Store, filter: AskFilter, { limit, cursor }: PageRequest): Page<AskRecord> {
  const most = Math.min(limit, LIMITS.pageMax);
  const items: AskRecord[] = [];
  let last = '';
  for (const { key, ask } of store.asks.of(filter, cursor)) {
    if (ask.until !== undefined && ask.until <= store.now) continue;
    if (items.length === most) return { items, cursor: last };
    items.push(ask);
    last = key;
  }
  return { items };
}
