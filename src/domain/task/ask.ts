/** Questions of suspended tasks to people, and their answers. */

/** A question of a handler. */
export interface AskSpec {
  /** The id of the task, a dot, and a mark that is unique within the task; see `askPlace`. */
  readonly id: string;
  /** The run of the task; absent without one. */
  readonly run?: string;
  /** Permitted answers. */
  readonly choices: readonly string[];
  /** Names of the people who may answer; empty: anyone. */
  readonly for: readonly string[];
  /** JSON text: the question, and the schema of its form. */
  readonly text: string;
}

/** A stored question. */
export interface AskRecord extends AskSpec {
  /** Id of the task that asks. */
  readonly taskId: string;
  /** Name of the task that asks. */
  readonly task: string;
  /** User of the task. */
  readonly user: string;
  /** Moment of the question, in ms since the epoch. */
  readonly askedAt: number;
  /** End of its time, in ms since the epoch; absent without one. */
  readonly until?: number;
  /** How it was closed; absent while it is open. */
  readonly closing?: AskClosing;
}

/** How a question was closed. */
export type AskClosing = AnsweredAsk | UnansweredAsk;

/** A question closed by an answer. */
export interface AnsweredAsk extends Omit<GivenAnswer, 'call'> {
  /** Discriminant. */
  readonly how: 'answered';
  /** Moment of the answer, in ms since the epoch, by the backend's clock. */
  readonly at: number;
}

/** A question closed without an answer. */
export interface UnansweredAsk {
  /** The first cause; `ended`: its task has ended, or waits for something else. */
  readonly how: 'timed-out' | 'canceled' | 'ended';
  /** Moment of the closing, in ms since the epoch, by the backend's clock. */
  readonly at: number;
}

/** An answer to a question. */
export interface GivenAnswer {
  /** One of the choices of the question. */
  readonly choice: string;
  /** Name of the person who answers. */
  readonly by: string;
  /** JSON text: data of the answer. */
  readonly text: string;
  /** Id of the answering call: a repeated call counts as the same answer. */
  readonly call: string;
}

/** Result of an answer. */
export type AskReply =
  /** `answered`: accepted. `not-found`: there is no such question. */
  | { readonly kind: 'answered' | 'not-found' }
  /** It was closed before. */
  | { readonly kind: 'closed'; readonly closing: AskClosing }
  /** The choice is not among these. */
  | { readonly kind: 'no-choice'; readonly choices: readonly string[] };

/** Filter of open questions. */
export interface AskFilter {
  /** User of the tasks. */
  readonly user?: string;
  /** Name of a person who may answer. */
  readonly for?: string;
}

/** The first word of a closing as text, behind its moment. */
const WORDS = { time: 'timed-out', canceled: 'canceled', ended: 'ended' } as const;

/** The parts of a question's id. */
export interface AskPlace {
  /** Id of the task that asks. */
  readonly taskId: string;
  /** Mark of the question, unique within the task. */
  readonly mark: string;
}

/** Parses an id; `undefined` for a text of another form. */
export function askPlace(id: string): AskPlace | undefined {
  const dot = id.lastIndexOf('.');
  if (dot < 1 || dot === id.length - 1) return undefined;
  return { taskId: id.slice(0, dot), mark: id.slice(dot + 1) };
}

/** The sets of open questions that contain this one, as pairs of user and name; either may be empty. */
export function askSets(
  user: string,
  names: readonly string[],
): readonly (readonly [user: string, name: string])[] {
  return ['', user].flatMap((one) => ['', ...names].map((name) => [one, name] as const));
}

/** Text of an answer in the journal of its task. */
export function askAnswerText({ choice, by, text, call }: GivenAnswer): string {
  return JSON.stringify({ choice, by, text, call });
}

/** Parses the text of {@link askAnswerText}. */
export function readAskAnswer(text: string): GivenAnswer {
  return JSON.parse(text);
}

/** Parses how a question was closed: the answer of a wait, or `canceled` or `ended` in its place. */
export function readClosing(closing: string): AskClosing {
  const [at = '', word = ''] = closing.split(' ', 2);
  if (word === 'ask') {
    const { choice, by, text } = readAskAnswer(closing.slice(at.length + word.length + 2));
    return { how: 'answered', at: Number(at), choice, by, text };
  }
  const how = word === 'time' || word === 'canceled' ? WORDS[word] : WORDS.ended;
  return { how, at: Number(at) };
}
