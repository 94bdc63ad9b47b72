/** Waits of suspended tasks, with the texts of users and handlers sealed by the codec. */
import type { AskStore, Suspension, TaskFacts, WaitStore } from '../domain/port/backend.ts';
import { type AskRecord, type AskReply, askAnswerText, readAskAnswer } from '../domain/task/ask.ts';
import { answerText, readAnswer } from '../domain/task/wait.ts';
import { openPause, type SealedRecords } from './sealed-records.ts';
import type { Texts } from './texts.ts';

/** Payloads of signals are sealed. */
export function sealedWaits(waits: WaitStore, records: SealedRecords): WaitStore {
  const { texts } = records;
  return {
    signal: (id, signal) =>
      waits.signal(id, { ...signal, payload: texts.seal(signal.payload, 'signal') }),
    publish: async (user, event, starts) => {
      const payload = texts.seal(event.payload, 'signal');
      const sealed = starts.map(({ task, ...start }) =>
        task === undefined ? start : { ...start, task: records.newTask(task) },
      );
      const reply = await waits.publish(user, { ...event, payload }, sealed);
      if (reply.kind !== 'schedules') return reply;
      return { ...reply, schedules: reply.schedules.map((record) => records.schedule(record)) };
    },
    figures: () => waits.figures(),
  };
}

/** Choices, and names of people, stay readable: the store compares them. */
export function sealedAsks(asks: AskStore, texts: Texts): AskStore {
  return {
    answer: async (id, answer) => {
      const text = texts.seal(answer.text, 'ask-answer');
      return openReply(texts, await asks.answer(id, { ...answer, text }));
    },
    get: async (id) => {
      const record = await asks.get(id);
      return record === undefined ? undefined : openRecord(texts, record);
    },
    list: async (filter, request) => {
      const page = await asks.list(filter, request);
      return { ...page, items: page.items.map((record) => openRecord(texts, record)) };
    },
  };
}

/** Seals the question of a suspension, if it has one. */
export function sealSuspension(texts: Texts, suspension: Suspension): Suspension {
  const { wait } = suspension;
  if (wait?.for.kind !== 'ask') return suspension;
  const { ask } = wait.for;
  const sealed = { ...ask, text: texts.seal(ask.text, 'ask') };
  return { ...suspension, wait: { ...wait, for: { kind: 'ask', ask: sealed } } };
}

/** Opens the facts that explain a task, including its question. */
export function openFacts(texts: Texts, stored: TaskFacts): TaskFacts {
  const { wait, paused } = stored;
  const facts = paused === undefined ? stored : { ...stored, paused: openPause(texts, paused) };
  if (wait?.for.kind !== 'ask') return facts;
  const { ask } = wait.for;
  const opened = { ...ask, text: texts.open(ask.text, 'ask') };
  return { ...facts, wait: { ...wait, for: { kind: 'ask', ask: opened } } };
}

/** The store wrote the answer around a payload that the sender has sealed. */
export function openAnswer(texts: Texts, text: string): string {
  const answer = readAnswer(text);
  if (answer.payload === '') return text;
  if (answer.by !== 'ask') {
    return answerText({ ...answer, payload: texts.demand(answer.payload, 'signal') });
  }
  const given = readAskAnswer(answer.payload);
  const payload = askAnswerText({ ...given, text: texts.demand(given.text, 'ask-answer') });
  return answerText({ ...answer, payload });
}

function openReply(texts: Texts, reply: AskReply): AskReply {
  if (reply.kind !== 'closed') return reply;
  return { ...reply, closing: openClosing(texts, reply.closing) };
}

function openRecord(texts: Texts, record: AskRecord): AskRecord {
  const { closing } = record;
  const text = texts.open(record.text, 'ask');
  if (closing === undefined) return { ...record, text };
  return { ...record, text, closing: openClosing(texts, closing) };
}

function openClosing(
  texts: Texts,
  closing: NonNullable<AskRecord['closing']>,
): NonNullable<AskRecord['closing']> {
  if (closing.how !== 'answered') return closing;
  return { ...closing, text: texts.open(closing.text, 'ask-answer') };
}
