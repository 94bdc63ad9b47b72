import type { SharedBackend } from '../../backends/shared-backend.ts';
import { utf8Bytes } from '../../base/json.ts';
import type { ValueCodec } from '../../codec/codec.ts';
import {
  AskClosedError,
  AskNotFoundError,
  InvalidOptionError,
  InvalidPayloadError,
} from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { checkId, checkName } from '../../domain/fairness/names.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Page } from '../../domain/port/backend.ts';
import type { AskRecord } from '../../domain/task/ask.ts';
import { isSealed, sealedWith } from '../../domain/task/sealed-text.ts';
import { checkedBy, isSchema, type StandardSchemaV1 } from '../../workflow/standard-schema.ts';
import { listed } from './list-cursor.ts';
import { PAGE_KEYS, type PageOptions, pageRequest } from './page.ts';

/** Which open questions to list. */
export interface AskListOptions extends PageOptions {
  /** Of tasks of this user; absent: of any. */
  readonly user?: string | undefined;
  /** That are for this name; absent: those for anyone, and for all names. */
  readonly for?: string | undefined;
}

const LIST_KEYS: OptionKeys<AskListOptions> = keysOf<AskListOptions>()({
  ...PAGE_KEYS,
  user: true,
  for: true,
});

/** An answer to a question. */
export interface AskAnswer<F = unknown> {
  /** One of its choices. */
  readonly choice: string;
  /** Who answers, a text of 1–128 bytes: kept with the answer, and not looked into. */
  readonly by: string;
  /** Text for people, kept with the answer. */
  readonly comment?: string | undefined;
  /** What the form of the question asks for. */
  readonly form?: F | undefined;
}

const ANSWER_KEYS: OptionKeys<AskAnswer> = keysOf<AskAnswer>()({
  choice: true,
  by: true,
  comment: true,
  form: true,
});

/** How an answer is checked before it is stored. */
export interface AskAnswerOptions<F = unknown> {
  /** That of the question's form: what it refuses is not stored. */
  readonly schema?: StandardSchemaV1<unknown, F> | undefined;
}

const CHECK_KEYS: OptionKeys<AskAnswerOptions> = keysOf<AskAnswerOptions>()({ schema: true });

/** A question to people. Moments are ms since the epoch on the backend's clock. */
export interface AskInfo {
  /** Names it among all. */
  readonly id: string;
  /** The task that asks. */
  readonly taskId: string;
  /** The name of that task. */
  readonly task: string;
  /** Whose task it is. */
  readonly user: string;
  /** The run that the task is a part of; absent for one that stands alone. */
  readonly runId?: string;
  /** What people read; absent when it cannot be read here. */
  readonly title?: string;
  /** What may be answered. */
  readonly choices: readonly string[];
  /** The names of the people it is for; empty: for anyone. */
  readonly for: readonly string[];
  /** It has a form: what that is to hold as JSON Schema, or `true` where its schema does not say. */
  readonly form?: unknown;
  /** Where it stands. `ended`: its task has ended otherwise. */
  readonly state: 'open' | 'answered' | 'timed-out' | 'canceled' | 'ended';
  /** When it was asked. */
  readonly askedAt: number;
  /** When its time is over; absent when it has none. */
  readonly until?: number;
  /** When it was closed; absent while it is open. */
  readonly closedAt?: number;
  /** `answered`: the answer that counts. */
  readonly answer?: AskAnswer;
  /** Its texts cannot be read here: the id of the key with which they are encrypted. */
  readonly encryptedWith?: string;
}

/** `loom.asks`: what handlers ask people by `ctx.ask`. */
export class Asks {
  readonly #connection: SharedBackend;
  readonly #codec: ValueCodec;
  readonly #newId: () => string;

  /** @internal */
  constructor({ connection, codec, newId }: AskTools) {
    this.#connection = connection;
    this.#codec = codec;
    this.#newId = newId;
  }

