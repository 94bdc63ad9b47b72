/** What of an action may be changed before it is done: the input, and from where on. */
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { Action, ActionEdit } from '../api/actions.ts';
import { inputWord, jsonProblem } from '../words/json.ts';
import { Field } from './field.tsx';

/** What has been chosen and written so far. */
export interface Edited {
  readonly node: string;
  readonly text: string;
}

/** Stands where the server does not show something. */
const REDACTED = '"[redacted]"';

/** As it is at first. */
export function firstEdit(edit: ActionEdit | undefined): Edited {
  const [node = ''] = edit?.nodes?.isNeeded === true ? edit.nodes.names : [];
  return { node, text: node === '' ? (edit?.text ?? '') : '' };
}

/** Why it cannot be sent as it is. */
export function editProblem(edit: ActionEdit | undefined, edited: Edited): string | undefined {
  if (edit === undefined || !isSent(edit, edited)) return undefined;
  if (edited.text.includes(REDACTED)) {
    return 'The server does not show all of it: put values where "[redacted]" stands';
  }
  return jsonProblem(edited.text);
}

/** The same action with what was chosen; `edited` is no mistake. */
export function withEdit(action: Action, edited: Edited): Action {
  const { edit } = action;
  if (edit === undefined || editProblem(edit, edited) !== undefined) return action;
  const { node, text } = edited;
  const word = isSent(edit, edited) && text.trim() !== '' ? inputWord(text) : undefined;
  const key = edit.nodes?.key;
  const hasNode = key !== undefined && node !== '' && (word !== undefined || key === 'from');
  return {
    ...action,
    body: {
      ...action.body,
      ...(hasNode ? { [key]: node } : {}),
      ...(word === undefined ? {} : { input: JSON.parse(text) }),
    },
    command: edit.command({ node: hasNode ? node : undefined, input: word }),
  };
}

/** What is left as it is, is sent of new tasks alone. */
function isSent({ text: before, isWhole }: ActionEdit, { node, text }: Edited): boolean {
  return isWhole === true || text.trim() !== (node === '' ? before.trim() : '');
}

interface EditFieldsProps {
  readonly edit: ActionEdit;
  readonly edited: Edited;
  readonly onEdit: (edited: Edited) => void;
}

/** The field of the input, below that of the node whose input it is. */
export function EditFields({ edit, edited, onEdit }: EditFieldsProps): VNode {
  const { label, hint, nodes } = edit;
  const { node, text } = edited;
  const choose = (next: string): void => {
    // What one node was to get is nothing for another.
    onEdit({ node: next, text: next === '' ? edit.text : '' });
  };
  return (
    <>
      {nodes === undefined ? null : <NodeChoice nodes={nodes} node={node} onChoose={choose} />}
      <Field
        label={node === '' ? label : `Input of ${node}, as JSON`}
        hint={node === '' ? hint : 'Empty: what the nodes before it gave.'}
        value={text}
        isLong={true}
        problem={editProblem(edit, edited)}
        onInput={(next) => onEdit({ node, text: next })}
      />
    </>
  );
}

interface NodeChoiceProps {
  readonly nodes: NonNullable<ActionEdit['nodes']>;
  readonly node: string;
  readonly onChoose: (node: string) => void;
}

function NodeChoice({ nodes, node, onChoose }: NodeChoiceProps): VNode {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{nodes.label}</label>
      <select
        id={id}
        class="input"
        value={node}
        onChange={({ currentTarget }) => onChoose(currentTarget.value)}
      >
        {nodes.isNeeded ? null : <option value="">{nodes.none}</option>}
        {nodes.names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
