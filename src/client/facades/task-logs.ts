/** The log of a task: kept lines of `ctx.log`. */
import { LOG_STREAM, type LogLine, readLine } from '../../domain/task/task-log.ts';
import {
  readingOf,
  type StreamReaders,
  StreamReading,
  type StreamReadOptions,
} from './stream-reading.ts';

/** A line of the log of a task. */
export interface TaskLogLine extends LogLine {
  /** Number of the attempt that wrote it, from 1. */
  readonly attempt: number;
  /** The node of a driven run that wrote it; absent for the handler of the task itself. */
  readonly node?: string;
  /** Offset from which a reader continues after it. */
  readonly next: number;
}

/** Options of reading a log. */
export interface TaskLogOptions extends StreamReadOptions {
  /** Wait for new lines until the task has ended. Default false. */
  readonly follow?: boolean | undefined;
}

/** See `loom.tasks.logs`. */
export function taskLog(
  tools: StreamReaders,
  id: string,
  options: TaskLogOptions,
): AsyncGenerator<TaskLogLine, void, undefined> {
  const reading = readingOf('tasks.logs', options, { follow: false });
  return linesOf(new StreamReading(tools, { id, name: LOG_STREAM }, reading));
}

async function* linesOf(reading: StreamReading): AsyncGenerator<TaskLogLine, void, undefined> {
  for await (const item of reading.items()) {
    // Each line has its attempt, and removed lines are expected: only the newest are kept.
    if (item.type !== 'chunk') continue;
    const { value, attempt, node, next } = item;
    yield { ...readLine(value), attempt, ...(node === undefined ? {} : { node }), next };
  }
}
