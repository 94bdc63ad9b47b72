/** The part of a backend that keeps questions to people. */
import type { AskFilter, AskRecord, AskReply, GivenAnswer } from '../task/ask.ts';
import type { Page, PageRequest } from './inspection.ts';

/**
 * Questions of suspended tasks; see `Suspension.wait`. One is open while its task waits for it, and is
 * closed in the step that ends the wait. They go with the record of the task.
 */
export interface AskStore {
  /** Answers an open question: the task goes on with what its journal then says. */
  answer(id: string, answer: GivenAnswer): Promise<AskReply>;
  /** One that is open or closed. */
  get(id: string): Promise<AskRecord | undefined>;
  /** Open ones, the oldest first. */
  list(filter: AskFilter, page: PageRequest): Promise<Page<AskRecord>>;
}
