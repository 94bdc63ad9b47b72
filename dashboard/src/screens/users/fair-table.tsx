/** One row for a user: what it has in line, what share of the turns it gets, and what it may claim. */
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { UserRow } from '../../api/shapes.ts';
import { AheadGauge, AheadTrace, ShareBar, TRACE_READINGS } from '../../parts/bars.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { UserLink } from '../../parts/links.tsx';
import { countText } from '../../words/numbers.ts';
import { IN_LINE, LATER } from './count-columns.tsx';
import { isHeld, Remedy, WhyText } from './remedy.tsx';

interface FairTableProps {
  readonly rows: readonly UserRow[];
  readonly more: (() => void) | undefined;
}

/** Those in line first; a line between the groups. */
export function FairTable({ rows, more }: FairTableProps): VNode {
  const traces = useTraces(rows);
  const widest = Math.max(
    0.01,
    ...rows.flatMap(({ share = 0, fairShare = 0 }) => [share, fairShare]),
  );
  return (
    <DataTable
      label="Users, those in line first"
      kind="loom"
      rows={rows}
      more={more}
      keyOf={keyOf}
      rowKind={(row) => (row.ready ? 'is-in' : row.queued > 0 ? 'is-out' : 'is-idle')}
      columns={[...COUNTS, ...fairColumns(traces, widest)]}
    />
  );
}

const COUNTS: readonly Column<UserRow>[] = [
  {
    key: 'user',
    title: 'User',
    isName: true,
    cell: ({ user, queue }) => <UserLink user={user} queue={queue} names="alone" />,
  },
  {
    key: 'w',
    title: 'Weight',
    isNumber: true,
    label: 'weight',
    cell: ({ settings }) => settings.weight,
  },
  IN_LINE,
  {
    key: 'run',
    title: 'Running',
    isNumber: true,
    label: 'running',
    cell: ({ running, settings }) => (
      <>
        {countText(running)}
        <span class="of">
          /{settings.maxRunning === undefined ? '∞' : countText(settings.maxRunning)}
        </span>
      </>
    ),
  },
  LATER,
];

function fairColumns(
  traces: ReadonlyMap<string, readonly number[]>,
  widest: number,
): readonly Column<UserRow>[] {
  return [
    {
      key: 'thread',
      title: 'Ahead, lately',
      cell: (row) =>
        row.ready ? (
          <AheadTrace readings={traces.get(keyOf(row)) ?? []} />
        ) : (
          <HeldThread row={row} />
        ),
    },
    {
      key: 'share',
      title: 'Share, of its fair share',
      cell: ({ share, fairShare, ready }) =>
        ready && share !== undefined && fairShare !== undefined ? (
          <ShareBar share={share} fair={fairShare} widest={widest} />
        ) : null,
    },
    {
      key: 'ahead',
      title: (
        <span class="ticks">
          <span>−1</span>
          <span>0</span>
          <span>+1</span>
          <span class="sr">turns ahead of its share</span>
        </span>
      ),
      cell: ({ ready, ahead }) => (ready ? <AheadGauge ahead={ahead} /> : null),
    },
    { key: 'why', title: 'Why', cell: (row) => <Why row={row} /> },
  ];
}

/** What waits and takes no turns is hatched, everywhere. */
function HeldThread({ row }: { readonly row: UserRow }): VNode | null {
  return row.queued > 0 ? <span class="held-thread hatched" aria-hidden="true" /> : null;
}

function Why({ row }: { readonly row: UserRow }): VNode {
  return (
    <span class="line">
      <WhyText row={row} />
      {isHeld(row) ? <Remedy row={row} /> : null}
    </span>
  );
}

function keyOf({ queue, user }: UserRow): string {
  return `${queue} ${user}`;
}

/** How far ahead each was in the last readings; forgotten when the page is left. */
function useTraces(rows: readonly UserRow[]): ReadonlyMap<string, readonly number[]> {
  const kept = useRef({ rows, traces: new Map<string, readonly number[]>() });
  const { current } = kept;
  if (current.rows === rows && current.traces.size > 0) return current.traces;
  const traces = new Map(
    rows
      .filter(({ ready }) => ready)
      .map((row) => {
        const before = current.traces.get(keyOf(row)) ?? [];
        return [keyOf(row), [...before, row.ahead].slice(-TRACE_READINGS)];
      }),
  );
  kept.current = { rows, traces };
  return traces;
}
