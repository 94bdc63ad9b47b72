/** Why a task does not run now, or what became of it, in the words of the server. */
import type { VNode } from 'preact';
import type { Explanation } from '../../api/shapes.ts';
import { CommandLine } from '../../parts/command-line.tsx';
import { countOf } from '../../words/numbers.ts';

/** The nearest obstacle first, each with the command that helps. */
export function Obstacles({ explanation }: { readonly explanation: Explanation }): VNode {
  const { obstacles, position } = explanation;
  return (
    <ol class="obstacles">
      {obstacles.map(({ kind, text, command }) => (
        <li key={`${kind} ${text}`}>
          <p>{text}</p>
          {command === undefined ? null : <CommandLine text={command} />}
        </li>
      ))}
      {position === undefined ? null : (
        <li>
          <p class="ink2">
            {countOf(position.turnsBefore, 'turn')} of its own user come before it, and{' '}
            {countOf(position.usersAhead, 'other user')} {position.usersAhead === 1 ? 'is' : 'are'}{' '}
            next before its user.
          </p>
        </li>
      )}
    </ol>
  );
}
