/** One change for many tasks: each stands on its own, and the answer says what became of each. */
import { inChunks } from '../../base/chunks.ts';
import type { Change } from '../../operations/change-answers.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../terminal/exit-code.ts';
import type { Output, View } from '../terminal/output.ts';
import { cellText } from '../terminal/text-table.ts';

/** Changes that are under way at once: the round trips overlap, and memory stays bounded. */
const AT_ONCE = 16;

/** Shown for each task that was changed, in the order asked. */
export const CHANGE_VIEW: View<Change> = {
  columns: (style) => [
    { title: 'ID', cell: ({ id }) => cellText(id) },
    { title: 'OUTCOME', cell: (one) => (one.ok ? one.outcome : style.red(cellText(one.outcome))) },
  ],
  json: (change) => change,
  id: ({ id }) => id,
  none: 'nothing to do',
};

/**
 * Applies a change to each id. The exit code is that of the first that failed; connection
 * failures end it at once, by throwing.
 */
export async function changeEach(
  verb: string,
  ids: readonly string[],
  output: Output,
  change: (id: string) => Promise<string>,
): Promise<ExitCode> {
  const changes: Change[] = [];
  let code: ExitCode = EXIT.ok;
  for (const some of inChunks(ids, AT_ONCE)) {
    const settled = await Promise.allSettled(some.map((id) => change(id)));
    for (const [place, result] of settled.entries()) {
      const id = some[place] ?? '';
      if (result.status === 'fulfilled') {
        changes.push({ id, ok: true, outcome: result.value });
        continue;
      }
      const failed = exitCodeOf(result.reason);
      if (failed === EXIT.unreachable) throw result.reason;
      if (code === EXIT.ok) code = failed;
      const outcome =
        result.reason instanceof Error ? result.reason.message : String(result.reason);
      output.note(`${verb}: ${outcome}`);
      changes.push({ id, ok: false, outcome });
    }
  }
  output.rows(output.form === 'id' ? changes.filter(({ ok }) => ok) : changes, CHANGE_VIEW);
  return code;
}

/** Says that nothing was changed: JSON needs its document, people were told by the question. */
export function changeNone(output: Output): undefined {
  if (output.form === 'json') output.rows([], CHANGE_VIEW);
  return undefined;
}
