/** The answer to a question: one of its choices, by whom, with words, and what its form asks for. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { callPath } from '../../api/actions.ts';
import { change, Problem } from '../../api/http.ts';
import type { AskInfo } from '../../api/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { CommandLine } from '../../parts/command-line.tsx';
import { Field } from '../../parts/field.tsx';
import { Note } from '../../parts/panel.tsx';
import { say } from '../../state/overlay.ts';
import { readNow } from '../../state/readings.ts';
import { may } from '../../state/session.ts';
import { commandText } from '../../words/commands.ts';

const NAME_KEY = 'fairloom.by';

/** The first answer counts; a later one is told how it was closed. */
export function AnswerForm({ ask }: { readonly ask: AskInfo }): VNode {
  const [by, setBy] = useState(localStorage.getItem(NAME_KEY) ?? '');
  const [comment, setComment] = useState('');
  const [form, setForm] = useState('');
  const [problem, setProblem] = useState<string>();
  const isAllowed = may('answer');
  const off = isAllowed ? (by.trim() === '' ? 'Say who answers' : undefined) : 'You may not answer';
  const answer = async (choice: string): Promise<void> => {
    try {
      localStorage.setItem(NAME_KEY, by);
      await change(
        'POST',
        callPath('asks', ask.id, 'answer'),
        bodyOf(choice, { by, comment, form }),
      );
      say(`Answered: ${choice}`);
      readNow();
    } catch (error) {
      setProblem(error instanceof Problem ? error.message : String(error));
    }
  };
  return (
    <div class="answer">
      <div class="cols c66">
        <Field label="Who answers" value={by} onInput={setBy} isRequired={true} />
        <Field label="Comment" hint="Kept with the answer." value={comment} onInput={setComment} />
      </div>
      {ask.form === undefined ? null : (
        <Field
          label="Form, as JSON"
          hint={formHint(ask.form)}
          value={form}
          onInput={setForm}
          isLong={true}
        />
      )}
      {problem === undefined ? null : <Note tone="bad">{problem}</Note>}
      <p class="line wrap">
        {ask.choices.map((choice, at) => (
          <Button
            key={choice}
            {...(at === 0 ? { kind: 'first' as const } : {})}
            off={off}
            onPress={() => void answer(choice)}
          >
            {choice}
          </Button>
        ))}
        <CommandLine text={commandOf(ask, by)} />
      </p>
    </div>
  );
}

interface Said {
  readonly by: string;
  readonly comment: string;
  readonly form: string;
}

function bodyOf(choice: string, { by, comment, form }: Said): Readonly<Record<string, unknown>> {
  const filled: unknown = form.trim() === '' ? undefined : JSON.parse(form);
  return {
    choice,
    by: by.trim(),
    ...(comment.trim() === '' ? {} : { comment: comment.trim() }),
    ...(filled === undefined ? {} : { form: filled }),
  };
}

function commandOf({ id, choices: [first = ''] }: AskInfo, by: string): string {
  return commandText('asks', 'answer', id, first, '--by', by === '' ? '<who>' : by);
}

function formHint(form: unknown): string {
  return form === true ? 'What its task expects.' : JSON.stringify(form);
}
