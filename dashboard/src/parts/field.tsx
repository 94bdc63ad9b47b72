/** A line to write into, with its name and what it takes. */
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
  readonly isRequired?: boolean;
  /** More than one line. */
  readonly isLong?: boolean;
}

/** A labelled input. */
export function Field({
  label,
  hint,
  value,
  onInput,
  isRequired = false,
  isLong = false,
}: FieldProps): VNode {
  const id = useId();
  const shared = {
    id,
    class: isLong ? 'input long' : 'input',
    value,
    required: isRequired,
    'aria-describedby': hint === undefined ? undefined : `${id}-hint`,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isLong ? (
        <textarea
          {...shared}
          rows={4}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      ) : (
        <input {...shared} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
      )}
      {hint === undefined ? null : (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}
