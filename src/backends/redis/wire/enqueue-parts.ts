/** Splits calls into parts that fit one script. */
import { LIMITS } from '../../../domain/limits.ts';
import type { NewTask } from '../../../domain/task/task.ts';
import { bytesOf, isPlainTask, unitsOf } from './encode.ts';

/** Splits tasks so that each chunk fits one script. */
export function chunks(tasks: readonly NewTask[]): readonly NewTask[][] {
  const parts: NewTask[][] = [];
  let part: NewTask[] = [];
  let units = 0;
  let bytes = 0;
  for (const task of tasks) {
    const size = bytesOf(task);
    const fits = units + unitsOf(task) <= LIMITS.scriptUnits && bytes + size <= LIMITS.scriptBytes;
    if (!fits && part.length > 0) {
      parts.push(part);
      part = [];
      units = 0;
      bytes = 0;
    }
    part.push(task);
    units += unitsOf(task);
    bytes += size;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}

/** Whether a batch is plain and small enough to be stored all or none by one script. */
export function fitsOneScript(tasks: readonly NewTask[]): boolean {
  if (tasks.length > LIMITS.plainBatch) return false;
  let bytes = 0;
  for (const task of tasks) {
    if (!isPlainTask(task)) return false;
    bytes += bytesOf(task);
  }
  return bytes <= LIMITS.scriptBytes;
}
