/** Notices for the whole page: the store is away, the page is read-only, access is refused. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type Problem, takeToken } from '../api/http.ts';
import { source } from '../api/sources.ts';
import { Button } from '../parts/button.tsx';
import { Icon, Twill } from '../parts/icon.tsx';
import { now } from '../state/clock.ts';
import { away, readNow, useReading } from '../state/readings.ts';
import { about, begin, isLimited, isReadOnly } from '../state/session.ts';
import { momentText } from '../words/lengths.ts';

/** The last readings stay, dimmed and dated; it is asked again all the time. */
export function AwayBar(): VNode | null {
  const problem = away.value;
  if (problem === undefined) return null;
  const retry = (): void => {
    if (about.value === undefined) void begin();
    else readNow();
  };
  return (
    <div class="bar-note t-bad" role="alert">
      <Icon name="lost" />
      <p>
        <b>The store is away: {problem.message}.</b> What you see was read at{' '}
        {momentText(now.value, now.value)}. It is asked again until it answers.
      </p>
      <Button small={true} icon="again" onPress={retry}>
        Ask now
      </Button>
    </div>
  );
}

/** It goes on, and something of it is wrong: as the overview says, or before that is read the server. */
export function ProblemsBar(): VNode | null {
  const canSeeAll = about.value !== undefined && !isLimited.value;
  const { value } = useReading(canSeeAll ? source('GET /overview') : undefined);
  const problems = (value ?? about.value)?.problems ?? [];
  if (problems.length === 0) return null;
  return (
    <section class="bar-note t-bad" role="alert" aria-label="What is wrong in the store">
      <Icon name="warn" />
      <div>
        {problems.map((problem) => (
          <p key={problem}>
            <b>The store:</b> {problem}
          </p>
        ))}
      </div>
    </section>
  );
}

/** Buttons stand there, so that their commands can be copied by those who may use them. */
export function ReadOnlyBar(): VNode | null {
  if (!isReadOnly.value) return null;
  return (
    <section class="bar-note" aria-label="What you may do">
      <Icon name="lock" />
      <p>You may look at {isLimited.value ? 'what is yours' : 'everything'}, and change nothing.</p>
    </section>
  );
}

/** The server refuses access without a token. */
export function Refused({ problem }: { readonly problem: Problem }): VNode {
  const [text, setText] = useState('');
  return (
    <main id="main" class="refused">
      <form
        class="panel void"
        onSubmit={(event) => {
          event.preventDefault();
          takeToken(text);
          void begin();
        }}
      >
        <h1>
          <Twill /> Fairloom
        </h1>
        <p>{problem.message}</p>
        <div class="field">
          <label for="token">Token</label>
          <input
            id="token"
            class="input"
            type="password"
            autocomplete="current-password"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <span class="hint">What the server was started with; kept until this tab is closed.</span>
        </div>
        <Button kind="first" submits={true}>
          Come in
        </Button>
      </form>
    </main>
  );
}
