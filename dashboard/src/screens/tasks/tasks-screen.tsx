/** Find one, act on many. */

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Export } from '../../api/exports.ts';
import type { TaskInfo } from '../../api/shapes.ts';
import { Tabs } from '../../parts/button.tsx';
import { ExportButton } from '../../parts/export.tsx';
import { ListFoot, StandsStill } from '../../parts/list-foot.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { address, linkTo } from '../../state/address.ts';
import { type Pages, usePages } from '../../state/pages.ts';
import { has, isLimited } from '../../state/session.ts';
import { countText } from '../../words/numbers.ts';
import { wordsOf } from '../../words/where.ts';
import { BulkBar, NONE_PICKED, type Picked } from './bulk-bar.tsx';
import { countWords, type KnownCounts, useKnownCounts } from './counts.ts';
import { FilterBox } from './filter-box.tsx';
import { SavedViews, SaveViewButton } from './saved-views.tsx';
import { type Picks, TaskTable } from './task-table.tsx';
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
  const known = useKnownCounts();
  // All that were read are more exact: what is known counts runs too.
  const isWhole = pages.more === undefined && pages.first.value !== undefined;
  const countOf: KnownCounts = (of) => (isWhole && of === where ? pages.items.length : known(of));
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
          count: countOf(view),
          href: linkTo('tasks', undefined, { where: view }),
        }))}
      />
      <SavedViews where={where} />
      <section class="panel">
        <FilterBox key={where} where={where} wrong={isWrong ? problem.message : undefined} />
        {isWrong ? null : (
          <Shown reading={pages.first} what="tasks">
            {() => <Found key={where} pages={pages} where={where} countOf={countOf} />}
          </Shown>
        )}
      </section>
    </div>
  );
}

interface FoundProps {
  readonly pages: Pages<SomeTasks>;
  readonly where: string;
  readonly countOf: KnownCounts;
}

interface SomeTasks {
  readonly items: readonly TaskInfo[];
  readonly cursor?: string;
  /** Only the newest so many were looked at. */
  readonly bound?: number;
}

function Found({ pages, where, countOf }: FoundProps): VNode {
  const [picked, pick] = useState(NONE_PICKED);
  const { items, more, first } = pages;
  if (items.length === 0) return <NothingMatches where={where} bound={first.value?.bound} />;
  const all = countWords(items.length, more === undefined, countOf(where));
  const isStanding = pages.stoodAt !== undefined;
  const canPick = has('bulk') && !isLimited.value;
  return (
    <>
      <div class="under">
        <b>
          {countText(items.length)}
          {more === undefined ? '' : '+'} match
        </b>
        <span class="dim">{boundText(first.value?.bound)}</span>
        <span class="push line wrap">
          <StandsStill pages={pages} />
          <SaveViewButton where={where} />
          {has('search') ? <ExportButton of={exportOf(where)} /> : null}
        </span>
      </div>
      {canPick ? <BulkBar where={where} all={all} picked={picked} pick={pick} /> : null}
      <TaskTable
        tasks={items}
        label="Tasks that match"
        picks={canPick ? picksOf(picked, pick) : undefined}
        more={isStanding ? more : undefined}
      />
      <ListFoot pages={pages} />
    </>
  );
}

function exportOf(where: string): Export {
  return {
    list: 'tasks',
    what: `tasks that match ${where}`,
    query: { where },
    command: ['tasks', 'list', '--where', where],
  };
}

function picksOf({ isAll, ids }: Picked, pick: (next: Picked) => void): Picks {
  return {
    has: (id) => ids.has(id) !== isAll,
    toggle: (id) => {
      const next = new Set(ids);
      if (!next.delete(id)) next.add(id);
      pick({ isAll, ids: next });
    },
  };
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
      <SaveViewButton where={where} />
    </Empty>
  );
}
