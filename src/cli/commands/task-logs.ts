import type { TaskLogLine } from '../../client/facades/task-logs.ts';
import { shownNode } from '../../domain/task/node-name.ts';
import { type Shown, shows } from '../terminal/operation-command.ts';
import { jsonLine, type Output } from '../terminal/output.ts';
import type { Style } from '../terminal/style.ts';
import type { JsonShapes } from '../views/json-shapes.ts';
import type { Following } from './streams.ts';

interface Input {
  readonly id: string;
  readonly from?: number;
}

/** `fairloom tasks logs` */
export const LOGS: Shown = shows<Input, Following>(
  async ({ loom, output, input, own }) => {
    const { id, from = 0 } = input;
    const lines = loom.tasks.logs(id, { from, follow: own.follow ?? false });
    await output.each(lines, (line) => showLine(line, output));
    return undefined;
  },
  {
    flags: (command) => command.option('--follow', 'wait for what comes, until the task has ended'),
  },
);

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