  /** Open questions, the oldest first. */
  async list(options: AskListOptions = {}): Promise<Page<AskInfo>> {
    checkOptions('asks.list', options, LIST_KEYS);
    const page = pageRequest(options);
    const { user, for: name } = options;
    const filter = {
      ...(user === undefined ? {} : { user: checkId('user', user) }),
      ...(name === undefined ? {} : { for: checkId('for', name) }),
    };
    const { asks } = await this.#connection.open();
    return listed({ list: 'asks.list', filter }, page, async (request) => {
      const { items, ...rest } = await asks.list(filter, request);
      return { ...rest, items: items.map((record) => askInfo(record, this.#codec)) };
    });
  }

  /** One that is open or closed; `undefined` when there is none, or the record of its task is gone. */
  async get(id: string): Promise<AskInfo | undefined> {
    const { asks } = await this.#connection.open();
    const record = await asks.get(checkAskId(id));
    return record === undefined ? undefined : askInfo(record, this.#codec);
  }

  /**
   * Answers a question; the first answer counts. Without `schema` the form is checked by the handler that
   * asked, which then fails.
   *
   * @throws {@link AskClosedError} with how it was closed, when it was closed before;
   * {@link AskNotFoundError}; {@link InvalidOptionError} for a choice that is none of its choices;
   * {@link InvalidPayloadError} for a form that the schema refuses or that is too large.
   */
  async answer<F = unknown>(
    id: string,
    answer: AskAnswer<F>,
    options: AskAnswerOptions<F> = {},
  ): Promise<void> {
    checkOptions('asks.answer', answer, ANSWER_KEYS);
    checkOptions('asks.answer', options, CHECK_KEYS);
    const { schema } = options;
    const askId = checkAskId(id);
    const choice = checkName('choice', answer.choice);
    const by = checkId('by', answer.by);
    if (schema !== undefined && !isSchema(schema)) {
      throw new InvalidOptionError('schema', 'a Standard Schema', schema);
    }
    await checkedBy(`form of ${askId}`, schema, answer.form);
    const text = this.#textOf(answer);
    const { asks } = await this.#connection.open();
    const reply = await asks.answer(askId, { choice, by, text, call: this.#newId() });
    switch (reply.kind) {
      case 'answered':
        return;
      case 'not-found':
        throw new AskNotFoundError(askId);
      case 'closed':
        throw new AskClosedError(askId, reply.closing);
      case 'no-choice':
        throw new InvalidOptionError('choice', `one of ${reply.choices.join(', ')}`, choice);
    }
  }

  #textOf({ comment, form }: AskAnswer): string {
    if (comment !== undefined && typeof comment !== 'string') {
      throw new InvalidOptionError('comment', 'a text', comment);
    }
    const text = this.#codec.payload('asks.answer', {
      ...(comment === undefined ? {} : { comment }),
      ...(form === undefined ? {} : { form }),
    });
    if (utf8Bytes(text) <= LIMITS.askBytes) return text;
    throw new InvalidPayloadError('$', `more than ${LIMITS.askBytes} bytes`);
  }
}

/** What questions are read and answered with. */
interface AskTools {
  readonly connection: SharedBackend;
  readonly codec: ValueCodec;
  readonly newId: () => string;
}

/** Ids of questions are longer than those of tasks by a mark. */
function checkAskId(id: unknown): string {
  if (typeof id === 'string' && id !== '' && utf8Bytes(id) <= LIMITS.idBytes + MARK_BYTES) {
    return id;
  }
  throw new InvalidOptionError('id', 'the id of a question', id);
}

/** Of a dot and a fencing token. */
const MARK_BYTES = 16;

/** A question as callers read it. */
function askInfo(record: AskRecord, codec: ValueCodec): AskInfo {
  const { run, text, closing, ...rest } = record;
  return {
    ...rest,
    ...(run === undefined ? {} : { runId: run }),
    ...readQuestion(text),
    state: closing?.how ?? 'open',
    ...(closing === undefined ? {} : { closedAt: closing.at }),
    ...(closing?.how === 'answered' ? { answer: readAnswer(closing, codec) } : {}),
  };
}

/** A listing must show a question also when its text cannot be read. */
function readQuestion(text: string): Pick<AskInfo, 'title' | 'form' | 'encryptedWith'> {
  if (isSealed(text)) return { encryptedWith: sealedWith(text) };
  const { title, form }: { readonly title: string; readonly form?: unknown } = JSON.parse(text);
  return { title, ...(form === undefined ? {} : { form }) };
}

function readAnswer(
  { choice, by, text }: { readonly choice: string; readonly by: string; readonly text: string },
  codec: ValueCodec,
): AskAnswer {
  if (isSealed(text)) return { choice, by };
  const more: unknown = codec.read(text);
  return { choice, by, ...(typeof more === 'object' ? more : {}) };
}
