import type { Command } from 'commander';
import type { StreamItem } from '../../client/facades/stream-reading.ts';
import { shownNode } from '../../domain/task/node-name.ts';
import type { StreamFacts } from '../../domain/task/stream.ts';
import { integerArgument } from '../terminal/arguments.ts';
import { jsonLine, type Output, type View } from '../terminal/output.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import { cellText } from '../terminal/text-table.ts';
import type { JsonShapes } from '../views/json-shapes.ts';

interface ReadOptions {
  readonly from: number;
  readonly follow?: boolean;
}

/** `fairloom streams …` */
export function addStreams(program: Command, shell: Shell): void {
  const streams = program.command('streams').description('what tasks tell while they run');
  addRead(streams, shell);
  streams
    .command('list <id>')
    .description('the streams of a task or run')
    .action((id: string, _options: object, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const facts: JsonShapes['streams list'] = await loom.streams.list(id);
        output.rows(facts, FACTS_VIEW);
        return undefined;
      }),
    );
}

function addRead(streams: Command, shell: Shell): void {
  streams
    .command('read <id> <name>')
    .description('what a task has written to a stream, a line for each chunk')
    .option('--from <offset>', 'the first that is wanted', integerArgument(0), 0)
    .option('--follow', 'wait for what is still to come, until the stream or its task has ended')
    .action((id: string, name: string, { from, follow = false }: ReadOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const items = loom.streams.read(id, name, { from, follow });
        await output.each(items, (item) => showItem(item, output));
        return undefined;
      }),
    );
}

function showItem(item: StreamItem, output: Output): void {
  const { offset, type } = item;
  const json = item satisfies JsonShapes['streams read'][number];
  if (output.form !== 'table') output.one({ json, id: String(offset), text: [] });
  else if (type === 'gap') output.note(`${offset} to ${item.next - 1} are gone`);
  else if (type === 'reset') {
    const whose = item.node === undefined ? '' : ` of ${shownNode(item.node)}`;
    output.note(`attempt ${item.attempt}${whose} begins anew`);
  } else output.line(chunkText(item.value));
}

/** Texts as they are. */
function chunkText(value: unknown): string {
  return typeof value === 'string' ? value : jsonLine(value);
}

const FACTS_VIEW: View<StreamFacts> = {
  columns: () => [
    { title: 'STREAM', cell: ({ name }) => cellText(name) },
    { title: 'FROM', cell: ({ first }) => String(first) },
    { title: 'NEXT', cell: ({ next }) => String(next) },
    { title: 'BYTES', cell: ({ bytes }) => String(bytes) },
    { title: 'CLOSED', cell: ({ closed }) => (closed ? 'yes' : 'no') },
  ],
  json: (facts) => facts,
  id: ({ name }) => name,
  none: 'no streams',
};
