import type { StreamItem } from '../../client/facades/stream-reading.ts';
import { shownNode } from '../../domain/task/node-name.ts';
import type { StreamFacts } from '../../domain/task/stream.ts';
import { shows } from '../terminal/operation-command.ts';
import { jsonLine, type Output, type View } from '../terminal/output.ts';
import { cellText } from '../terminal/text-table.ts';
import type { JsonShapes } from '../views/json-shapes.ts';
import { rows, type ShownBy } from '../views/shown.ts';

interface ReadInput {
  readonly id: string;
  readonly name: string;
  readonly from?: number;
}

/** `fairloom streams …` */
export const STREAMS: ShownBy = {
  ...rows('streams.list', () => FACTS_VIEW),
  'streams.read': shows<ReadInput, Following>(
    async ({ loom, output, input, own }) => {
      const { id, name, from = 0 } = input;
      const { follow = false } = own;
      const items = loom.streams.read(id, name, { from, follow });
      await output.each(items, (item) => showItem(item, output));
      return undefined;
    },
    {
      flags: (command) =>
        command.option('--follow', 'wait for what comes, until the stream or its task has ended'),
    },
  ),
};

/** Whether a command waits for what comes. */
export interface Following {
  readonly follow?: boolean;
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
