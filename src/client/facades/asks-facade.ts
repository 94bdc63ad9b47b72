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

/** Filter of open questions. */
export interface AskListOptions extends PageOptions {
  /** User of the tasks; absent: any. */
  readonly user?: string | undefined;
  /** Name of a person who may answer; absent: any, including questions for anyone. */
  readonly for?: string | undefined;
}

const LIST_KEYS: OptionKeys<AskListOptions> = keysOf<AskListOptions>()({
  ...PAGE_KEYS,
  user: true,
  for: true,
});

/** An answer to a question. */
export interface AskAnswer<F = unknown> {
  /** One of the choices of the question. */
  readonly choice: string;
  /** Name of the person who answers, a text of 1–128 bytes; stored with the answer, not checked. */
  readonly by: string;
  /** Comment, stored with the answer. */
  readonly comment?: string | undefined;
  /** Data for the form of the question. */
  readonly form?: F | undefined;
}

const ANSWER_KEYS: OptionKeys<AskAnswer> = keysOf<AskAnswer>()({
  choice: true,
  by: true,
  comment: true,
  form: true,
});

/** Options of an answer. */
export interface AskAnswerOptions<F = unknown> {
  /** Schema of the question's form: data that it refuses is not stored. */
  readonly schema?: StandardSchemaV1<unknown, F> | undefined;
}

const CHECK_KEYS: OptionKeys<AskAnswerOptions> = keysOf<AskAnswerOptions>()({ schema: true });

/** A question to people. Moments are ms since the epoch on the backend's clock. */
export interface AskInfo {
  /** Unique id of the question. */
  readonly id: string;
  /** Id of the task that asks. */
  readonly taskId: string;
  /** Name of the task that asks. */
  readonly task: string;
  /** User of the task. */
  readonly user: string;
  /** Run of the task; absent without one. */
  readonly runId?: string;
  /** Text of the question; absent if it cannot be read here. */
  readonly title?: string;
  /** Permitted answers. */
  readonly choices: readonly string[];
  /** Names of the people who may answer; empty: anyone. */
  readonly for: readonly string[];
  /** JSON Schema of its form, or `true` for a form whose schema has no JSON Schema; absent without a form. */
  readonly form?: unknown;
  /** State of the question. `ended`: its task has ended in another way. */
  readonly state: 'open' | 'answered' | 'timed-out' | 'canceled' | 'ended';
  /** Moment of the question. */
  readonly askedAt: number;
  /** End of its time; absent without one. */
  readonly until?: number;
  /** Moment when it was closed; absent while it is open. */
  readonly closedAt?: number;
  /** `answered`: the accepted answer. */
  readonly answer?: AskAnswer;
  /** Its texts cannot be read here: id of the key that encrypts them. */
  readonly encryptedWith?: string;
}

/** `loom.asks`: questions of handlers to people by `ctx.ask`. */
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

  /** An open or closed question; `undefined` if it, or the record of its task, is not stored. */
  async get(id: string): Promise<AskInfo | undefined> {
    const { asks } = await this.#connection.open();
    const record = await asks.get(checkAskId(id));
    return record === undefined ? undefined : askInfo(record, this.#codec);
  }

  /**
   * Answers a question; the first answer is accepted. Without `schema` the handler that asked
   * checks the form, and fails if it refuses it.
   *
   * @throws {@link AskClosedError} when it was closed before, with how;
   * {@link AskNotFoundError}; {@link InvalidOptionError} for a text that is none of its choices;
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

/** Dependencies of reading and answering questions. */
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

/** A dot and a fencing token. */
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

/** A listing shows a question even if its text cannot be read. */
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
