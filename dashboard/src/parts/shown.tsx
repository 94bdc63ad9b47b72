/** A part of a screen that shows a reading: shapes while it loads, what went wrong, or the thing itself. */
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Problem } from '../api/http.ts';
import { type Reading, readNow } from '../state/readings.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

/** What loads faster shows nothing in between. */
const PATIENCE_MS = 200;

interface ShownProps<T> {
  readonly reading: Reading<T>;
  /** What is read, as `this task`. */
  readonly what: string;
  readonly children: (value: T) => ComponentChildren;
}

/** The last that was read stays, also when the next reading fails: the head of the page says so. */
export function Shown<T>({ reading, what, children }: ShownProps<T>): VNode {
  const { value, problem } = reading;
  if (value !== undefined && (problem === undefined || problem.isAway))
    return <>{children(value)}</>;
  if (problem === undefined || problem.isAway) return <Loading what={what} />;
  return <Failed what={what} problem={problem} />;
}

/** Shapes of what will be there. */
function Loading({ what }: { readonly what: string }): VNode {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="panel skeleton" role="status" aria-label={`${what} is loading`}>
      {isLate ? [1, 2, 3, 4].map((at) => <span key={at} class={`skel w-${at}`} />) : null}
    </div>
  );
}

/** This part alone failed; the others of the screen stay. */
function Failed({ what, problem }: { readonly what: string; readonly problem: Problem }): VNode {
  const isRefused = problem.status === 401 || problem.status === 403;
  return (
    <section class="panel void" role="alert">
      <h2 class={`state t-${isRefused ? 'warn' : 'bad'}`}>
        <Icon name={isRefused ? 'lock' : 'warn'} />
        <span>{titleOf(what, problem)}</span>
      </h2>
      <p>{problem.message}</p>
      {problem.status === 404 ? null : (
        <Button icon="again" onPress={readNow}>
          Read again
        </Button>
      )}
    </section>
  );
}

function titleOf(what: string, { status }: Problem): string {
  if (status === 404) return 'Nothing is here';
  if (status === 401 || status === 403) return 'You may not look at this';
  return `Could not read ${what}`;
}

/** Nothing is there yet, or nothing matches: what would fill it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): VNode {
  return (
    <div class="void">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
