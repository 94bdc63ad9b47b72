/** Tasks that match a filter, in a frame. */
import type { ComponentChildren, VNode } from 'preact';
import { Panel } from '../../parts/panel.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { usePages } from '../../state/pages.ts';
import { TaskTable } from './task-table.tsx';
import { tasksWhere } from './tasks-where.ts';

interface TaskListPanelProps {
  readonly title: string;
  readonly where: string;
  readonly tools?: ComponentChildren;
}

/** The first of them. */
export function TaskListPanel({ title, where, tools }: TaskListPanelProps): VNode {
  const { first, items } = usePages(tasksWhere(where));
  return (
    <Panel title={title} tools={tools}>
      <Shown reading={first} what="tasks">
        {() =>
          items.length === 0 ? <Empty title="None" /> : <TaskTable tasks={items} label={title} />
        }
      </Shown>
    </Panel>
  );
}
