/** The filter of tasks: words that stand in the address, each of which can be taken away. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';
import { goTo, linkTo } from '../../state/address.ts';
import { wordsOf } from '../../words/where.ts';

interface FilterBoxProps {
  readonly where: string;
  /** Why the server does not take it. */
  readonly wrong: string | undefined;
}

/** Examples of what can be said, one of each kind. */
const EXAMPLES = [
  'state:failed,canceled',
  'user:acme',
  'name:resize',
  'error:TimeoutError',
  'attempts:>1',
  'age:>1h',
  '-name:ping',
];

/** Typed text is another word of the filter; a filter with a mistake stands in the line whole. */
export function FilterBox({ where, wrong }: FilterBoxProps): VNode {
  const words = wordsOf(where);
  const [typed, setTyped] = useState(wrong === undefined ? '' : where);
  const shown = wrong === undefined ? words : [];
  const find = (next: readonly string[]): void => {
    goTo(linkTo('tasks', undefined, { where: next.join(' ').trim() }));
  };
  return (
    <form
      class="filter"
      onSubmit={(event) => {
        event.preventDefault();
        find([...shown, typed]);
      }}
    >
      <div class="words">
        <Icon name="search" />
        {shown.map((word) => (
          <Word key={word} word={word} onDrop={() => find(words.filter((one) => one !== word))} />
        ))}
        <input
          type="text"
          data-filter={true}
          aria-label="Another word of the filter"
          aria-invalid={wrong !== undefined}
          aria-describedby="filter-hint"
          placeholder={shown.length === 0 ? 'state:failed user:acme …' : 'and…'}
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          onKeyDown={({ key }) => {
            if (key === 'Backspace' && typed === '') find(words.slice(0, -1));
          }}
        />
        <kbd>/</kbd>
      </div>
      <p id="filter-hint" class={wrong === undefined ? 'small dim hint' : 'small state t-bad hint'}>
        {wrong ?? `as ${EXAMPLES.join(' ')}`}
      </p>
    </form>
  );
}

interface WordProps {
  readonly word: string;
  readonly onDrop: () => void;
}

function Word({ word, onDrop }: WordProps): VNode {
  const [, key = '', value = ''] = /^(-?\w+:)?(.*)$/s.exec(word) ?? [];
  return (
    <span class={word.startsWith('-') ? 'word not' : 'word'}>
      <span class="k">{key}</span>
      <span class="v">{value}</span>
      <button type="button" aria-label={`Without ${word}`} onClick={onDrop}>
        <Icon name="close" size={12} />
      </button>
    </span>
  );
}
