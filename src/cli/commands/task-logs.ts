import type { Command } from 'commander';
import type { TaskLogLine } from '../../client/facades/task-logs.ts';
import { shownNode } from '../../domain/task/node-name.ts';
import { integerArgument } from '../terminal/arguments.ts';
import { jsonLine, type Output } from '../terminal/output.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import type { Style } from '../terminal/style.ts';
import type { JsonShapes } from '../views/json-shapes.ts';

interface LogsOptions {
  readonly from: number;
  readonly follow?: boolean;
}

/** `fairloom tasks logs` */
export function addLogs(tasks: Command, shell: Shell): void {
  tasks
    .command('logs <id>')
    .description('the lines that its handlers have logged, as far as they are kept')
    .option('--from <offset>', 'the first that is wanted', integerArgument(0), 0)
    .option('--follow', 'wait for what is still to come, until the task has ended')
    .action((id: string, { from, follow = false }: LogsOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const lines = loom.tasks.logs(id, { from, follow });
        await output.each(lines, (line) => showLine(line, output));
        return undefined;
      }),
    );
}

function showLine(line: TaskLogLine, output: Output): void {
  const json = line satisfies JsonShapes['tasks logs'][number];
  output.one({ json, id: String(line.next - 1), text: [lineText(line, output.style)] });
}

const COLORS = { info: 'dim', warn: 'yellow', error: 'red' } as const;

function lineText(line: TaskLogLine, style: Style): string {
  const { at, level, message, fields, attempt, node } = line;
  const whose = [
    ...(node === undefined ? [] : [shownNode(node)]),
    ...(attempt > 1 ? [`#${attempt}`] : []),
  ];
  return [
    style.dim(new Date(at).toISOString()),
    style[COLORS[level]](level.padEnd(5)),
    ...(whose.length === 0 ? [] : [style.dim(`[${whose.join(' ')}]`)]),
    message,
    ...(fields === undefined ? [] : [style.dim(jsonLine(fields))]),
  ].join(' ');
}
