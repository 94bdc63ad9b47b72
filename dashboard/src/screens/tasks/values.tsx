/** What a task was given, and what it made. */
import type { VNode } from 'preact';
import type { TaskDetails } from '../../api/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { copy } from '../../parts/command-line.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Note, Panel } from '../../parts/panel.tsx';
import { about } from '../../state/session.ts';

/** Input, result, and what it tells of itself. */
export function Values({ task }: { readonly task: TaskDetails }): VNode {
  const { input, result, metadata, encryptedWith, state } = task;
  if (about.value?.hidesPayloads === true) {
    return (
      <Panel title="Input and result" spaced={true}>
        <p class="dim">The server leaves them out.</p>
      </Panel>
    );
  }
  return (
    <>
      {encryptedWith === undefined ? null : (
        <Note tone="warn">
          It is encrypted with the key {encryptedWith}, which the server has not got.
        </Note>
      )}
      <ValuePanel title="Input" value={input} none="It was enqueued without one." />
      {state === 'finished' ? (
        <ValuePanel title="Result" value={result} none="Its handler returned nothing." />
      ) : null}
      {metadata === undefined ? null : <ValuePanel title="Of itself" value={metadata} none="" />}
    </>
  );
}

interface ValuePanelProps {
  readonly title: string;
  readonly value: unknown;
  readonly none: string;
}

/** One value, to be folded and copied. */
export function ValuePanel({ title, value, none }: ValuePanelProps): VNode {
  if (value === undefined) {
    return (
      <Panel title={title} spaced={true}>
        <p class="dim">{none}</p>
      </Panel>
    );
  }
  return (
    <Panel
      title={title}
      spaced={true}
      tools={
        <Button small={true} icon="copy" onPress={() => void copy(JSON.stringify(value, null, 2))}>
          Copy
        </Button>
      }
    >
      <JsonTree value={value} />
    </Panel>
  );
}
