/** A value as a tree that folds; texts are only ever texts. */

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Scroller } from './scroller.tsx';

/** Open at first; deeper ones on demand, so that a large value costs what is looked at. */
const OPEN_DEPTH = 2;
/** Of one list, until more are asked for. */
const FIRST = 100;

/** Any JSON. */
export function JsonTree({ value }: { readonly value: unknown }): VNode {
  return (
    <Scroller kind="json" label="Value">
      <Value value={value} depth={0} />
    </Scroller>
  );
}

function Value({ value, depth }: { readonly value: unknown; readonly depth: number }): VNode {
  if (Array.isArray(value)) {
    const entries = value.map((one: unknown, at): Entry => [String(at), one]);
    return <Branch entries={entries} depth={depth} isList={true} />;
  }
  if (typeof value === 'object' && value !== null) {
    return <Branch entries={Object.entries(value)} depth={depth} isList={false} />;
  }
  const kind = typeof value === 'string' ? 's' : typeof value === 'number' ? 'n' : 'b';
  return <span class={`j-${kind}`}>{JSON.stringify(value) ?? 'undefined'}</span>;
}

type Entry = readonly [key: string, value: unknown];

interface BranchProps {
  readonly entries: readonly Entry[];
  readonly depth: number;
  readonly isList: boolean;
}

function Branch({ entries, depth, isList }: BranchProps): VNode {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH);
  const [most, setMost] = useState(FIRST);
  const [begin, end] = isList ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) return <span class="j-b">{`${begin}${end}`}</span>;
  const left = entries.length - most;
  return (
    <>
      <button type="button" class="j-fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {begin}
        {isOpen ? null : <span class="j-c">{entries.length}</span>}
        {isOpen ? null : end}
      </button>
      {isOpen ? (
        <ul>
          {entries.slice(0, most).map(([key, value]) => (
            <li key={key}>
              {isList ? null : <span class="j-k">{key}: </span>}
              <Value value={value} depth={depth + 1} />
            </li>
          ))}
          {left > 0 ? (
            <li>
              <button type="button" class="j-fold" onClick={() => setMost(most + FIRST * 10)}>
                {left} more
              </button>
            </li>
          ) : null}
        </ul>
      ) : null}
      {isOpen ? end : null}
    </>
  );
}
