import type { EnqueueReply } from '../../domain/backend.ts';
import type { NewTask } from '../../domain/task.ts';
import { flat, text } from './decode.ts';

/** The replies of `enqueue`: 'c' for a task that was created, else the reply as JSON. */
export function decodeReplies(tasks: readonly NewTask[], reply: unknown): readonly EnqueueReply[] {
  return flat(reply).map((word, at) => {
    if (word === 'c') return { kind: 'created', id: tasks[at]?.id ?? '' };
    return withPath(JSON.parse(text(word)) as EnqueueReply);
  });
}

/** A script's JSON writes an empty list as an object. */
function withPath(reply: EnqueueReply): EnqueueReply {
  if (reply.kind !== 'refused' || reply.refusal.type !== 'cycle') return reply;
  if (Array.isArray(reply.refusal.path)) return reply;
  return { kind: 'refused', refusal: { type: 'cycle', path: [] } };
}
