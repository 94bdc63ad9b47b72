import type { EnqueueReply } from '../../../domain/port/backend.ts';
import type { NewTask } from '../../../domain/task/task.ts';
import { flat, text } from './decode.ts';

const CREATED = 'created';

/**
 * The replies of `enqueue`: 'created' and how many when all were; else 'c' for a task that was created, 'w' for one that others waited for, else
 * the reply as JSON.
 */
export function decodeReplies(tasks: readonly NewTask[], reply: unknown): readonly EnqueueReply[] {
  const words = flat(reply);
  if (words[0] === CREATED && Number(words[1]) === tasks.length) {
    return tasks.map(({ id }) => ({ kind: 'created', id }));
  }
  return words.map((word, at) => {
    if (word === 'c' || word === 'w') return { kind: 'created', id: tasks[at]?.id ?? '' };
    return JSON.parse(text(word)) as EnqueueReply;
  });
}

/**
 * The items that are stored, and of which no script could tell whether they close a cycle: others
 * waited for them, or an earlier call that broke off has stored them.
 */
export function uncheckedIn(tasks: readonly NewTask[], reply: unknown): readonly string[] {
  const words = flat(reply);
  return tasks.flatMap(({ id }, at) => {
    const word = words[at];
    if (word === 'w') return [id];
    return word !== 'c' && kindOf(word) === 'created' ? [id] : [];
  });
}

function kindOf(word: unknown): EnqueueReply['kind'] {
  return (JSON.parse(text(word)) as EnqueueReply).kind;
}
