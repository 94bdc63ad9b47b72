/** The nodes of a run, one to a row. */
import type { VNode } from 'preact';
import { shownNode } from '../../../../src/domain/task/node-name.ts';
import type { RunDetails, RunNodeInfo } from '../../api/shapes.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { ErrorLine } from '../../parts/links.tsx';
import { StateLabel } from '../../parts/state-label.tsx';
import { linkTo } from '../../state/address.ts';

const COLUMNS: readonly Column<RunNodeInfo>[] = [
  { key: 'state', title: 'State', cell: ({ state }) => <StateLabel state={state} /> },
  {
    key: 'task',
    title: 'Node',
    isName: true,
    cell: ({ node, taskId, member }) =>
      taskId === undefined ? (
        <span class="cut">{member ?? shownNode(node)}</span>
      ) : (
        <a class="name" href={linkTo('tasks', taskId)}>
          <span class="cut">{member ?? shownNode(node)}</span>
        </a>
      ),
  },
  { key: 'err', title: 'Error', cell: ({ error }) => <ErrorLine error={error} /> },
];

/** In the order of the graph. */
export function NodeTable({ run }: { readonly run: RunDetails }): VNode {
  return (
    <DataTable
      label="Nodes"
      kind="nodes"
      rows={run.nodes}
      columns={COLUMNS}
      keyOf={({ node }) => node}
    />
  );
}
