/** Actions: a button that opens the question, and the question, with the command that does the same. */
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type Action, TYPED_ABOVE } from '../api/actions.ts';
import { change, Problem } from '../api/http.ts';
import { rateOf } from '../api/rates.ts';
import { goTo } from '../state/address.ts';
import { close, open, say } from '../state/overlay.ts';
import { readNow } from '../state/readings.ts';
import { may } from '../state/session.ts';
import { countText } from '../words/numbers.ts';
import { EditFields, editProblem, firstEdit, withEdit } from './action-edit.tsx';
import { Button } from './button.tsx';
import { CommandLine } from './command-line.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { Note } from './panel.tsx';

interface ActionButtonProps {
  readonly action: Action;
  readonly kind?: 'danger' | 'first' | 'quiet';
  readonly shortcut?: string | undefined;
  readonly small?: boolean;
}

/** Asks before it does anything; who may not do it sees the command alone. */
export function ActionButton({ action, kind, shortcut, small }: ActionButtonProps): VNode {
  const { name, icon, needs } = action;
  const isAllowed = may(needs);
  return (
    <Button
      icon={icon}
      {...(kind === undefined ? {} : { kind })}
      {...(shortcut === undefined ? {} : { shortcut })}
      {...(small === undefined ? {} : { small })}
      off={isAllowed ? undefined : 'You may look at this, and change nothing'}
      onPress={() => open({ kind: 'action', action })}
    >
      {`${name}…`}
    </Button>
  );
}

/** What is going to happen, on how many, and the command; the word has to be typed where it takes many away. */
export function ActionDialog({ action }: { readonly action: Action }): VNode {
  const { name, about, isDestructive = false, count = 1, howMany } = action;
  const [typed, setTyped] = useState('');
  const [rate, setRate] = useState('');
  const [edited, setEdited] = useState(firstEdit(action.edit));
  const [problem, setProblem] = useState<string>();
  const isBusy = useRef(false);
  const word = name.toLowerCase();
  const needsWord = isDestructive && count > TYPED_ABOVE;
  const isTyped = !needsWord || typed.trim().toLowerCase() === word;
  const off = isTyped ? editProblem(action.edit, edited) : `Type ${word} first`;
  const chosen = withEdit(withRate(action, rate), edited);
  const perform = async (one: Action): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    setProblem(await failureOf(one));
    isBusy.current = false;
  };
  const { dryRun } = action;
  return (
    <Dialog
      title={howMany === undefined ? titleOf(name, count) : `${name} ${howMany}`}
      onClose={close}
    >
      <form
        class="ask-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (off === undefined) void perform(chosen);
        }}
      >
        <p>{about}</p>
        {needsWord ? <TypedWord word={word} typed={typed} onType={setTyped} /> : null}
        {action.hasRate === true ? (
          <Field
            label="At most"
            hint="As 20/1s; empty: as fast as it goes."
            value={rate}
            onInput={setRate}
          />
        ) : null}
        {action.edit === undefined ? null : (
          <EditFields edit={action.edit} edited={edited} onEdit={setEdited} />
        )}
        {problem === undefined ? null : <Note tone="bad">{problem}</Note>}
        <CommandLine text={chosen.command} wide={true} />
        <div class="line wrap">
          <Button
            kind={isDestructive ? 'danger' : 'first'}
            icon={action.icon}
            submits={true}
            off={off}
          >
            {name}
          </Button>
          {dryRun === undefined ? null : (
            <Button onPress={() => void perform(dryRun)}>{dryRun.name}</Button>
          )}
          <Button kind="quiet" onPress={close}>
            Leave it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function titleOf(name: string, count: number): string {
  if (count === 1) return name;
  return Number.isFinite(count) ? `${name} ${countText(count)}` : `${name} all that match`;
}

/** The same action, slower. */
function withRate(action: Action, rate: string): Action {
  const text = rate.trim();
  if (text === '') return action;
  return {
    ...action,
    body: { ...action.body, rate: rateOf(text) },
    command: `${action.command} --rate ${text}`,
  };
}

interface TypedWordProps {
  readonly word: string;
  readonly typed: string;
  readonly onType: (text: string) => void;
}

function TypedWord({ word, typed, onType }: TypedWordProps): VNode {
  return (
    <div class="field">
      <label for="typed-word">
        Type <b>{word}</b>, since it cannot be taken back
      </label>
      <input
        id="typed-word"
        class="input"
        autocomplete="off"
        value={typed}
        onInput={({ currentTarget }) => onType(currentTarget.value)}
      />
    </div>
  );
}

/** What the server says about each that was to be changed. */
interface Outcome {
  readonly id?: string;
  readonly ok?: boolean;
  readonly outcome?: string;
}

/** Does it; the answer says why it did not work. */
async function failureOf(action: Action): Promise<string | undefined> {
  try {
    const answer = await change<Outcome>(action.method, action.path, action.body);
    if (answer.ok === false) return answer.outcome ?? 'it was not done';
    close();
    say(answer.outcome ?? `${action.name}: done`);
    readNow();
    if (action.leads !== undefined) goTo(action.leads(answer));
    return undefined;
  } catch (error) {
    return error instanceof Problem ? error.message : String(error);
  }
}
