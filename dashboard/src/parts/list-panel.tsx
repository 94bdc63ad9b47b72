/** A list that comes page by page, in its frame: rows, what to say where there are none, and more of it. */
import type { ComponentChildren, VNode } from 'preact';
import type { Page, Pages } from '../state/pages.ts';
import { type Column, DataTable } from './data-table.tsx';
import { ListFoot } from './list-foot.tsx';
import { Panel } from './panel.tsx';
import { Shown } from './shown.tsx';

interface ListPanelProps<T> {
  /** Also what the table is called. */
  readonly title: string;
  readonly meta?: ComponentChildren;
  readonly tools?: ComponentChildren;
  /** Chooses widths and cards of the style sheet. */
  readonly kind: string;
  readonly pages: Pages<Page<T>>;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  /** In place of a table without rows. */
  readonly children: ComponentChildren;
}

/** All pages that were read. */
export function ListPanel<T>(props: ListPanelProps<T>): VNode {
  const { title, meta, tools, kind, pages, columns, keyOf, children } = props;
  return (
    <Panel title={title} meta={meta} tools={tools}>
      <Shown reading={pages.first} what={title.toLowerCase()}>
        {() =>
          pages.items.length === 0 ? (
            children
          ) : (
            <DataTable
              label={title}
              kind={kind}
              rows={pages.items}
              columns={columns}
              keyOf={keyOf}
            />
          )
        }
      </Shown>
      <ListFoot pages={pages} />
    </Panel>
  );
}
