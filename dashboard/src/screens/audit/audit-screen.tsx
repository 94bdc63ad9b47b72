/** Who changed what. */
import type { VNode } from 'preact';
import type { Export } from '../../api/exports.ts';
import type { AuditEntry } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import type { Column } from '../../parts/data-table.tsx';
import { ExportButton } from '../../parts/export.tsx';
import { ListPanel } from '../../parts/list-panel.tsx';
import { Empty } from '../../parts/shown.tsx';
import { StateLabel } from '../../parts/state-label.tsx';
import { usePages } from '../../state/pages.ts';
import { exactText } from '../../words/lengths.ts';

const COLUMNS: readonly Column<AuditEntry>[] = [
  { key: 'at', title: 'When', cell: ({ at }) => exactText(at) },
  { key: 'by', title: 'Who', cell: ({ by }) => <span class="cut">{by ?? '–'}</span> },
  { key: 'action', title: 'What', isName: true, cell: ({ action }) => action },
  {
    key: 'target',
    title: 'To what',
    cell: ({ target }) => <span class="mono cut">{target}</span>,
  },
  { key: 'result', title: 'Result', cell: (entry) => <Outcome entry={entry} /> },
];

const EXPORT: Export = { list: 'audit', what: 'changes', query: {}, command: undefined };

/** The newest first. */
export function AuditScreen(): VNode {
  const pages = usePages(source('GET /audit'));
  return (
    <ListPanel
      title="Changes"
      meta="made by the HTTP API, the newest first"
      tools={<ExportButton of={EXPORT} />}
      kind="audit"
      pages={pages}
      columns={COLUMNS}
      keyOf={({ requestId }) => requestId}
    >
      <Empty title="No changes yet">
        <p>Every change that is made on this page, or by the HTTP API, is written down here.</p>
      </Empty>
    </ListPanel>
  );
}

function Outcome({ entry: { status, outcome } }: { readonly entry: AuditEntry }): VNode {
  return <StateLabel state={status < 400 ? 'done' : 'refused'}>{outcome}</StateLabel>;
}
