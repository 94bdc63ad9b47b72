/** Questions of tasks to people, answered here. */
import type { VNode } from 'preact';
import type { AskInfo } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { ListFoot } from '../../parts/list-foot.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { linkTo } from '../../state/address.ts';
import { now } from '../../state/clock.ts';
import { usePages } from '../../state/pages.ts';
import { agoText, lengthText } from '../../words/lengths.ts';
import { AnswerForm } from './answer-form.tsx';

/** The open ones, the oldest first. */
export function AsksScreen(): VNode {
  const pages = usePages(source('GET /asks'));
  return (
    <Shown reading={pages.first} what="the questions">
      {() =>
        pages.items.length === 0 ? (
          <section class="panel">
            <Empty title="No open questions">
              <p>A task that asks by ctx.ask waits here, without holding a slot.</p>
            </Empty>
          </section>
        ) : (
          <div class="stack asks">
            {pages.items.map((ask) => (
              <AskPanel key={ask.id} ask={ask} />
            ))}
            <ListFoot pages={pages} />
          </div>
        )
      }
    </Shown>
  );
}

/** One question. */
export function AskPanel({ ask }: { readonly ask: AskInfo }): VNode {
  const { id, title, task, taskId, user, askedAt, until, for: whom, state, encryptedWith } = ask;
  return (
    <section class="panel ask-panel" data-row={id}>
      <header>
        <h2>
          <a class="name" href={linkTo('asks', id)}>
            {title ??
              (encryptedWith === undefined ? 'A question' : `Encrypted with ${encryptedWith}`)}
          </a>
        </h2>
        <span class="meta">
          asked {agoText(askedAt, now.value)}
          {until === undefined || state !== 'open' ? '' : `, ${lengthText(until - now.value)} left`}
        </span>
        <span class="push meta">{whom.length === 0 ? 'for anyone' : `for ${whom.join(', ')}`}</span>
      </header>
      <div class="body stack">
        <p class="ink2">
          By <a href={linkTo('tasks', taskId)}>{task}</a> of{' '}
          <a href={linkTo('users', user)}>{user}</a>
        </p>
        {state === 'open' ? <AnswerForm ask={ask} /> : <Closed ask={ask} />}
      </div>
    </section>
  );
}

function Closed({ ask: { state, answer, closedAt } }: { readonly ask: AskInfo }): VNode {
  const at = closedAt === undefined ? '' : `, ${agoText(closedAt, now.value)}`;
  return (
    <p>
      {answer === undefined ? state : `${answer.choice}, by ${answer.by}`}
      {at}
      {answer?.comment === undefined ? '' : `: ${answer.comment}`}
    </p>
  );
}
