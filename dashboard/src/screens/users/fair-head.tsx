/** The answer before the figures: is it fair. */
import type { VNode } from 'preact';
import type { QueueStatus, UserRow } from '../../api/shapes.ts';
import { Figures } from '../../parts/panel.tsx';
import { countOf, countText, signedText } from '../../words/numbers.ts';

interface FairHeadProps {
  readonly queue: QueueStatus;
  readonly rows: readonly UserRow[];
  /** Shares are over so many users. */
  readonly sharesOf: number;
}

/** Said of those alone of whom it is true. */
export function FairHead({ queue, rows, sharesOf }: FairHeadProps): VNode {
  const inLine = rows.filter(({ ready }) => ready);
  const within = inLine.filter(({ ahead }) => Math.abs(ahead) <= 1);
  const far = inLine.reduce<UserRow | undefined>(
    (most, row) => (most === undefined || Math.abs(row.ahead) > Math.abs(most.ahead) ? row : most),
    undefined,
  );
  const isByTime = queue.settings.charge === 'time';
  const weights = inLine.reduce((sum, { settings }) => sum + settings.weight, 0);
  return (
    <div class="fair-head">
      <div>
        <p class="say">
          <Sentence
            inLine={Math.max(queue.readyUsers, inLine.length)}
            shown={inLine.length}
            within={isByTime ? undefined : within.length}
          />
        </p>
        <p class="ink2">
          {far === undefined ? null : (
            <>
              Furthest from its share is <b>{far.user}</b>, {signedText(far.ahead)}{' '}
              {isByTime ? 'seconds' : 'turns'}.{' '}
            </>
          )}
          {sharesOf < rows.length
            ? `Shares are over the first ${countText(sharesOf)} users.`
            : null}
        </p>
      </div>
      <Figures
        figures={[
          { name: 'Weights in line', value: countText(weights) },
          {
            name: 'Running',
            value: countText(queue.counts.started),
            of: queue.settings.maxRunning === undefined ? '' : `of ${queue.settings.maxRunning}`,
          },
          { name: 'In line', value: countText(queue.counts.queued) },
          {
            name: 'A turn costs',
            value: isByTime ? 'its time' : 'its task',
          },
        ]}
      />
    </div>
  );
}

interface SentenceProps {
  /** Users in line. */
  readonly inLine: number;
  /** Of them, those that were read. */
  readonly shown: number;
  /** Of these; absent where turns are as long as their tasks, for which there is no bound. */
  readonly within: number | undefined;
}

function Sentence({ inLine, shown, within }: SentenceProps): VNode {
  if (inLine === 0) return <>No user is in line.</>;
  if (inLine === 1) return <>One user is in line, and takes every turn.</>;
  const users = countOf(inLine, 'user');
  if (within === undefined || shown === 0) return <>{users} are in line.</>;
  const isAll = within === shown;
  return (
    <>
      {users} are in line{shown < inLine ? `; of the first ${countText(shown)}` : ''},{' '}
      <em>
        {isAll ? 'each' : countText(within)} within one turn of {isAll ? 'its' : 'their'} share
      </em>
      .
    </>
  );
}
