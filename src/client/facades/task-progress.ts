/** How far a task has come, as its handlers say. */
import type { ValueCodec } from '../../codec/codec.ts';
import { isSealed } from '../../domain/task/sealed-text.ts';
import { chunksOf, type StreamEntry } from '../../domain/task/stream.ts';
import { type Progress, readProgress } from '../../domain/task/task-progress.ts';

/** What a handler said last by `ctx.progress`. */
export interface TaskProgress extends Progress {
  /** The attempt that said it, from 1. */
  readonly attempt: number;
}

/** What is shown of a task; absent until its handler reports, and of values that cannot be read here. */
export interface ShownProgress {
  /** Of its own handler. */
  readonly progress?: TaskProgress;
  /** Of the nodes of a driven run, by name. */
  readonly nodeProgress?: Readonly<Record<string, TaskProgress>>;
}

/** The newest of each node; that of another attempt stands until the next one says something. */
export function progressIn(entries: readonly StreamEntry[], codec: ValueCodec): ShownProgress {
  const newest = new Map<string, TaskProgress>();
  for (const { kind, node, attempt, text } of entries) {
    if (kind !== 'chunks') continue;
    const chunk = isSealed(text) ? undefined : chunksOf(text)?.at(-1);
    const progress = chunk === undefined ? undefined : readProgress(codec.read(chunk));
    if (progress !== undefined) newest.set(node, { ...progress, attempt });
  }
  const own = newest.get('');
  newest.delete('');
  return {
    ...(own === undefined ? {} : { progress: own }),
    ...(newest.size === 0 ? {} : { nodeProgress: Object.fromEntries(newest) }),
  };
}
