/** Progress of tasks, as their handlers report it. */
import type { ValueCodec } from '../../codec/codec.ts';
import { isSealed } from '../../domain/task/sealed-text.ts';
import { chunksOf, type StreamEntry } from '../../domain/task/stream.ts';
import { type Progress, readProgress } from '../../domain/task/task-progress.ts';

/** The latest report of a handler by `ctx.progress`. */
export interface TaskProgress extends Progress {
  /** Number of the attempt that reported it, from 1. */
  readonly attempt: number;
}

/** Progress of a task; absent until its handler reports, and if it cannot be read here. */
export interface ShownProgress {
  /** Progress of its own handler. */
  readonly progress?: TaskProgress;
  /** Progress of the nodes of a driven run, by name. */
  readonly nodeProgress?: Readonly<Record<string, TaskProgress>>;
}

/** The latest report of each node; that of an earlier attempt stays until the next one. */
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
