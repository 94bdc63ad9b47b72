/** Find one, act on many. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { TaskInfo } from '../../api/shapes.ts';
import { Tabs } from '../../parts/button.tsx';
import { ListFoot, StandsStill } from '../../parts/list-foot.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { address, linkTo } from '../../state/address.ts';
import { type Pages, usePages } from '../../state/pages.ts';
import { countText } from '../../words/numbers.ts';
import { wordsOf } from '../../words/where.ts';
import { BulkBar } from './bulk-bar.tsx';
import { FilterBox } from './filter-box.tsx';
import { TaskTable } from './task-table.tsx';
import { tasksWhere } from './tasks-where.ts';

const VIEWS: readonly (readonly [title: string, where: string])[] = [
  ['Failed', 'state:failed'],
  ['Running', 'state:started'],
  ['In line', 'state:queued'],
  ['Scheduled', 'state:scheduled'],
  ['Deferred', 'state:deferred'],
  ['Finished', 'state:finished'],
  ['Canceled', 'state:canceled'],
];

/** What the address says is found. */
export function TasksScreen(): VNode {
  const where = address.value.query.get('where') ?? 'state:failed';
  const pages = usePages(tasksWhere(where));
  const problem = pages.first.problem;
  const isWrong = problem !== undefined && problem.status >= 400 && problem.status < 500;
  return (
    <div class="stack">
      <Tabs
        label="Views"
        chosen={where}
        choices={VIEWS.map(([text, view]) => ({
          key: view,
          text,
          href: linkTo('tasks', undefined, { where: view }),
        }))}
      />
      <section class="panel">
        <FilterBox key={where} where={where} wrong={isWrong ? problem.message : undefined} />
        {isWrong ? null : (
          <Shown reading={pages.first} what="tasks">
            {() => <Found pages={pages} where={where} />}
          </Shown>
        )}
      </section>
    </div>
  );
}

interface FoundProps {
  readonly pages: Pages<SomeTasks>;
  readonly where: string;
}

interface SomeTasks {
  readonly items: readonly TaskInfo[];
  readonly cursor?: string;
  /** Only the newest so many were looked at. */
  readonly bound?: number;
}

function Found({ pages, where }: FoundProps): VNode {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const { items, more, first } = pages;
  if (items.length === 0) return <NothingMatches where={where} bound={first.value?.bound} />;
  const toggle = (id: string): void => {
    const next = new Set(ids);
    if (!next.delete(id)) next.add(id);
    setIds(next);
  };
  const isStanding = pages.stoodAt !== undefined;
  return (
    <>
      <div class="under">
        <b>
          {countText(items.length)}
          {more === undefined ? '' : '+'} match
        </b>
        <span class="dim">{boundText(first.value?.bound)}</span>
        <StandsStill pages={pages} />
      </div>
      <BulkBar where={where} ids={ids} clear={() => setIds(new Set())} />
      <TaskTable
        tasks={items}
        label="Tasks that match"
        picks={{ ids, toggle }}
        more={isStanding ? more : undefined}
      />
      <ListFoot pages={pages} />
    </>
  );
}

function boundText(bound: number | undefined): string {
  return bound === undefined ? '' : `of the ${countText(bound)} that were looked at`;
}

interface NothingMatchesProps {
  readonly where: string;
  readonly bound: number | undefined;
}

/** Names the word to drop. */
function NothingMatches({ where, bound }: NothingMatchesProps): VNode {
  const words = wordsOf(where);
  return (
    <Empty title="Nothing matches">
      <p>
        {bound === undefined ? 'No task is like that.' : `None ${boundText(bound)} is like that.`}
      </p>
      {words.length > 1 ? (
        <ul class="line wrap" aria-label="Without one word">
          {words.map((word) => (
            <li key={word}>
              <a
                class="btn small"
                href={linkTo('tasks', undefined, {
                  where: words.filter((one) => one !== word).join(' '),
                })}
              >
                without {word}
              </a>
            </li>
          ))}
        </ul>
      ) : null}
    </Empty>
  );
}
