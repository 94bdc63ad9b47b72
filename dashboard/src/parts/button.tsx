/** Buttons, links that look like them, and groups of which one is pressed. */
import type { ComponentChildren, VNode } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly icon?: IconName;
  /** The key that does the same. */
  readonly shortcut?: string;
  /** `first`: the one main action; `danger`: takes something away; `quiet`: without an edge. */
  readonly kind?: 'danger' | 'first' | 'quiet';
  readonly small?: boolean;
  /** For a button that shows a symbol alone. */
  readonly label?: string;
  /** Why it cannot be pressed now. */
  readonly off?: string | undefined;
  readonly submits?: boolean;
  readonly onPress?: () => void;
}

/** Does something here. */
export function Button(props: ButtonProps): VNode {
  const { children, icon, shortcut, label, off, submits = false, onPress } = props;
  return (
    <button
      type={submits ? 'submit' : 'button'}
      class={classOf(props)}
      aria-label={label}
      title={off ?? label}
      data-shortcut={shortcut}
      aria-disabled={off === undefined ? undefined : 'true'}
      onClick={off === undefined ? onPress : undefined}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children === undefined ? null : <span>{children}</span>}
      {shortcut === undefined ? null : <kbd>{shortcut}</kbd>}
    </button>
  );
}

/** Leads somewhere. */
export function LinkButton({
  href,
  ...props
}: Omit<ButtonProps, 'off' | 'onPress' | 'submits'> & { readonly href: string }): VNode {
  return (
    <a class={classOf(props)} href={href} aria-label={props.label} title={props.label}>
      {props.icon === undefined ? null : <Icon name={props.icon} />}
      {props.children === undefined ? null : <span>{props.children}</span>}
    </a>
  );
}

function classOf({ children, kind, small = false }: ButtonProps): string {
  const parts = [
    'btn',
    kind,
    small ? 'small' : undefined,
    children === undefined ? 'icon' : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}

/** One of several ways to look at something; each is a link, so that it can be sent. */
export interface Choice {
  readonly key: string;
  readonly text: string;
  /** How many there are, or what is known of that. */
  readonly count?: number | string | undefined;
  readonly href: string;
}

interface ChoiceProps {
  readonly label: string;
  readonly chosen: string;
  readonly choices: readonly Choice[];
}

/** Ways to look, in one small frame. */
export function Segments({ label, chosen, choices }: ChoiceProps): VNode {
  return (
    <nav class="seg" aria-label={label}>
      {choices.map((choice) => (
        <ChoiceLink key={choice.key} choice={choice} chosen={chosen} />
      ))}
    </nav>
  );
}

/** Ways to look, above all that they change. */
export function Tabs({ label, chosen, choices }: ChoiceProps): VNode {
  return (
    <nav class="tabs" aria-label={label}>
      {choices.map((choice) => (
        <ChoiceLink key={choice.key} choice={choice} chosen={chosen} />
      ))}
    </nav>
  );
}

function ChoiceLink({ choice, chosen }: { choice: Choice; chosen: string }): VNode {
  return (
    <a href={choice.href} aria-current={choice.key === chosen ? 'true' : undefined}>
      {choice.text}
      {choice.count === undefined ? null : (
        <span class="n">{choice.count.toLocaleString('en-US')}</span>
      )}
    </a>
  );
}
