/** What a task tells while it runs, by stream. */

import type { VNode } from 'preact';
import { source } from '../../api/sources.ts';
import { Panel } from '../../parts/panel.tsx';
import { Scroller } from '../../parts/scroller.tsx';
import { StateLabel } from '../../parts/state-label.tsx';
import { address, linkHere } from '../../state/address.ts';
import { useReading } from '../../state/readings.ts';
import { countText } from '../../words/numbers.ts';

/** Nothing where it has written none. */
export function StreamsPanel({ id }: { readonly id: string }): VNode | null {
  const { value } = useReading(source('GET /tasks/{id}/streams', [id]));
  const open = address.value.query.get('stream');
  if (value === undefined || value.items.length === 0) return null;
  return (
    <Panel title="Streams">
      <ul class="streams">
        {value.items.map(({ name, next, bytes, closed }) => (
          <li key={name}>
            <a
              href={linkHere({ stream: open === name ? undefined : name })}
              aria-expanded={open === name}
            >
              {name}
            </a>
            <StateLabel state={closed ? 'finished' : 'started'}>
              {closed ? 'closed' : 'open'}
            </StateLabel>
            <span class="dim">
              {countText(next)} written, {countText(bytes)} bytes kept
            </span>
          </li>
        ))}
      </ul>
      {open === undefined ? null : <Chunks id={id} name={open} />}
    </Panel>
  );
}

function Chunks({ id, name }: { readonly id: string; readonly name: string }): VNode | null {
  const { value } = useReading(source('GET /tasks/{id}/streams/{name}', [id, name]));
  if (value === undefined) return null;
  return (
    <Scroller kind="chunks mono" label={`Chunks of ${name}`}>
      <ol>
        {value.items.map((row) => (
          <li key={row.offset} class={row.type === 'chunk' ? '' : 'dim'}>
            {row.type === 'chunk' ? JSON.stringify(row.value) : row.type}
          </li>
        ))}
      </ol>
    </Scroller>
  );
}
