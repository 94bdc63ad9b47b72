/** Frames, remarks, figures: what screens are made of. */
import type { ComponentChildren, VNode } from 'preact';
import { Icon } from './icon.tsx';
import type { Tone } from './state-label.tsx';

interface PanelProps {
  readonly title: string;
  /** Beside the title, quieter. */
  readonly meta?: ComponentChildren;
  /** At the right end of the head. */
  readonly tools?: ComponentChildren;
  readonly foot?: ComponentChildren;
  /** With space around what it holds; tables go without. */
  readonly spaced?: boolean;
  readonly kind?: string;
  readonly children: ComponentChildren;
}

/** A part of a screen with a name. */
export function Panel(props: PanelProps): VNode {
  const { title, meta, tools, foot, spaced = false, kind = '', children } = props;
  return (
    <section class={`panel ${kind}`}>
      <header>
        <h2>{title}</h2>
        {meta === undefined ? null : <span class="meta">{meta}</span>}
        {tools === undefined ? null : <span class="push line wrap">{tools}</span>}
      </header>
      {spaced ? <div class="body">{children}</div> : children}
      {foot === undefined ? null : <footer>{foot}</footer>}
    </section>
  );
}

/** What a remark says of the thing. */
export type NoteTone = Extract<Tone, 'bad' | 'ok' | 'warn'>;

const SYMBOLS = { bad: 'failed', ok: 'ok', warn: 'warn' } as const;

/** A remark, with what helps at its end. */
export function Note({
  tone,
  act,
  children,
}: {
  readonly tone: NoteTone;
  readonly act?: ComponentChildren;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div class={`note t-${tone}`}>
      <Icon name={SYMBOLS[tone]} />
      <div>{children}</div>
      {act === undefined ? null : <div class="act">{act}</div>}
    </div>
  );
}

/** A figure with its name, and what it is to be seen against. */
export interface Figure {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly of?: ComponentChildren;
  readonly below?: ComponentChildren;
}

/** Figures side by side. */
export function Figures({ figures }: { readonly figures: readonly Figure[] }): VNode {
  return (
    <dl class="figures">
      {figures.map(({ name, value, of }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {of === undefined ? null : <span class="of"> {of}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Figures of the whole, in one frame. */
export function Ledger({ figures }: { readonly figures: readonly Figure[] }): VNode {
  return (
    <dl class="ledger">
      {figures.map(({ name, value, of, below }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {of === undefined ? null : <span class="of"> {of}</span>}
          </dd>
          {below === undefined ? null : <dd class="sub">{below}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** Names and values below each other; what has no value is left out. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[];
}): VNode {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== '')
        .map(([name, value]) => [
          <dt key={`${name} name`}>{name}</dt>,
          <dd key={name}>{value}</dd>,
        ])}
    </dl>
  );
}
