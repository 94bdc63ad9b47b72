/** What becomes of an answer that comes to nothing. */
import type { AskClosing } from '../task/ask.ts';
import { FairloomError } from './fairloom-error.ts';

/** There is no question of this id: none was asked, or the record of its task is not kept any more. */
export class AskNotFoundError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'AskNotFoundError';
  /** See `docs/errors.md`. */
  readonly code = 'ASK_NOT_FOUND';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The question. */
  readonly askId: string;

  constructor(askId: string) {
    super(`there is no question ${askId}`);
    this.askId = askId;
  }
}

/** The question was closed before this answer came, which has changed nothing. */
export class AskClosedError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'AskClosedError';
  /** See `docs/errors.md`. */
  readonly code = 'ASK_CLOSED';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The question. */
  readonly askId: string;
  /** How it was closed; `canceled` and `ended`: its task was, or did. */
  readonly how: 'answered' | 'timed-out' | 'canceled' | 'ended';
  /** When, in ms since the epoch. */
  readonly at: number;
  /** `answered`: who did. */
  readonly by: string | undefined;
  /** `answered`: what was chosen. */
  readonly choice: string | undefined;

  constructor(askId: string, closing: AskClosing) {
    super(`question ${askId} is closed: ${closingText(closing)}`);
    this.askId = askId;
    this.how = closing.how;
    this.at = closing.at;
    this.by = closing.how === 'answered' ? closing.by : undefined;
    this.choice = closing.how === 'answered' ? closing.choice : undefined;
  }
}

function closingText(closing: AskClosing): string {
  switch (closing.how) {
    case 'answered':
      return `${closing.by} has answered ${closing.choice}`;
    case 'timed-out':
      return 'no answer came in time';
    case 'canceled':
      return 'its task was canceled';
    case 'ended':
      return 'its task does not wait for it any more';
  }
}
