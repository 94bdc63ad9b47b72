import type { Command } from 'commander';
import { epochMs } from '../../base/globals.ts';
import type { BackendFacts } from '../../client/health.ts';
import { TASK_STATES } from '../../domain/task/task.ts';
import type { WaitFigure } from '../../domain/task/wait.ts';
import { EXIT } from '../terminal/exit-code.ts';
import { fieldLines, type View } from '../terminal/output.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import type { Style } from '../terminal/style.ts';
import { textTable } from '../terminal/text-table.ts';
import type { JsonShapes } from '../views/json-shapes.ts';
import { rows, type ShownBy } from '../views/shown.ts';
import { queueView, workerView } from '../views/views.ts';

/** `fairloom workers list` */
export const WORKERS: ShownBy = rows('workers.list', workerView);

/** `status`, `health`: the whole at a glance. */
export function addOverview(program: Command, shell: Shell): void {
  addStatus(program, shell);
  addHealth(program, shell);
}

function addStatus(program: Command, shell: Shell): void {
  program
    .command('status')
    .description('counts, totals, queues and workers')
    .action((_options: unknown, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const [stats, waiting, queues, workers] = await Promise.all([
          loom.stats(),
          loom.tasks.waiting(),
          loom.queues.list(),
          loom.workers.list(),
        ]);
        const { style } = output;
        const numbers = (of: Readonly<Record<string, number>>): Readonly<Record<string, string>> =>
          Object.fromEntries(Object.entries(of).map(([name, value]) => [name, String(value)]));
        const states = Object.fromEntries(TASK_STATES.map((state) => [state, stats.counts[state]]));
        output.one({
          json: { ...stats, waiting, queues, workers } satisfies JsonShapes['status'],
          id: queues.map(({ queue }) => queue),
          text: [
            style.bold('TASKS'),
            ...fieldLines(numbers(states), style),
            '',
            style.bold('WAITING FOR'),
            ...fieldLines(numbers(waitingFor(waiting)), style),
            '',
            style.bold('EVER'),
            ...fieldLines(numbers(stats.totals), style),
            '',
            ...tableOf(queues, queueView, style),
            '',
            ...tableOf(workers, workerView(epochMs()), style),
          ],
        });
        return undefined;
      }),
    );
}

function waitingFor(figures: readonly WaitFigure[]): Readonly<Record<string, number>> {
  return Object.fromEntries(figures.map(({ kind, count }) => [kind, count]));
}

function addHealth(program: Command, shell: Shell): void {
  program
    .command('health')
    .description('whether the backend answers; exit code 4 when it does not')
    .action((_options: unknown, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const health = await loom.health();
        const { isHealthy, pingMs, error, backend, problems = [] } = health;
        const ping = pingMs === undefined ? '' : ` (${pingMs.toFixed(1)} ms)`;
        const { style } = output;
        output.one({
          json: health satisfies JsonShapes['health'],
          id: isHealthy ? 'healthy' : 'unhealthy',
          text: [
            isHealthy ? `healthy${ping}` : `unhealthy: ${error ?? 'a worker is stuck'}`,
            ...fieldLines({ backend: backendText(backend) }, style),
            ...problems.map((problem) => style.yellow(`problem: ${problem}`)),
          ],
        });
        if (isHealthy) return EXIT.ok;
        return pingMs === undefined ? EXIT.unreachable : EXIT.unhealthy;
      }),
    );
}

function backendText({ name, durable, shared, sync }: BackendFacts): string {
  const kept = durable
    ? 'tasks outlive the process'
    : `tasks end with the ${name === 'redis' ? 'server' : 'process'}`;
  const seen = shared ? 'other processes see them' : 'no other process sees them';
  if (sync === undefined) return `${name}: ${kept}, ${seen}`;
  const when = sync === 'always' ? 'before each answer' : `every ${sync.everyMs} ms`;
  return `${name}: ${kept}, ${seen}, synced ${when}`;
}

function tableOf<Row>(rows: readonly Row[], view: View<Row>, style: Style): readonly string[] {
  if (rows.length === 0) return [view.none];
  const [heading = '', ...lines] = textTable(rows, view.columns(style));
  return [style.bold(heading), ...lines];
}
