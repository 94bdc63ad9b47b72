/** Streams as tests see them: items in short words. */
import type { Fairloom } from '../../src/client/client.ts';
import type { StreamItem, StreamReadOptions } from '../../src/client/facades/stream-reading.ts';

/** `0 a`, `reset 1 #2`, `gap 0-9`; of a node with its name. */
export function shownItem(item: StreamItem): string {
  const { type, offset, next } = item;
  if (type === 'gap') return `gap ${offset}-${next}`;
  const node = item.node === undefined ? '' : ` ${item.node}`;
  if (type === 'reset') return `reset ${offset} #${item.attempt}${node}`;
  const value = typeof item.value === 'string' ? item.value : JSON.stringify(item.value);
  return `${offset} ${value}${node}`;
}

/** Reads a stream to its end. */
export async function readAll(
  loom: Fairloom,
  id: string,
  name = 'tokens',
  options: StreamReadOptions = {},
): Promise<readonly string[]> {
  const items: string[] = [];
  for await (const item of loom.streams.read(id, name, options)) items.push(shownItem(item));
  return items;
}

/** Reads what is there. */
export function readNow(loom: Fairloom, id: string, name = 'tokens'): Promise<readonly string[]> {
  return readAll(loom, id, name, { follow: false });
}
