/** Questions that suspended tasks put to people, and what becomes of them. */

/** A question, as its handler puts it. */
export interface AskSpec {
  /** The task, a dot, and a mark that no other question of the task has; see `askPlace`. */
  readonly id: string;
  /** The run that the task is a part of, if it is. */
  readonly run?: string;
  /** What may be answered. */
  readonly choices: readonly string[];
  /** The names of the people it is for; empty: for anyone. */
  readonly for: readonly string[];
  /** JSON text: what people read, and what their form is to hold. */
  readonly text: string;
}

/** A question as it is stored. */
export interface AskRecord extends AskSpec {
  /** The task that asks. */
  readonly taskId: string;
  /** The name of that task. */
  readonly task: string;
  /** Whose task it is. */
  readonly user: string;
  /** When it was asked, in ms since the epoch. */
  readonly askedAt: number;
  /** When its time is over, in ms since the epoch; absent when it has none. */
  readonly until?: number;
  /** Absent while it is open. */
  readonly closing?: AskClosing;
}

/** How a question was closed. */
export type AskClosing = AnsweredAsk | UnansweredAsk;

/** One that was answered. */
export interface AnsweredAsk extends Omit<GivenAnswer, 'call'> {
  /** Tells it from others. */
  readonly how: 'answered';
  /** When, in ms since the epoch, by the backend's clock. */
  readonly at: number;
}

/** One that closed without an answer. */
export interface UnansweredAsk {
  /** What came first; `ended`: its task has ended otherwise, or waits for something else. */
  readonly how: 'timed-out' | 'canceled' | 'ended';
  /** When, in ms since the epoch, by the backend's clock. */
  readonly at: number;
}

/** An answer on its way to a question. */
export interface GivenAnswer {
  /** One of its choices. */
  readonly choice: string;
  /** Who answers. */
  readonly by: string;
  /** JSON text: what came along. */
  readonly text: string;
  /** Names the call that answers: sent again it is the same answer. */
  readonly call: string;
}

/** What became of an answer. */
export type AskReply =
  /** `answered`: it counts. `not-found`: there is no such question. */
  | { readonly kind: 'answered' | 'not-found' }
  /** Another came first. */
  | { readonly kind: 'closed'; readonly closing: AskClosing }
  /** It is not among these. */
  | { readonly kind: 'no-choice'; readonly choices: readonly string[] };

/** Which open questions to list. */
export interface AskFilter {
  /** Of tasks of this user. */
  readonly user?: string;
  /** For this name. */
  readonly for?: string;
}

/** How a closing begins as text, behind its moment. */
const WORDS = { time: 'timed-out', canceled: 'canceled', ended: 'ended' } as const;

/** What the id of a question is made of. */
export interface AskPlace {
  /** The task that asks. */
  readonly taskId: string;
  /** Tells the question from others of that task. */
  readonly mark: string;
}

/** The parts of an id; `undefined` when it is none. */
export function askPlace(id: string): AskPlace | undefined {
  const dot = id.lastIndexOf('.');
  if (dot < 1 || dot === id.length - 1) return undefined;
  return { taskId: id.slice(0, dot), mark: id.slice(dot + 1) };
}

/** The sets of open questions that one stands in, as pairs of user and name; either may be empty. */
export function askSets(
  user: string,
  names: readonly string[],
): readonly (readonly [user: string, name: string])[] {
  return ['', user].flatMap((one) => ['', ...names].map((name) => [one, name] as const));
}

/** An answer as the journal of its task holds it. */
export function askAnswerText({ choice, by, text, call }: GivenAnswer): string {
  return JSON.stringify({ choice, by, text, call });
}

/** Reads what {@link askAnswerText} wrote. */
export function readAskAnswer(text: string): GivenAnswer {
  return JSON.parse(text);
}

/** Reads how a question was closed: an answer of a wait, or `canceled` or `ended` in its place. */
export function readClosing(closing: string): AskClosing {
  const [at = '', word = ''] = closing.split(' ', 2);
  if (word === 'ask') {
    const { choice, by, text } = readAskAnswer(closing.slice(at.length + word.length + 2));
    return { how: 'answered', at: Number(at), choice, by, text };
  }
  const how = word === 'time' || word === 'canceled' ? WORDS[word] : WORDS.ended;
  return { how, at: Number(at) };
}
