/** Questions to people; part of the port in `backend.ts`. */
import type { AskFilter, AskRecord, AskReply, GivenAnswer } from '../task/ask.ts';
import type { Page, PageRequest } from './inspection.ts';

/**
 * Questions of suspended tasks; see `Suspension.wait`. A question is open while its task waits for it, and is
 * closed in the step that ends the wait. Questions are removed with the record of the task.
 */
export interface AskStore {
  /** Answers an open question: the answer is in the task's journal, and the task continues. */
  answer(id: string, answer: GivenAnswer): Promise<AskReply>;
  /** An open or closed question. */
  get(id: string): Promise<AskRecord | undefined>;
  /** Open questions, the oldest first. */
  list(filter: AskFilter, page: PageRequest): Promise<Page<AskRecord>>;
}
