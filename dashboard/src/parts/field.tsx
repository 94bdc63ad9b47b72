/** A line to write into, with its name and what it takes. */
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
  readonly isRequired?: boolean;
  /** More than one line, of JSON. */
  readonly isLong?: boolean;
  /** What is wrong with it. */
  readonly problem?: string | undefined;
}

const LEAST_ROWS = 4;
const MOST_ROWS = 16;

/** A labelled input. */
export function Field({
  label,
  hint,
  value,
  onInput,
  isRequired = false,
  isLong = false,
  problem,
}: FieldProps): VNode {
  const id = useId();
  const shared = {
    id,
    class: isLong ? 'input long' : 'input',
    value,
    required: isRequired,
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-problem ${id}-hint`,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isLong ? (
        <textarea
          {...shared}
          rows={Math.min(MOST_ROWS, Math.max(LEAST_ROWS, value.split('\n').length))}
          spellcheck={false}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      ) : (
        <input {...shared} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
      )}
      <span class="problem t-bad" id={`${id}-problem`} aria-live="polite">
        {problem}
      </span>
      <span class="hint" id={`${id}-hint`}>
        {hint}
      </span>
    </div>
  );
}
