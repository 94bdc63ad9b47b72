/** Specs of schedules as they are stored: all but the input of their tasks stays readable. */
import type { Texts } from './texts.ts';

/** The part of a spec that is encrypted. */
interface Spec {
  readonly task: { readonly payload: string };
}

/** The text of a spec, its input encrypted. */
export function sealSpec(texts: Texts, text: string): string {
  return withPayload(text, (payload) => texts.seal(payload, 'schedule'));
}

/** The text of a spec as it was; an input that cannot be read stays encrypted. */
export function openSpec(texts: Texts, text: string): string {
  return withPayload(text, (payload) => texts.open(payload, 'schedule'));
}

function withPayload(text: string, change: (payload: string) => string): string {
  const spec = JSON.parse(text) as Spec;
  // What another version has written is for its reader to refuse.
  if (typeof spec?.task?.payload !== 'string') return text;
  const { task } = spec;
  return JSON.stringify({ ...spec, task: { ...task, payload: change(task.payload) } });
}
