/** Stored specs of schedules: only the input of their tasks is sealed. */
import type { Texts } from './texts.ts';

/** The part of a spec that is encrypted. */
interface Spec {
  readonly task: { readonly payload: string };
}

/** The text of a spec, its input encrypted. */
export function sealSpec(texts: Texts, text: string): string {
  return withPayload(text, (payload) => texts.seal(payload, 'schedule'));
}

/** The text of a spec with its input opened; an unreadable input stays encrypted. */
export function openSpec(texts: Texts, text: string): string {
  return withPayload(text, (payload) => texts.open(payload, 'schedule'));
}

function withPayload(text: string, change: (payload: string) => string): string {
  const spec = JSON.parse(text) as Spec;
  // Its reader refuses a spec of another version.
  if (typeof spec?.task?.payload !== 'string') return text;
  const { task } = spec;
  return JSON.stringify({ ...spec, task: { ...task, payload: change(task.payload) } });
}
