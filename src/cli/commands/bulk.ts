import type { BulkInfo } from '../../bulk/bulk-facade.ts';
import { ACTION_STATES, type BulkAction } from '../../bulk/bulk-record.ts';
import { coreOf, type Fairloom } from '../../client/client.ts';
import type { TaskInfo } from '../../client/facades/task-info.ts';
import { TaskNotFoundError } from '../../domain/errors/errors.ts';
import { EXIT, type ExitCode } from '../terminal/exit-code.ts';
import { shownMoment } from '../terminal/moments.ts';
import { shows } from '../terminal/operation-command.ts';
import type { Output, View } from '../terminal/output.ts';
import { cellText } from '../terminal/text-table.ts';
import { confirm } from '../views/confirm.ts';
import type { JsonShapes } from '../views/json-shapes.ts';
import { foundTasks, take } from '../views/select-tasks.ts';
import { each, rows, type ShownBy } from '../views/shown.ts';
import { saying, sayObstacle } from '../views/wait.ts';

interface StartInput {
  readonly action: BulkAction;
  readonly where: string;
  readonly dryRun?: boolean;
}

interface StartOptions {
  readonly by?: string;
  readonly yes?: boolean;
  readonly wait?: boolean;
}

/** What takes something away, and so asks first. */
const ASKED: readonly BulkAction[] = ['cancel', 'remove'];

/** Tasks that are counted before a question. */
const COUNTED = 1_000;

/** `fairloom bulk …` */
export const BULK: ShownBy = {
  ...rows('bulk.list', bulkView),
  'bulk.cancel': each('cancel'),
  'bulk.start': shows<StartInput, StartOptions>(
    async ({ loom, output, input, own }) => {
      const { by, yes, wait = false } = own;
      if (yes !== true && input.dryRun !== true) await ask(loom, input.action, input.where, output);
      const info = await loom.bulk.start({ ...input, by });
      if (wait) return showEnd(await ended(loom, info.id, output), output);
      const text = [`${info.id} is stored; fairloom bulk get ${info.id} shows its progress`];
      output.one({ json: info satisfies JsonShapes['bulk start'], id: info.id, text });
      return undefined;
    },
    {
      flags: (command) =>
        command
          .option('--by <who>', 'who asks for it; stored with it')
          .option('--wait', 'until it has ended'),
    },
  ),
};

/** Asks, when it takes something away, with those that it would find now. */
async function ask(
  loom: Fairloom,
  action: BulkAction,
  where: string,
  output: Output,
): Promise<void> {
  if (!ASKED.includes(action)) return;
  let isAll = true;
  const found = foundTasks(loom, { where }, () => {
    isAll = false;
  });
  const { items, more } = await take(inStates(found, action), COUNTED);
  const ids = items.map(({ id }) => id);
  await confirm(action, ids, { more: more || !isAll }, output);
}

async function* inStates(
  tasks: AsyncIterable<TaskInfo>,
  action: BulkAction,
): AsyncGenerator<TaskInfo> {
  for await (const task of tasks) if (ACTION_STATES[action].includes(task.state)) yield task;
}

/** Waits for the end of one, and shows its progress. It goes on when this command ends. */
async function ended(loom: Fairloom, id: string, output: Output): Promise<BulkInfo> {
  output.note(`${id} is stored; it goes on when this command is ended`);
  const say = async (): Promise<void> => {
    const info = await loom.bulk.get(id).catch(() => undefined);
    if (info?.state === 'queued') return sayObstacle(loom, id, output);
    if (info !== undefined) output.note(`waiting: ${id}: ${countsText(info)}`);
  };
  const { signal } = new AbortController();
  await saying(say, () => coreOf(loom).results.waitForEnd(id, signal));
  const info = await loom.bulk.get(id);
  if (info === undefined) throw new TaskNotFoundError(id);
  return info;
}

function showEnd(info: BulkInfo, output: Output): ExitCode {
  const { id, state, failed, errors } = info;
  const lines = errors.map((one) => `  ${one.id}: ${one.error}`);
  const text = [`${id} has ended as ${state}: ${countsText(info)}`, ...lines];
  output.one({ json: info satisfies JsonShapes['bulk start'], id, text });
  return state === 'finished' && failed === 0 ? EXIT.ok : EXIT.failed;
}

function countsText({ matched = 0, done, skipped, failed }: BulkInfo): string {
  return `${matched} matched, ${done} done, ${skipped} skipped, ${failed} failed`;
}

/** With moments as seen from `now` (ms since the epoch). */
function bulkView(now: number): View<BulkInfo> {
  const count = (value: number | undefined): string => (value === undefined ? '' : String(value));
  return {
    columns: () => [
      { title: 'ID', cell: ({ id }) => cellText(id) },
      { title: 'ACTION', cell: ({ action, dryRun }) => (dryRun ? `${action} (dry)` : action) },
      { title: 'WHERE', cell: ({ where }) => cellText(where) },
      { title: 'STATE', cell: ({ state }) => state },
      { title: 'MATCHED', cell: ({ matched }) => count(matched), align: 'right' },
      { title: 'DONE', cell: ({ done }) => count(done), align: 'right' },
      { title: 'SKIPPED', cell: ({ skipped }) => count(skipped), align: 'right' },
      { title: 'FAILED', cell: ({ failed }) => count(failed), align: 'right' },
      { title: 'SINCE', cell: (info) => shownMoment(info.endedAt ?? info.createdAt, now) },
      { title: 'BY', cell: ({ by = '' }) => cellText(by) },
    ],
    json: (info) => info,
    id: ({ id }) => id,
    none: 'no bulk actions',
  };
}
